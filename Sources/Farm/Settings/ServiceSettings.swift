package import JobModel
import Manifests

/// The block `service` of a config file. Nil for values that it does not set.
package struct ServiceSettings: Hashable, Sendable {
    /// The most runs that are open at once.
    package var maxRuns: Int?
    /// Nil for no aging.
    package var aging: AgingRate?
    /// Addresses and ports: `127.0.0.1:8642`.
    package var listen: [String] = []
    package var isBehindProxy: Bool?
    package var hasWebSocket: Bool?
    /// Names of the service in addresses, beside `localhost`.
    package var hosts: [String] = []
    package var schedules: [ConfiguredSchedule] = []

    package init() {}

    package static let runRange = 1...64
    /// The most runs that are open at once, if neither a file nor a flag says so.
    package static let usualRuns = 4
    /// The most schedules and watched folders, each.
    static let mostSchedules = 500
}

/// A schedule or a watched folder of a config file.
package struct ConfiguredSchedule: Hashable, Sendable {
    package enum Trigger: Hashable, Sendable {
        /// - Parameters:
        ///   - cron: Five fields, or a word. It has no errors.
        ///   - zone: A name of the time zone database, which may not have it. Nil for the zone of the machine.
        case times(cron: String, zone: String?, missed: MissedTimes, overlap: OverlapRule)
        /// The folders of the manifest's inputs change.
        ///
        /// - Parameters:
        ///   - quiet: There must be no changes for this long.
        ///   - minAge: The youngest file must have this age.
        case changes(quiet: Duration, minAge: Duration)
    }

    package let name: String
    package let trigger: Trigger
    package let job: Job

    /// What it submits.
    package struct Job: Hashable, Sendable {
        /// The absolute path of a manifest.
        package let manifest: String
        /// 0 to 100.
        package var priority = 50
        package var labels: [String: String] = [:]
        package var overrides: [String] = []
        package var isForced = false
        package var isStrict = false
        /// In seconds.
        package var deadline: Int?

        package init(manifest: String) { self.manifest = manifest }
    }

    package init(name: String, trigger: Trigger, job: Job) {
        self.name = name
        self.trigger = trigger
        self.job = job
    }
}

extension ValueReader where Value == ServiceSettings {
    /// - Parameter path: Reads the path of a file.
    static func service(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            guard var reader = MappingReader(node, of: "'\(name)'", log: log) else { return nil }
            var settings = ServiceSettings()
            settings.maxRuns = reader.optional("max_runs", .integer(in: ServiceSettings.runRange))
            settings.aging = reader.optional("aging", .agingOrOff) ?? nil
            settings.listen = reader.value("listen", .list(of: .listenAddress), default: [])
            settings.isBehindProxy = reader.optional("behind_proxy", .boolean)
            settings.hasWebSocket = reader.optional("web_socket", .boolean)
            settings.hosts = reader.value("hosts", .list(of: .nonEmptyText), default: [])
            var names: Set<String> = []
            for (key, item) in [
                ("schedules", ValueReader<ConfiguredSchedule>.schedule(path)), ("watch", .watch(path)),
            ] {
                guard let entry = reader.entry(key) else { continue }
                settings.schedules += ConfiguredSchedule.all(entry.value, key, item, &names, log)
            }
            reader.finish(aliases: [
                "host": "hosts", "schedule": "schedules", "cron": "schedules", "watches": "watch",
                "max_jobs": "max_runs", "port": "listen",
            ])
            return settings
        }
    }
}

extension ConfiguredSchedule {
    /// The items of a list. Wrong ones are reported, and left out.
    ///
    /// - Parameter names: The names so far. A name that comes again is reported.
    fileprivate static func all(
        _ node: SyntaxNode, _ key: String, _ item: ValueReader<ConfiguredSchedule>, _ names: inout Set<String>,
        _ log: DiagnosticLog
    ) -> [ConfiguredSchedule] {
        var nodes = [node]
        if case .sequence(let items) = node.content { nodes = items }
        guard nodes.count <= ServiceSettings.mostSchedules else {
            log.error(
                .other(
                    Words(
                        "'\(key)' has \(nodes.count) items",
                        remedy: "write at most \(ServiceSettings.mostSchedules)")), at: node.span)
            return []
        }
        var schedules: [ConfiguredSchedule] = []
        for (index, node) in nodes.enumerated() {
            guard let schedule = item.read(node, for: "\(key)[\(index)]", log: log) else { continue }
            if names.insert(schedule.name).inserted {
                schedules.append(schedule)
            } else {
                log.error(
                    .other(
                        Words(
                            "there are two schedules or watched folders with the name '\(schedule.name)'",
                            remedy: "give each a name of its own")), at: node.span)
            }
        }
        return schedules
    }
}

extension ValueReader where Value == ConfiguredSchedule {
    /// An item of `schedules`.
    fileprivate static func schedule(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            let example = "{name: nightly, cron: '0 2 * * *', submit: {manifest: night.yaml}}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let title = reader.required("name", .scheduleName, example: "nightly")
            let cron = reader.required("cron", .cron, example: "'0 2 * * *'")
            let hasZone = reader.entry("zone") != nil
            let zone = reader.optional("zone", .zoneName)
            let missed = reader.value("missed", .choice, default: MissedTimes.once)
            let overlap = reader.value("overlap", .choice, default: OverlapRule.queue)
            let job = reader.required("submit", .job(path), example: "{manifest: night.yaml}")
            reader.finish(aliases: ["timezone": "zone", "schedule": "cron", "job": "submit", "run": "submit"])
            guard let title, let cron, let job, zone != nil || !hasZone else { return nil }
            return ConfiguredSchedule(
                name: title, trigger: .times(cron: cron, zone: zone, missed: missed, overlap: overlap), job: job)
        }
    }

    /// An item of `watch`.
    fileprivate static func watch(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            let example = "{name: scans, submit: {manifest: scans.yaml}}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let title = reader.required("name", .scheduleName, example: "scans")
            let quiet = reader.value(
                "quiet", .duration(in: WatchTimes.quiets), default: .seconds(WatchTimes.usualQuiet))
            let age = reader.value(
                "min_age", .duration(in: WatchTimes.ages), default: .seconds(WatchTimes.usualAge))
            let job = reader.required("submit", .job(path), example: "{manifest: scans.yaml}")
            reader.finish(aliases: ["job": "submit", "run": "submit", "age": "min_age"]) { entry in
                guard entry.key == "folder" || entry.key == "folders" else { return nil }
                return .other(
                    Words(
                        "a watch has no '\(entry.key)'",
                        remedy: "leave it out: the folders of the manifest's inputs are watched"))
            }
            guard let title, let job else { return nil }
            return ConfiguredSchedule(name: title, trigger: .changes(quiet: quiet, minAge: age), job: job)
        }
    }
}

extension ValueReader where Value == ConfiguredSchedule.Job {
    fileprivate static func job(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            let example = "{manifest: night.yaml, priority: 70}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let manifest = reader.required("manifest", path, example: "night.yaml")
            let priority = reader.value("priority", .integer(in: 0...100), default: 50)
            let labels = reader.value("labels", .labels, default: [:])
            let overrides = reader.value("set", .list(of: .nonEmptyText), default: [])
            let isForced = reader.value("force", .boolean, default: false)
            let isStrict = reader.value("strict", .boolean, default: false)
            // A week, as for 'penumbra run --deadline'.
            let deadline = reader.optional("deadline", .seconds(in: 1...604_800))
            reader.finish(aliases: ["path": "manifest", "label": "labels", "prio": "priority"])
            guard let manifest else { return nil }
            var job = ConfiguredSchedule.Job(manifest: manifest)
            (job.priority, job.labels, job.overrides) = (priority, labels, overrides)
            (job.isForced, job.isStrict, job.deadline) = (isForced, isStrict, deadline.map { Int($0.rounded()) })
            return job
        }
    }
}

extension ValueReader where Value == [String: String] {
    /// Names and values: `{show: night}`. Keys of the file have no '.' and no '/', so a list is read, too: `[show/a=night]`.
    fileprivate static var labels: ValueReader {
        ValueReader { node, name, log in
            guard let pairs = pairs(of: node, name, log) else { return nil }
            guard pairs.count <= LabelLimits.mostLabels else {
                log.error(
                    .other(
                        Words(
                            "'\(name)' has \(pairs.count) labels",
                            remedy: "a job has at most \(LabelLimits.mostLabels) labels")),
                    at: node.span)
                return nil
            }
            var labels: [String: String] = [:]
            for (label, value, span) in pairs {
                let problem: Words? =
                    if !ShortName.isLabel(label) {
                        Words("'\(label.visible)' is no name of a label", remedy: ShortName.labelRule)
                    } else if value.count > LabelLimits.longestValue
                        || value.unicodeScalars.contains(where: VisibleText.isUnsafe)
                    {
                        Words(
                            "the value of the label '\(label)' is too long or has invisible characters",
                            remedy: "a value has at most \(LabelLimits.longestValue) characters")
                    } else if labels[label] != nil {
                        Words("the label '\(label)' is there twice", remedy: "a label has one value")
                    } else {
                        nil
                    }
                if let problem {
                    log.error(.other(problem), at: span)
                    return nil
                }
                labels[label] = value
            }
            return labels
        }
    }

    private static func pairs(
        of node: SyntaxNode, _ name: String, _ log: DiagnosticLog
    ) -> [(label: String, value: String, span: SourceSpan)]? {
        var pairs: [(label: String, value: String, span: SourceSpan)] = []
        if case .sequence(let items) = node.content {
            for (index, item) in items.enumerated() {
                let pair = ValueReader<(String, String)>.checked("a label", remedy: "write NAME=VALUE: show=night") {
                    text in
                    text.firstIndex(of: "=").map { (String(text[..<$0]), String(text[text.index(after: $0)...])) }
                }.read(item, for: "\(name)[\(index)]", log: log)
                guard let (label, value) = pair else { return nil }
                pairs.append((label, value, item.span))
            }
            return pairs
        }
        guard let reader = MappingReader(node, of: "'\(name)'", example: "{show: night}", log: log) else { return nil }
        for entry in reader.mapping.entries {
            guard let value = ValueReader<String>.text.read(entry.value, for: entry.key, log: log) else { return nil }
            pairs.append((entry.key, value, entry.keySpan))
        }
        return pairs
    }
}

extension ShortName {
    fileprivate static var labelRule: String {
        "a name has 1 to \(longest) letters (a-z, A-Z), digits, '.', '_', '-' and '/', and begins with a letter or digit"
    }

    fileprivate static var scheduleRule: String {
        "a name has 1 to \(longest) letters (a-z, A-Z), digits, '.', '_' and '-', and begins with a letter or digit"
    }
}

extension ValueReader where Value == String {
    fileprivate static var scheduleName: ValueReader {
        checked("a name of a schedule", remedy: ShortName.scheduleRule) { ShortName.isSchedule($0) ? $0 : nil }
    }

    fileprivate static var cron: ValueReader {
        ValueReader { node, name, log in
            guard let text = ValueReader.nonEmptyText.read(node, for: name, log: log) else { return nil }
            do throws(CronProblem) {
                return try CronFields(text).text
            } catch {
                log.error(.other(Words(error.message, remedy: error.remedy)), at: node.span)
                return nil
            }
        }
    }

    /// An address and a port. Whether the service can listen there, it finds out.
    fileprivate static var listenAddress: ValueReader {
        checked("an address and a port", remedy: "write it like 127.0.0.1:8642") { text in
            guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
                let port = UInt16(text[text.index(after: colon)...]), port > 0, text.utf8.count <= 300
            else { return nil }
            return text
        }
    }
}

extension ValueReader where Value == AgingRate? {
    fileprivate static var agingOrOff: ValueReader {
        .or(
            "off", nil,
            else: ValueReader<AgingRate>.checked(
                "a rate of aging", remedy: "write points per time, as in 1/10min, or off"
            ) { AgingRate(text: $0) }.map { $0 })
    }
}
