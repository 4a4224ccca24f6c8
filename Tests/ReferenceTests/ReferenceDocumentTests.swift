import Catalogs
import Foundation
import JobModel
import Manifests
import Reference
import Reports
import ServiceAPI
import Settings
import Testing

/// `penumbra reference --json` has all that the sources have, in whole sentences.
@Suite struct ReferenceDocumentTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "gaussian", kind: .area, summary: "Blurs with a Gaussian", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor(
                        "radius", .number(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                        summary: "Sets the standard deviation", synonyms: [.init("sigma")]),
                    ParameterDescriptor(
                        "opaque", .boolean, fallback: .boolean(false), summary: "makes it opaque", isShared: true),
                    ParameterDescriptor("picture", .layer, summary: "Names a picture", requiredLike: "logo.png"),
                ],
                rules: [.excludes(parameter: "edge", value: "wrap", other: "within")],
                origin: .plugin(path: "/opt/plugins/libSoft.so"))
        ],
        formats: [
            FormatDescriptor(
                name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8],
                holdsAlpha: true, isLossless: true, largestSide: 100,
                options: [
                    ParameterDescriptor(
                        "compression", .integer(minimum: 0, maximum: 9), fallback: .integer(6),
                        summary: "Sets the effort")
                ]),
            FormatDescriptor(
                name: "svg", extensions: ["svg"], canRead: true, canWrite: false, sampleFormats: [], holdsAlpha: true,
                isLossless: false, largestSide: 0, options: []),
        ])

    private let document = ReferenceDocument(Self.catalog)

    /// The document as programs read it.
    private func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(document)) as? [String: Any])
    }

    /// The names that a message lists: `its keys are a, b and c`.
    private func names(in message: String, behind words: String) throws -> Set<String> {
        let start = try #require(message.firstRange(of: words)).upperBound
        let list = message[start...].prefix { $0 != "\n" }.replacing(" and ", with: ", ")
        return Set(list.split(separator: ", ").map(String.init))
    }

    @Test func `its members are those that scripts read`() throws {
        #expect(
            try Set(json().keys) == [
                "version", "penumbra", "keys", "fields", "filters", "formats", "settings", "exit_codes", "metrics",
                "environment", "files", "topics",
            ])
        #expect(try json()["version"] as? Int == 1)
    }

    // MARK: What is in it

    @Test func `each key that the reader of manifests knows is a key of the reference, and no other`() throws {
        let text = "job: a\ninputs: b\nfilters: [gaussian]\noutput: c.png\nunknown-key: 1\nslurm: {unknown-key: 1}\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "job.yaml", realPath: "/job.yaml", catalog: Self.catalog)
        let messages = result.diagnostics.map { $0.rendered(in: result.sources) }
        let job = try #require(messages.first { $0.contains("the job has no key") })
        let slurm = try #require(messages.first { $0.contains("'slurm' has no key") })
        let paths = Set(document.keys.map(\.path))
        #expect(try names(in: job, behind: "its keys are ") == paths.filter { !$0.contains(".") })
        #expect(
            Set(try names(in: slurm, behind: "its keys are ").map { "slurm.\($0)" })
                == paths.filter { $0.hasPrefix("slurm.") })
    }

    @Test func `each option of save that all formats have is a key of the reference`() throws {
        let text = "job: a\ninputs: b\nfilters: [gaussian]\noutput: c.png\nsave: {unknown-key: 1}\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "job.yaml", realPath: "/job.yaml", catalog: Self.catalog)
        let message = try #require(
            result.diagnostics.map { $0.rendered(in: result.sources) }.first { $0.contains("'save' has no option") })
        let general = try names(in: message, behind: "its options are ").subtracting(["compression"])
        #expect(
            Set(general.map { "save.\($0)" })
                == Set(document.keys.map(\.path).filter { $0.hasPrefix("save.") && !$0.hasPrefix("save.set.") }))
    }

    @Test func `each setting that the config file takes is in the reference, and no other`() throws {
        func message(_ text: String) throws -> String {
            let problem = #expect(throws: Settings.LoadError.self) {
                try Settings(
                    Settings.Flags(),
                    Settings.LaunchEnvironment(
                        environment: ["PENUMBRA_CONFIG": "/c.yaml"], currentFolder: "/", programFolder: "/", cores: 1,
                        memory: 1 << 30, homeFolder: "/"
                    ) { _ in .bytes(Array(text.utf8)) })
            }
            return try #require(problem).message
        }
        let keys = document.settings.map(\.key)
        #expect(
            try names(in: message("unknown-key: 1"), behind: "its keys are ")
                == Set(keys.filter { !$0.contains(".") && !$0.contains("[") } + ["notifications"]))
        for block in ["slurm", "service", "notifications"] {
            let inner = keys.filter { $0.hasPrefix("\(block).") }.map { $0.dropFirst(block.count + 1) }
            #expect(
                try names(in: message("\(block): {unknown-key: 1}"), behind: "its keys are ")
                    == Set(inner.filter { !$0.contains(".") && !$0.contains("[") }.map(String.init)), "\(block)")
        }
    }

    @Test func `a setting's variable is read, and overrides the config file`() throws {
        let values = [
            "workers": "3", "memory": "2G", "scratch": "/s", "state_dir": "/t", "nice": "5", "ionice": "idle",
            "silence": "1m", "reduce_transparency": "true", "plugins": "pinned-only", "plugin_folders": "/p",
            "sandbox": "require", "sandbox_read": "/f",
            "worker_environment": "A", "worker": "/w", "ffmpeg": "/f", "engine": "slurm",
            "server": "/run/penumbra/web.sock",
            "plugin_pins": "libA.so:\(String(repeating: "a", count: 64))",
        ]
        for setting in SettingKey.all {
            guard let variable = setting.variable else { continue }
            let value = try #require(values[setting.key], "\(setting.key) needs a value here")
            let settings = try? Settings(
                Settings.Flags(),
                Settings.LaunchEnvironment(
                    environment: [variable: value], currentFolder: "/", programFolder: "/", cores: 1, memory: 1 << 30,
                    homeFolder: "/"
                ) { _ in .nothing })
            let origins = try #require(settings, "\(variable)=\(value)").origins
            #expect(origins.contains(.environment(variable)), "\(variable)")
        }
    }

    @Test func `each exit code is in it, and no program of users exits with another number`() throws {
        #expect(document.exitCodes.map(\.code) == RunOutcome.allCases.map(\.number))
        for (path, text) in try Self.sources(below: "Sources/Programs/penumbra") {
            #expect(text.firstMatch(of: /\b_?exit\(-?[0-9]+\)/) == nil, "\(path) exits with a number of its own")
        }
    }

    @Test func `the metrics of runs and of the service are in it`() {
        let names = document.metrics.map(\.name)
        #expect(names == PrometheusText.described.map(\.name) + ServiceMetric.allCases.map(\.name))
        #expect(names.contains("penumbra_failed_frames"))
        #expect(names.contains("penumbra_service_jobs"))
    }

    @Test func `each environment variable that the sources read is known`() throws {
        let known = Set(EnvironmentVariable.all.map(\.name))
        var found: Set<String> = []
        for (_, text) in try Self.sources(below: "Sources") {
            for match in text.matches(of: /"(PENUMBRA_[A-Z_]+)"/) { found.insert(String(match.1)) }
            for match in text.matches(of: /(?:getenv\(|[eE]nvironment\[)"([A-Z_]+)"/) { found.insert(String(match.1)) }
        }
        #expect(found.contains("PENUMBRA_CONFIG"))
        #expect(found.subtracting(known) == [], "Sources/Programs/Reference/EnvironmentVariable.swift lacks these")
    }

    @Test func `each variable is in the sources`() throws {
        let text = try Self.sources(below: "Sources").filter { !$0.path.contains("Programs/Reference/") }
            .map(\.text).joined()
        for variable in EnvironmentVariable.all {
            #expect(text.contains(variable.name), "nothing reads \(variable.name)")
        }
    }

    // MARK: Its words

    @Test func `everything is said in sentences`() {
        var sentences = document.keys.flatMap { [$0.sentence] + $0.choices.map(\.sentence) }
        sentences +=
            document.fields.map(\.sentence) + document.settings.flatMap { [$0.sentence] + $0.choices.map(\.sentence) }
        sentences += document.exitCodes.flatMap { [$0.sentence, $0.remedy] } + document.metrics.map(\.sentence)
        sentences += document.environment.map(\.sentence) + document.files.map(\.sentence)
        sentences += document.topics.map(\.sentence) + document.formats.map(\.sentence)
        sentences += document.filters.flatMap { [$0.sentence] + $0.parameters.map(\.sentence) + $0.rules }
        for sentence in sentences {
            #expect(sentence.hasSuffix("."), "\(sentence)")
            #expect(sentence.split(separator: " ").count > 1, "\(sentence)")
            #expect(!sentence.contains("\n") && !sentence.contains("  "), "\(sentence)")
        }
        for sentence in document.keys.map(\.sentence) + document.settings.map(\.sentence) {
            #expect(sentence.first?.isUppercase == true, "\(sentence)")
        }
    }

    @Test func `a parameter has its range, its unit, its default and its synonyms`() throws {
        let filter = try #require(document.filters.first)
        #expect(filter.sentence == "Blurs with a Gaussian.")
        #expect(filter.origin == "plugin libSoft.so")
        #expect(filter.rules == ["edge: wrap cannot be combined with within."])
        let radius = filter.parameters[0]
        #expect((radius.takes, radius.unit, radius.fallback) == ("0–1000", "px", "10"))
        #expect(radius.sentence == "Sets the standard deviation. It may also be written 'sigma'.")
        let opaque = filter.parameters[1]
        #expect(opaque.sentence == "Makes it opaque. It is also a key of the job, for all its filters.")
        #expect(filter.parameters[2].isRequired)
        #expect(filter.parameters[2].example == "logo.png")
    }

    @Test func `a format says what it can do`() throws {
        #expect(
            document.formats.map(\.sentence) == [
                "Penumbra reads and writes png.", "Penumbra reads svg, and does not write it.",
            ])
        #expect(document.formats.map { $0.options.count } == [1, 0])
        #expect(document.formats.map(\.largestSide) == [100, nil])
    }

    // MARK: Sources

    private static func sources(below folder: String) throws -> [(path: String, text: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: folder)
        let names = FileManager.default.subpaths(atPath: root.path) ?? []
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
            ("\(folder)/\(name)", try String(contentsOf: root.appending(path: name), encoding: .utf8))
        }
    }
}

extension Settings {
    /// The origins of all settings that a variable can set.
    fileprivate var origins: [SettingOrigin] {
        [
            workers.origin, memory.origin, scratch.origin, stateFolder.origin, nice.origin, ionice.origin,
            silence.origin, reduceTransparency.origin, plugins.origin, pluginFolders.origin, pluginPins.origin,
            sandbox.origin, sandboxRead.origin, workerEnvironment.origin, worker.origin, ffmpeg.origin, engine.origin,
            server.origin,
        ]
    }
}
