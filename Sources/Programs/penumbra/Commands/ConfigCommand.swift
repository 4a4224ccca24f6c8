import ArgumentParser
import Catalogs
import JobModel
import Planning
import RenderFarm
import Reports
import Settings

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print each setting with its origin.",
        discussion: """
            The config file overrides defaults. PENUMBRA_… variables override the config file. Flags override both.

            With --init the command writes a config file in which every key is explained and commented out. It writes to \
            the path of --config or PENUMBRA_CONFIG, or else to ~/.config/penumbra/penumbra.yaml.
            """)

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(name: .customLong("init"), help: "Write a commented config file. An existing file is never replaced.")
    var writesFile = false

    func validate() throws {
        if writesFile, json { throw ValidationError("--init writes a file and prints its path; leave out --json.") }
    }

    private struct Row: Encodable {
        let setting: String
        let value: String
        let origin: String
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { _ in
            if writesFile {
                let path = try ConfigTemplate.write(named: location.configFile)
                Console.print("\(PathText.visible(path)): written; every key in it is commented out")
                return .done
            }
            let rows = Self.rows(try Settings.load(location))
            if json {
                printJSON(rows)
            } else {
                var table = Table(["setting", "value", "origin"])
                for row in rows { table.add(row.setting, row.value, row.origin) }
                table.lines.forEach(Console.print)
            }
            return .done
        }
    }

    /// - Parameter replaced: the block of the machine's file, if the block of the user's file replaces it as a whole.
    private static func clusterRows(_ setting: Setting<ClusterOptions>, replaced: Setting<ClusterOptions>?) -> [Row] {
        let set = Dictionary(uniqueKeysWithValues: ClusterWords.fields(setting.value).map { ($0.name, $0.value) })
        let lost = (replaced.map { ClusterWords.fields($0.value) } ?? []).filter { set[$0.name] == nil }
        let rows = ClusterWords.fields(setting.value.over(ClusterOptions.defaults)).map { name, value in
            var origin = (set[name] == nil ? SettingOrigin.standard : setting.origin).description
            if let replaced, let value = lost.first(where: { $0.name == name })?.value {
                origin += "; \(notUsed(value, of: replaced, by: setting))"
            }
            return Row(setting: "slurm.\(name)", value: value, origin: origin)
        }
        guard let replaced else { return rows }
        let shown = Set(rows.map(\.setting))
        return rows
            + lost.filter { !shown.contains("slurm.\($0.name)") }.map { name, value in
                Row(setting: "slurm.\(name)", value: "not set", origin: notUsed(value, of: replaced, by: setting))
            }
    }

    /// `'batch' of /etc/penumbra/penumbra.yaml is not used, because all of 'slurm' comes from /home/ada/.config/penumbra/penumbra.yaml`
    private static func notUsed(
        _ value: String, of replaced: Setting<ClusterOptions>, by winner: Setting<ClusterOptions>
    ) -> String {
        "'\(VisibleText.line(value))' of \(replaced.origin) is not used, because all of 'slurm' comes from \(winner.origin)"
    }

    /// Empty if the config file names no commands.
    private static func commandRows(_ setting: Setting<ClusterCommands?>) -> [Row] {
        guard let commands = setting.value else { return [] }
        return [
            ("submit", commands.submit), ("status", commands.status), ("cancel", commands.cancel),
            ("describe", commands.describe),
        ].map { Row(setting: "commands.\($0)", value: $1, origin: setting.origin.description) }
    }

    private static func targets(_ targets: [NotificationTarget]) -> String {
        targets.map { target in
            if case .webhook(_, secretFile: nil) = target { return "\(target.shown), not signed" }
            return target.shown
        }.joined(separator: "; ")
    }

    /// `archive by 06:00 Europe/Berlin (mail ops@example.org)`
    private static func expectations(_ expectations: [ExpectedSuccess]) -> String {
        expectations.map { expected in
            let zone = expected.zone.map { " \($0)" } ?? ""
            return "\(VisibleText.line(expected.job)) by \(expected.time)\(zone) (\(targets(expected.targets)))"
        }.joined(separator: "; ")
    }

    private static func rows(_ settings: Settings) -> [Row] {
        func row<Value>(_ name: String, _ setting: Setting<Value>, _ text: String) -> Row {
            Row(setting: name, value: text, origin: setting.origin.description)
        }
        return [
            row("workers", settings.workers, String(settings.workers.value)),
            row("memory", settings.memory, Figures.bytes(settings.memory.value)),
            row("scratch", settings.scratch, settings.scratch.value ?? "in the state folder"),
            row("state_dir", settings.stateFolder, settings.stateFolder.value),
            row("nice", settings.nice, String(settings.nice.value)),
            row("ionice", settings.ionice, settings.ionice.value.rawValue),
            row("silence", settings.silence, Figures.duration(settings.silence.value)),
            row("reduce_transparency", settings.reduceTransparency, String(settings.reduceTransparency.value)),
            row("plugins", settings.plugins, settings.plugins.value.rawValue),
            row("plugin_folders", settings.pluginFolders, settings.pluginFolders.value.joined(separator: ":")),
            row("sandbox", settings.sandbox, settings.sandbox.value.rawValue),
            row("sandbox_read", settings.sandboxRead, settings.sandboxRead.value.joined(separator: ":")),
            row(
                "worker_environment", settings.workerEnvironment,
                settings.workerEnvironment.value.joined(separator: ":")),
            row(
                "plugin_pins", settings.pluginPins,
                settings.pluginPins.value.map { "\($0.file) \($0.sha256.prefix(12))…" }.joined(separator: ", ")),
            row(
                "programs", settings.programs,
                settings.programs.value.map { "\($0.name) \($0.path)" }.joined(separator: ", ")),
            row("worker", settings.worker, settings.worker.value),
            row("ffmpeg", settings.ffmpeg, settings.ffmpeg.value),
            row("engine", settings.engine, settings.engine.value.rawValue),
            row("on_end", settings.onEnd, targets(settings.onEnd.value)),
            row("on_failure", settings.onFailure, targets(settings.onFailure.value)),
            row("notifications.sendmail", settings.sendmail, settings.sendmail.value),
            row("notifications.late", settings.late, expectations(settings.late.value)),
            row("server", settings.server, settings.server.value ?? "beside the state folder"),
            row("token_file", settings.tokenFile, settings.tokenFile.value ?? "none"),
        ]
            + clusterRows(settings.slurm, replaced: settings.replacedSlurm) + commandRows(settings.commands)
            + serviceRows(settings.service)
    }

    /// Only what the config file sets. The flags of `penumbra serve` override it.
    private static func serviceRows(_ setting: Setting<ServiceSettings>) -> [Row] {
        let service = setting.value
        let values: [(String, String?)] = [
            ("max_runs", service.maxRuns.map(String.init)),
            ("aging", service.aging.map { "\($0.points)/\($0.seconds)s" }),
            ("listen", listed(service.listen)), ("hosts", listed(service.hosts)),
            ("behind_proxy", service.isBehindProxy.map { "\($0)" }),
            ("web_socket", service.hasWebSocket.map { "\($0)" }),
        ]
        let schedules = service.schedules.map { schedule -> (String, String?) in
            let manifest = VisibleText.line(schedule.job.manifest)
            switch schedule.trigger {
            case .times(let cron, let zone, _, _):
                return ("schedules.\(schedule.name)", "\(cron)\(zone.map { " \($0)" } ?? ""): \(manifest)")
            case .changes(let quiet, _):
                return ("watch.\(schedule.name)", "\(manifest), after \(Figures.duration(quiet)) without changes")
            }
        }
        return (values + schedules).compactMap { name, value in
            value.map { Row(setting: "service.\(name)", value: $0, origin: setting.origin.description) }
        }
    }

    private static func listed(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : texts.map(VisibleText.line).joined(separator: ", ")
    }
}

/// The cluster options as `penumbra config` prints them.
enum ClusterWords {
    /// The options that are set, with their keys in the config file.
    static func fields(_ options: ClusterOptions) -> [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("partition", options.partition), ("account", options.account), ("qos", options.qos),
            ("time", options.time.map(duration)), ("memory", options.memory.map(Figures.bytes)),
            ("coordinator_time", options.coordinatorTime.map(duration)),
            ("coordinator_memory", options.coordinatorMemory.map(Figures.bytes)),
            ("cpus_per_task", options.cpusPerTask.map(String.init)), ("throttle", options.throttle.map(String.init)),
            ("shard_seconds", options.shardSeconds.map(duration)), ("grace", options.grace.map(duration)),
            ("folder", options.folder), ("arguments", options.arguments?.joined(separator: " ")),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func duration(_ seconds: Double) -> String { Figures.duration(.seconds(seconds)) }
}
