import Foundation
import Testing

@Suite(.serialized) struct CommandTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `penumbra links no image library, the worker does`() async throws {
        let program = try await Program.run("/usr/bin/ldd", [Program.penumbra], in: workspace)
        #expect(!program.output.contains("libvips"))
        let worker = try await Program.run("/usr/bin/ldd", [Program.worker], in: workspace)
        #expect(worker.output.contains("libvips"))
        // FoundationEssentials is enough for a worker. The whole of Foundation takes it milliseconds to load.
        #expect(worker.output.contains("libFoundationEssentials.so") && !worker.output.contains("libFoundation.so"))
    }

    @Test func `version and help`() async throws {
        let version = try await Program.run("--version", in: workspace)
        #expect(version.output == "penumbra 0.2.0\n")
        let help = try await Program.run("--help", in: workspace)
        #expect(help.code == 0)
        for command in ["run", "check", "plan", "filters", "formats", "config", "doctor"] {
            #expect(help.output.contains("  \(command) "))
        }
    }

    @Test func `plan shows each frame and renders nothing`() async throws {
        try workspace.writeManifest(more: "shard: tile\ntile: 64")
        let result = try await Program.run("plan", "job.yaml", in: workspace)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("test: 3 frames, 3 to render, 0.1 MP\n"))
        #expect(result.output.contains("160×120 rgb u8"))
        #expect(result.output.contains("6 tiles of 64×64"))
        #expect(result.output.contains("33 px"))
        #expect(result.output.contains("shard: tile"))
        #expect(!workspace.exists("out"))
    }

    @Test func `plan lists every tile and what it reads as JSON`() async throws {
        try workspace.writeManifest(more: "shard: tile\ntile: 64")
        let result = try await Program.run("plan", "--json", "--only", "a.png", "job.yaml", in: workspace)
        let lines = result.output.split(separator: "\n")
        let plan = try #require(try JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: Any])
        let tiles = try #require(plan["tiles"] as? [[String: Any]])
        #expect(tiles.count == 6)
        let reads = try #require(tiles.first?["reads"] as? [[String: Int]])
        #expect(reads == [["x": 0, "y": 0, "width": 97, "height": 97]])
    }

    @Test func `an override is shown where it is wrong`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run("check", "job.yaml", "--set", "filters[0].gaussian.radius=-1", in: workspace)
        #expect(result.code == 65)
        #expect(result.errors.hasPrefix("--set filters[0].gaussian.radius=-1: error: "))
    }

    @Test func `config tells where each value comes from`() async throws {
        try workspace.write("workers: 3\nmemory: 2G\n", to: "c.yaml")
        let result = try await Program.run(
            "config", "--config", "c.yaml", "--scratch", "/tmp/s", in: workspace,
            environment: ["PENUMBRA_MEMORY": "1G"])
        #expect(result.code == 0)
        let rows = result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.contains("workers 3 c.yaml"))
        #expect(rows.contains { $0.hasPrefix("memory 1.") && $0.hasSuffix("GB PENUMBRA_MEMORY") })
        #expect(rows.contains("scratch /tmp/s --scratch"))
    }

    @Test func `config writes a commented file where there is none, and replaces none`() async throws {
        let path = "\(workspace.path)/config/penumbra/penumbra.yaml"
        let made = try await Program.run("config", "--init", in: workspace)
        #expect(made.code == 0)
        #expect(made.output == "\(path): written; every key in it is commented out\n")
        // It is the shipped file, and changes no setting.
        let shipped = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../config/penumbra.yaml")
        let lines = try String(contentsOf: shipped, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let commented = lines.map { $0.isEmpty || $0.hasPrefix("#") ? String($0) : "# \($0)" }.joined(separator: "\n")
        #expect(String(decoding: try workspace.read("config/penumbra/penumbra.yaml"), as: UTF8.self) == commented)
        let settings = try await Program.run("config", "--json", in: workspace)
        #expect(settings.code == 0, "\(settings.errors)")
        #expect(!settings.output.contains(path))
        let again = try await Program.run("config", "--init", in: workspace)
        #expect(again.code == 64)
        #expect(
            again.errors
                == "\(path): the file exists, and --init replaces no file\n   = move it away, or choose another path\n")
        let named = try await Program.run("config", "--init", "--config", "site/p.yaml", in: workspace)
        #expect(named.code == 0)
        #expect(workspace.exists("site/p.yaml"))
    }

    @Test func `a wrong config is exit code 65, with a caret`() async throws {
        try workspace.write("workrs: 3\n", to: "c.yaml")
        let result = try await Program.run("config", "--config", "c.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(result.errors.contains("c.yaml:1:1: error: "))
        #expect(result.errors.contains("did you mean 'workers'?"))
    }

    @Test func `doctor finds nothing wrong here`() async throws {
        let result = try await Program.run("doctor", in: workspace)
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(!result.output.contains("FAIL"))
    }

    @Test func `doctor opens the database, and says when it is damaged`() async throws {
        let path = "\(workspace.path)/state/penumbra/penumbra.sqlite"
        #expect(
            try await Program.run("doctor", in: workspace).output.contains(
                "ok    no database yet; the first run makes it\n"))
        try workspace.drawPhotos()
        try workspace.writeManifest()
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        // Everything is in the file itself, also for whoever copies it.
        #expect(!workspace.exists("state/penumbra/penumbra.sqlite-wal"))
        #expect(try await Program.run("doctor", in: workspace).output.contains("ok    database \(path): whole\n"))
        try workspace.write("no database", to: "state/penumbra/penumbra.sqlite")
        let result = try await Program.run("doctor", in: workspace)
        #expect(result.code == 74)
        #expect(
            result.output.contains("FAIL  \(path): the database is damaged: file is not a database\n   = move it away"))
    }

    @Test(arguments: ["check", "run", "plan", "submit --upload"])
    func `a manifest whose name is no UTF-8 is refused for that reason`(command: String) async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest()
        let shell = "mv job.yaml \"$(printf 'caf\\351.yaml')\" && \(Program.penumbra) \(command) caf*.yaml"
        let result = try await Program.run("/bin/bash", ["-c", shell], in: workspace)
        #expect(result.code == 64)
        #expect(
            result.errors.contains(
                ": the path of a manifest has to be UTF-8 text; rename the file or its folder.\n"), "\(result.errors)")
    }

    @Test func `one manifest is not given twice`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", "./job.yaml", in: workspace)
        #expect(result.code == 64)
        #expect(result.errors.hasPrefix("Error: ./job.yaml is given twice; a job runs once in a command.\n"))
        #expect(!workspace.exists("out"))
    }

    @Test(arguments: [
        ["run", "job.yaml"], ["preview", "job.yaml", "-o", "p.png"], ["apply", "invert", "a.png", "-o", "b.png"],
    ])
    func `two values for one path of --set are refused`(command: [String]) async throws {
        let sets = ["--set", "tile=64", "--set", "shard=tile", "--set", "tile=128"]
        let result = try await Program.run(Program.penumbra, command + sets, in: workspace)
        #expect(result.code == 64)
        #expect(
            result.errors.hasPrefix(
                "Error: --set tile is given twice, as '64' and as '128': it takes one value; leave one of them out.\n"),
            "\(result.errors)")
    }

    @Test func `--watch says which options do not go with it`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", "--watch", "--deadline", "5m", in: workspace)
        #expect(result.code == 64)
        #expect(result.errors.hasPrefix("Error: --watch runs until it is stopped; leave out --deadline.\n"))
    }

    @Test func `filters and formats describe what there is`() async throws {
        let filter = try await Program.run("filters", "gaussian", in: workspace)
        #expect(filter.output.contains("It may also be written 'sigma'."))
        let formats = try await Program.run("formats", in: workspace)
        for name in ["jpeg", "png", "tiff", "webp"] { #expect(formats.output.contains("\n\(name) ")) }
    }

    @Test(arguments: ["tiff", "tif", ".TIFF"])
    func `a format is described by its name or an extension`(name: String) async throws {
        let result = try await Program.run("formats", name, in: workspace)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("tiff: read and written\n\n  extensions    .tif .tiff\n"), "\(result.output)")
        #expect(result.output.contains("\nsave: options of tiff\n"))
        #expect(!result.output.contains("jpeg:"))
        let json = try await Program.run("formats", name, "--json", in: workspace)
        let formats = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(formats.map { $0["name"] as? String } == ["tiff"])
    }

    @Test func `a format's name that is nearly right is proposed`() async throws {
        let result = try await Program.run("formats", "jpgg", in: workspace)
        #expect(result.code == 64)
        #expect(
            result.errors.hasPrefix(
                "no format is called 'jpgg'\n   = did you mean 'jpeg'? 'penumbra formats' describes apng, avif, "),
            "\(result.errors)")
    }

    @Test func `a filter's name that is nearly right is proposed`() async throws {
        let result = try await Program.run("filters", "halfton", in: workspace)
        #expect(result.code == 64)
        #expect(
            result.errors == """
                no filter is called 'halfton'
                   = did you mean 'halftone'? 'penumbra filters' lists the filters your workers offer

                """)
    }
}
