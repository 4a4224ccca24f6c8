import Catalogs
import Foundation
import JobModel
import Settings
import Testing

@Suite struct SettingsTests {
    private func settings(
        _ flags: Settings.Flags = Settings.Flags(), environment: [String: String] = [:], files: [String: String] = [:],
        home: String = "/home/ada"
    ) throws -> Settings {
        try Settings(
            flags,
            Settings.LaunchEnvironment(
                environment: environment, currentFolder: "/work", programFolder: "/opt/penumbra/bin", cores: 8,
                memory: 10_000_000_000, homeFolder: home
            ) { path in
                path == "secret.yaml"
                    ? .unreadable("Permission denied") : files[path].map { .bytes(Array($0.utf8)) } ?? .nothing
            })
    }

    @Test func `without any wish the machine decides`() throws {
        let settings = try settings()
        #expect(settings.workers.value == 8)
        #expect(settings.memory.value == 6_000_000_000)
        #expect(settings.stateFolder.value == "/home/ada/.local/state/penumbra")
        #expect(settings.worker.value == "/opt/penumbra/bin/penumbra-worker")
        #expect(settings.scratch.value == nil)
        #expect(settings.workers.origin == .standard)
    }

    @Test func `the file gives way to the environment, and that to flags`() throws {
        let files = ["/home/ada/.config/penumbra/penumbra.yaml": "workers: 2\nscratch: tmp\nmemory: 1G\n"]
        var flags = Settings.Flags()
        flags.workers = 5
        let all = try settings(flags, environment: ["PENUMBRA_WORKERS": "3", "PENUMBRA_MEMORY": "2G"], files: files)
        #expect(all.workers.value == 5)
        #expect(all.workers.origin == .flag("--workers"))
        #expect(all.memory.origin == .environment("PENUMBRA_MEMORY"))
        #expect(all.scratch.value == "/home/ada/.config/penumbra/tmp")
        #expect(all.scratch.origin == .file("/home/ada/.config/penumbra/penumbra.yaml"))
    }

    @Test func `how long a worker may be silent is set as other things are, and never below five heartbeats`() throws {
        #expect(try settings().silence.value == .seconds(30))
        let files = ["/etc/penumbra/penumbra.yaml": "silence: 2m\n"]
        #expect(try settings(files: files).silence.value == .seconds(120))
        let both = try settings(environment: ["PENUMBRA_SILENCE": "9s"], files: files)
        #expect(both.silence.value == .seconds(9))
        #expect(both.silence.origin == .environment("PENUMBRA_SILENCE"))
        let problem = #expect(throws: Settings.LoadError.self) { try settings(environment: ["PENUMBRA_SILENCE": "4"]) }
        #expect(
            problem?.message == """
                PENUMBRA_SILENCE=4: error: 'PENUMBRA_SILENCE' cannot be 4
                  | 4
                  | ^
                  = write a value from 5s to 1d
                """)
    }

    @Test func `reduced transparency is set as other things are`() throws {
        #expect(try !settings().reduceTransparency.value)
        let files = ["/etc/penumbra/penumbra.yaml": "reduce_transparency: true\n"]
        #expect(try settings(files: files).reduceTransparency.value)
        let both = try settings(environment: ["PENUMBRA_REDUCE_TRANSPARENCY": "false"], files: files)
        #expect(!both.reduceTransparency.value)
        #expect(both.reduceTransparency.origin == .environment("PENUMBRA_REDUCE_TRANSPARENCY"))
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(environment: ["PENUMBRA_REDUCE_TRANSPARENCY": "1"])
        }
        #expect(
            problem?.message == """
                PENUMBRA_REDUCE_TRANSPARENCY=1: error: 'PENUMBRA_REDUCE_TRANSPARENCY' needs true or false, not '1'
                  | 1
                  | ^
                  = write true
                """)
    }

    @Test func `XDG_STATE_HOME moves the state folder`() throws {
        #expect(try settings(environment: ["XDG_STATE_HOME": "/state"]).stateFolder.value == "/state/penumbra")
    }

    @Test func `jobs run here unless a cluster is asked for`() throws {
        #expect(try settings().engine.value == .local)
        let files = ["/etc/penumbra/penumbra.yaml": "engine: slurm\nslurm: {partition: fast, folder: shared}\n"]
        let fromFile = try settings(files: files)
        #expect(fromFile.engine.value == .slurm)
        #expect(fromFile.slurm.value.partition == "fast")
        #expect(fromFile.slurm.value.folder == "/etc/penumbra/shared")
        var flags = Settings.Flags()
        flags.engine = .local
        let flagged = try settings(flags, environment: ["PENUMBRA_ENGINE": "slurm"])
        #expect(flagged.engine.value == .local)
        #expect(flagged.engine.origin == .flag("--engine"))
    }

    @Test func `a site's commands come from the config file, all four or none`() throws {
        #expect(try settings().commands.value == nil)
        let named = "commands: {submit: bin/submit, status: /s/status, cancel: /s/cancel, describe: /s/describe}\n"
        let all = try settings(files: ["/etc/penumbra/penumbra.yaml": "engine: commands\n" + named])
        #expect(all.engine.value == .commands)
        #expect(
            all.commands.value
                == ClusterCommands(
                    submit: "/etc/penumbra/bin/submit", status: "/s/status", cancel: "/s/cancel",
                    describe: "/s/describe"))
        #expect(all.commands.origin == .file("/etc/penumbra/penumbra.yaml"))
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(files: ["/etc/penumbra/penumbra.yaml": "commands: {submit: a, status: b, cancel: c}\n"])
        }
        #expect(problem?.message.contains("describe") == true)
    }

    @Test func `auto in the file is as good as silence`() throws {
        let files = ["/etc/penumbra/penumbra.yaml": "workers: auto\nmemory: auto\n"]
        #expect(try settings(files: files).workers.origin == .standard)
    }

    @Test func `a config file of comments is accepted`() throws {
        #expect(try settings(files: ["/etc/penumbra/penumbra.yaml": "# nothing\n\n"]).workers.value == 8)
    }

    private static let machine = "/etc/penumbra/penumbra.yaml"
    private static let user = "/home/ada/.config/penumbra/penumbra.yaml"

    @Test func `the files of the machine and of the user are both read, and the user's value counts`() throws {
        let files = [
            Self.machine: "workers: 2\nnice: 5\nslurm: {partition: batch, time: 1h}\n",
            Self.user: "workers: 3\nslurm: {partition: fast}\n",
        ]
        let both = try settings(files: files)
        #expect(both.workers.value == 3)
        #expect(both.workers.origin == .file(Self.user))
        #expect(both.nice.value == 5)
        #expect(both.nice.origin == .file(Self.machine))
        // A block is one key.
        #expect(both.slurm.value.partition == "fast")
        #expect(both.slurm.value.time == nil)
        // 'penumbra config' says what was lost.
        #expect(both.replacedSlurm?.value.time == 3600)
        #expect(both.replacedSlurm?.origin.description == Self.machine)
        #expect(try settings(files: [Self.machine: "slurm: {time: 1h}\n"]).replacedSlurm == nil)
        #expect(both.configFiles == [Self.user, Self.machine])
        #expect(both.configFile == Self.user)
    }

    @Test func `a named file is read in place of the user's, and never twice`() throws {
        let files = [Self.machine: "nice: 5\n", Self.user: "workers: 3\n", "/srv/mine.yaml": "workers: 4\n"]
        var flags = Settings.Flags()
        flags.configFile = "/srv/mine.yaml"
        let named = try settings(flags, files: files)
        #expect((named.workers.value, named.nice.value) == (4, 5))
        #expect(named.configFiles == ["/srv/mine.yaml", Self.machine])
        let variable = try settings(environment: ["PENUMBRA_CONFIG": Self.machine], files: files)
        #expect((variable.workers.value, variable.nice.value) == (8, 5))
        #expect(variable.configFiles == [Self.machine])
    }

    @Test func `folders of plugins and pins of both files add up`() throws {
        let digests = ["a", "b", "c"].map { String(repeating: $0, count: 64) }
        let files = [
            Self.machine: """
            plugins: pinned-only
            plugin_folders: [plugins]
            plugin_pins:
              - {file: libA.so, sha256: \(digests[0])}
              - {file: libB.so, sha256: \(digests[1])}

            """,
            Self.user: """
            plugin_folders: [/home/ada/plugins]
            plugin_pins: [{file: libB.so, sha256: \(digests[2])}]

            """,
        ]
        let both = try settings(files: files)
        #expect(both.plugins.value == .pinnedOnly)
        #expect(both.pluginFolders.value == ["/home/ada/plugins", "/etc/penumbra/plugins"])
        #expect(both.pluginFolders.origin == .files([Self.user, Self.machine]))
        #expect(both.pluginFolders.origin.description == "\(Self.user), \(Self.machine)")
        // If both pin a file, the user's pin counts.
        #expect(both.pluginPins.value.map(\.file) == ["libB.so", "libA.so"])
        #expect(both.pluginPins.value.map(\.sha256) == [digests[2], digests[0]])
        let variable = try settings(environment: ["PENUMBRA_PLUGIN_PATH": "/x"], files: files)
        #expect(variable.pluginFolders.value == ["/x"])
        #expect(variable.pluginFolders.origin == .environment("PENUMBRA_PLUGIN_PATH"))
    }

    @Test func `the sandbox is one of three words, and an empty variable leaves the default`() throws {
        #expect(try settings().sandbox.value == .auto)
        #expect(try settings(environment: ["PENUMBRA_SANDBOX": ""]).sandbox.origin == .standard)
        let required = try settings(environment: ["PENUMBRA_SANDBOX": "require"], files: [Self.user: "sandbox: off\n"])
        #expect(required.sandbox.value == .require)
        #expect(required.sandbox.origin == .environment("PENUMBRA_SANDBOX"))
        let mistake = #expect(throws: Settings.LoadError.self) {
            try settings(files: [Self.user: "sandbox: banana\n"])
        }
        #expect(
            mistake?.message == """
                \(Self.user):1:10: error: 'sandbox' cannot be 'banana'
                1 | sandbox: banana
                  |          ^^^^^^
                  = it takes auto, require or off
                """)
        let variable = #expect(throws: Settings.LoadError.self) {
            try settings(environment: ["PENUMBRA_SANDBOX": "Require"])
        }
        #expect(
            variable?.message == """
                PENUMBRA_SANDBOX=Require: error: 'PENUMBRA_SANDBOX' cannot be 'Require'
                  | Require
                  | ^^^^^^^
                  = did you mean 'require'? it takes auto, require or off
                """)
    }

    @Test func `mistakes of both files are reported`() {
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(files: [Self.machine: "nice: 50\n", Self.user: "workers: 0\n"])
        }
        #expect(problem?.message.contains("\(Self.user):1:10: error: ") == true)
        #expect(problem?.message.contains("\(Self.machine):1:7: error: ") == true)
    }

    @Test func `the machine's file cannot be passed over, and a user's default file can`() throws {
        func load(unreadable path: String) throws -> Settings {
            try Settings(
                Settings.Flags(),
                Settings.LaunchEnvironment(
                    environment: [:], currentFolder: "/work", programFolder: "/opt/penumbra/bin", cores: 8,
                    memory: 10_000_000_000, homeFolder: "/home/ada"
                ) { $0 == path ? .unreadable("Permission denied") : .nothing })
        }
        #expect(
            throws: Settings.LoadError(
                kind: .missing,
                message: """
                    /etc/penumbra/penumbra.yaml: the config file of this machine cannot be read (Permission denied)
                       = let every user read it: chmod a+rX /etc/penumbra /etc/penumbra/penumbra.yaml
                    """)
        ) { try load(unreadable: Self.machine) }
        // A service may not look into homes.
        #expect(try load(unreadable: Self.user).configFiles.isEmpty)
    }

    /// The lines of the shipped config file. A key, and what belongs to it, is a comment without a space before it.
    private static func shippedLines() throws -> [Substring] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../config/penumbra.yaml")
        return try String(contentsOf: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func `the shipped config file sets nothing`() throws {
        let lines = try Self.shippedLines()
        #expect(lines.allSatisfy { $0.isEmpty || $0.hasPrefix("#") })
        let settings = try settings(files: [Self.machine: lines.joined(separator: "\n")])
        #expect(settings.workers.origin == .standard)
        #expect(settings.service.value == ServiceSettings())
        // A key can be added at its end.
        let added = try self.settings(files: [Self.machine: lines.joined(separator: "\n") + "workers: 1\n"])
        #expect(added.workers.value == 1)
    }

    @Test func `every key of the shipped config file is right without its comment sign`() throws {
        let lines = try Self.shippedLines().map { line in
            line.hasPrefix("# ") && !line.hasPrefix("#  ") || line == "#" ? "" : line.drop { $0 == "#" }
        }
        let settings = try settings(files: [Self.machine: lines.joined(separator: "\n")])
        #expect(settings.nice.value == 0)
        #expect(settings.plugins.value == .any)
        #expect(settings.pluginFolders.value == ["/srv/penumbra/plugins"])
        #expect(settings.pluginPins.value.map(\.file) == ["libHalftone.so"])
        #expect(settings.programs.value == [NamedProgram(name: "denoise", path: "/usr/local/bin/denoise")])
        #expect(settings.slurm.value.partition == "batch")
        #expect(settings.commands.value?.submit == "/usr/local/lib/penumbra/submit")
        #expect(settings.late.value.map(\.job) == ["archive"])
        #expect(settings.service.value.schedules.map(\.name) == ["nightly", "scans"])
        #expect(settings.worker.value == "/usr/local/bin/penumbra-worker")
    }

    @Test func `programs have names and paths, and both config files add to them`() throws {
        let (user, machine) = ("/home/ada/.config/penumbra/penumbra.yaml", "/etc/penumbra/penumbra.yaml")
        #expect(try settings().programs.value == [])
        let both = try settings(files: [
            user: "programs:\n  denoise: ~/bin/denoise\n  mine: tools/mine\n",
            machine: "programs: {denoise: /usr/bin/denoise, sharp_2: /opt/sharp/bin/sharp}\n",
        ])
        #expect(
            both.programs.value == [
                NamedProgram(name: "denoise", path: "/home/ada/bin/denoise"),
                NamedProgram(name: "mine", path: "/home/ada/.config/penumbra/tools/mine"),
                NamedProgram(name: "sharp_2", path: "/opt/sharp/bin/sharp"),
            ])
        #expect(both.programs.origin == .files([user, machine]))
    }

    @Test func `programs that are not named are refused`() throws {
        func message(_ text: String) throws -> String? {
            let files = ["/etc/penumbra/penumbra.yaml": text]
            let problem = #expect(throws: Settings.LoadError.self) { try settings(files: files) }
            return problem?.message
        }
        #expect(
            try message("programs: [/usr/bin/denoise]\n") == """
                /etc/penumbra/penumbra.yaml:1:11: error: 'programs' must be a mapping, not a list
                1 | programs: [/usr/bin/denoise]
                  |           ^^^^^^^^^^^^^^^^^^
                  = write {denoise: /usr/local/bin/denoise}
                """)
        #expect(try message("programs: {denoise: ''}\n")?.contains("error: 'programs.denoise' is empty") == true)
        let name = String(repeating: "a", count: 65)
        #expect(try message("programs: {\(name): /bin/a}\n")?.contains("of a program is too long") == true)
        let many = (1...101).map { "p\($0): /bin/a" }.joined(separator: ", ")
        #expect(try message("programs: {\(many)}\n")?.contains("error: 'programs' has 101 programs") == true)
    }

    @Test func `a config file that was asked for must be there`() {
        var flags = Settings.Flags()
        flags.configFile = "mine.yaml"
        let usual = ", or leave it out to use the usual config files"
        #expect(
            throws: Settings.LoadError(
                kind: .missing, message: "mine.yaml: there is no such config file\n   = correct --config\(usual)")
        ) { try settings(flags) }
        #expect(
            throws: Settings.LoadError(
                kind: .missing,
                message:
                    "secret.yaml: the config file cannot be read (Permission denied)\n   = correct PENUMBRA_CONFIG\(usual)"
            )
        ) { try settings(environment: ["PENUMBRA_CONFIG": "secret.yaml"]) }
    }

    @Test func `a wrong variable is told with its caret`() throws {
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(environment: ["PENUMBRA_WORKERS": "many"])
        }
        #expect(problem?.kind == .value)
        #expect(problem?.message.hasPrefix("PENUMBRA_WORKERS=many: error: ") == true)
    }

    @Test func `limits of every control group around the process count`() {
        #expect(
            Machine.controlGroups(membership: "0::/system.slice/cron.service\n")
                == [
                    "/sys/fs/cgroup/system.slice/cron.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup",
                ])
        #expect(Machine.controlGroups(membership: "") == ["/sys/fs/cgroup"])
    }

    @Test func `the mount that holds a path tells its filesystem`() {
        let mounts = """
            /dev/vda / ext4 rw 0 0
            server:/home /home nfs4 rw 0 0
            tmpfs /home/ada/fast\\040disk tmpfs rw 0 0

            """
        #expect(Machine.filesystemType(of: "/var/lib", mounts: mounts) == "ext4")
        #expect(Machine.filesystemType(of: "/home/ada", mounts: mounts) == "nfs4")
        #expect(Machine.filesystemType(of: "/home/ada/fast disk/x", mounts: mounts) == "tmpfs")
        #expect(Machine.filesystemType(of: "/homes", mounts: mounts) == "ext4")
    }

    @Test func `pins that are no list are refused as such`() throws {
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(files: ["/etc/penumbra/penumbra.yaml": "plugin_pins: x\n"])
        }
        #expect(
            problem?.message == """
                /etc/penumbra/penumbra.yaml:1:14: error: 'plugin_pins' must be a list of pins, not a single value
                1 | plugin_pins: x
                  |              ^
                  = write each pin as an item: - {file: libHalftone.so, sha256: '…'}
                """)
    }

    @Test func `plugins are told by trust, folders and pins`() throws {
        let digest = String(repeating: "0123456789abcdeF", count: 4)
        let files = [
            "/etc/penumbra/penumbra.yaml": """
            plugins: pinned-only
            plugin_folders: [plugins, /opt/filters]
            plugin_pins:
              - {file: libA.so, sha256: \(digest)}

            """
        ]
        let settings = try settings(files: files)
        #expect(settings.plugins.value == .pinnedOnly)
        #expect(settings.pluginFolders.value == ["/etc/penumbra/plugins", "/opt/filters"])
        #expect(settings.pluginPins.value.map(\.sha256) == [digest.lowercased()])
        let pins = try self.settings(environment: ["PENUMBRA_PLUGIN_PINS": "libA.so:\(digest),libB.so:\(digest)"])
        #expect(pins.pluginPins.value.map(\.file) == ["libA.so", "libB.so"])
        #expect(pins.plugins.value == .any)
    }

    @Test func `a pin that is no SHA-256 is told with its caret`() {
        let files = ["/etc/penumbra/penumbra.yaml": "plugin_pins:\n  - file: libA.so\n    sha256: abc\n"]
        let problem = #expect(throws: Settings.LoadError.self) { try settings(files: files) }
        #expect(
            problem?.message == """
                /etc/penumbra/penumbra.yaml:3:13: error: 'sha256' needs a SHA-256, and 'abc' is none
                3 |     sha256: abc
                  |             ^^^
                  = write the 64 digits that sha256sum prints
                """)
    }

    @Test(arguments: [
        ("plugin_pins:\n  libHalftone.so: 52e0", "2:3", "  libHalftone.so: 52e0", "libHalftone.so"),
        ("plugin_pins: {libHalftone.so: 52e0}", "1:15", "plugin_pins: {libHalftone.so: 52e0}", "libHalftone.so"),
        ("plugin_pins:\n  - libHalftone.so: 52e0", "2:5", "  - libHalftone.so: 52e0", "libHalftone.so"),
        ("plugin_pins:\n  libHalftone: 52e0", "2:3", "  libHalftone: 52e0", "libHalftone"),
    ])
    func `pins that are written as a mapping are told how a pin is written`(
        text: String, place: String, line: String, key: String
    ) throws {
        let problem = #expect(throws: Settings.LoadError.self) {
            try settings(files: ["/etc/penumbra/penumbra.yaml": text + "\n"])
        }
        let column = try #require(Int(place.dropFirst(2)))
        #expect(
            problem?.message == """
                /etc/penumbra/penumbra.yaml:\(place): error: 'plugin_pins' is a list of pins, and '\(key)' is no key of one
                \(place.prefix(1)) | \(line)
                  | \(String(repeating: " ", count: column - 1))\(String(repeating: "^", count: key.count))
                  = write each pin as an item of its own: - {file: libHalftone.so, sha256: '…'}
                """)
    }

    @Test func `a site names its service and each user's token once, in the file of the machine`() throws {
        #expect(try settings().server.value == nil)
        #expect(try settings().tokenFile.value == nil)
        let site = "server: /run/penumbra/web.sock\ntoken_file: ~/.config/penumbra/token\n"
        let files = ["/etc/penumbra/penumbra.yaml": site]
        let ada = try settings(files: files)
        #expect(ada.server.value == "/run/penumbra/web.sock")
        #expect(ada.server.origin == .file("/etc/penumbra/penumbra.yaml"))
        #expect(ada.tokenFile.value == "/home/ada/.config/penumbra/token")
        #expect(try settings(files: files, home: "/home/ben").tokenFile.value == "/home/ben/.config/penumbra/token")
    }

    @Test func `a path of a config file that begins with ~ begins in the home folder of its user`() throws {
        let site = """
            state_dir: ~/state
            scratch: ~/scratch
            worker: ~/bin/penumbra-worker
            plugin_folders: [~/plugins, plugins]
            slurm: {folder: ~/shared}
            notifications: {sendmail: ~/bin/sendmail}
            service: {schedules: [{name: night, cron: '0 2 * * *', submit: {manifest: ~/night.yaml}}]}

            """
        let files = ["/etc/penumbra/penumbra.yaml": site]
        let ada = try settings(files: files)
        #expect(ada.stateFolder.value == "/home/ada/state")
        #expect(ada.scratch.value == "/home/ada/scratch")
        #expect(ada.worker.value == "/home/ada/bin/penumbra-worker")
        #expect(ada.pluginFolders.value == ["/home/ada/plugins", "/etc/penumbra/plugins"])
        #expect(ada.slurm.value.folder == "/home/ada/shared")
        #expect(ada.sendmail.value == "/home/ada/bin/sendmail")
        #expect(ada.service.value.schedules.map(\.job.manifest) == ["/home/ada/night.yaml"])
        #expect(try settings(files: files, home: "/home/ben").stateFolder.value == "/home/ben/state")
        // Only a home folder of the user's own: other names may begin with '~'.
        let file = try settings(files: ["/etc/penumbra/penumbra.yaml": "state_dir: ~ben\n"])
        #expect(file.stateFolder.value == "/etc/penumbra/~ben")
    }

    @Test func `a variable that no shell has expanded begins in the home folder, too`() throws {
        let environment = ["PENUMBRA_STATE_DIR": "~/state", "PENUMBRA_SCRATCH": "~"]
        #expect(try settings(environment: environment).stateFolder.value == "/home/ada/state")
        #expect(try settings(environment: environment).scratch.value == "/home/ada")
    }

    @Test func `a user's file and PENUMBRA_SERVER override the site's service`() throws {
        var files = ["/etc/penumbra/penumbra.yaml": "server: /run/penumbra/web.sock\ntoken_file: /etc/penumbra/token\n"]
        files["/home/ada/.config/penumbra/penumbra.yaml"] = "server: http://127.0.0.1:8642\ntoken_file: token\n"
        let own = try settings(files: files)
        #expect(own.server.value == "http://127.0.0.1:8642")
        #expect(own.tokenFile.value == "/home/ada/.config/penumbra/token")
        let variable = try settings(environment: ["PENUMBRA_SERVER": "/tmp/a.sock"], files: files)
        #expect(variable.server.value == "/tmp/a.sock")
        #expect(variable.server.origin == .environment("PENUMBRA_SERVER"))
    }
}
