import Foundation
import Subprocess
import SystemPackage
import Testing

/// What tests of a job that runs every night have in common.
extension Workspace {
    /// The photographs of ``drawPhotos()``, as old as others: a file that was changed just now is read again the next night.
    func drawOldPhotos() throws {
        try drawPhotos()
        for name in ["photos/a.png", "photos/b.png", "photos/c.jpg"] { try age(name) }
    }

    /// - Parameter more: lines of the manifest.
    func writeNightly(
        _ name: String = "job.yaml", inputs: String = "photos/*", radius: String = "5",
        output: String = "out/{stem}.png",
        more: String = ""
    ) throws {
        try writeManifest(
            name, inputs: inputs, filters: "[{gaussian: {radius: \(radius)}}]", output: output,
            more: "shard: frame" + (more.contains("existing:") ? "\n" : "\nexisting: update\n") + more)
    }

    /// A job of another name that writes to the same paths as the nightly one.
    func writeOtherJob(radius: String) throws {
        try writeNightly("other.yaml", radius: radius)
        let text = String(decoding: try read("other.yaml"), as: UTF8.self)
        try write(text.replacing("job: test", with: "job: other"), to: "other.yaml")
    }

    /// Sets a file's time to some hours ago.
    func age(_ name: String, hours: Double = 2) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -3600 * hours)], ofItemAtPath: "\(path)/\(name)")
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    func copy(_ name: String, to other: String) throws {
        let target = URL(filePath: "\(path)/\(other)")
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: target.path)
    }

    func modified(_ name: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.modificationDate] as? Date
    }

    /// All files below a folder with their bytes; links with where they lead. Indexes are not counted.
    func contents(below name: String) throws -> [String: Data] {
        var result: [String: Data] = [:]
        for file in FileManager.default.subpaths(atPath: "\(path)/\(name)") ?? [] {
            let place = "\(path)/\(name)/\(file)"
            if let link = try? FileManager.default.destinationOfSymbolicLink(atPath: place) {
                result[file] = Data("→ \(link)".utf8)
                continue
            }
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder), !isFolder.boolValue,
                file.split(separator: "/").last != ".penumbra-index"
            else { continue }
            result[file] = try Data(contentsOf: URL(filePath: place))
        }
        return result
    }

    /// Temporary files, scratch space and runs that somebody has left; sorted.
    func leftovers() -> [String] {
        let runs = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/state/penumbra/runs")) ?? []
        let files = FileManager.default.subpaths(atPath: path) ?? []
        return
            (runs.map { "state/penumbra/runs/\($0)" }
            + files.filter { file in
                let name = file.split(separator: "/").last ?? ""
                return name.hasPrefix(".penumbra-") && name != ".penumbra-index"
            }).sorted()
    }
}

/// How a night ended, by `run --json`.
struct NightSummary: Equatable {
    var published = 0
    var skipped = 0
    var kept = 0
    var stillBroken = 0
    var failed = 0
    var left = 0
    var exitCode = 0

    init(
        published: Int = 0, skipped: Int = 0, kept: Int = 0, stillBroken: Int = 0, failed: Int = 0, left: Int = 0,
        exitCode: Int = 0
    ) {
        (self.published, self.skipped, self.kept) = (published, skipped, kept)
        (self.stillBroken, self.failed, self.left, self.exitCode) = (stillBroken, failed, left, exitCode)
    }

    init(_ result: Program.Result) throws {
        let line = try #require(result.output.split(separator: "\n").last, "\(result.errors)")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        func number(_ key: String) -> Int { json[key] as? Int ?? -1 }
        self.init(
            published: number("published"), skipped: number("skipped"), kept: number("kept"),
            stillBroken: number("stillBroken"), failed: number("failed"), left: number("left"),
            exitCode: number("exitCode"))
    }
}

extension Program {
    /// Runs `job.yaml` once more.
    static func night(_ workspace: Workspace, _ options: String...) async throws -> NightSummary {
        try NightSummary(await run(penumbra, ["run", "--json", "job.yaml"] + options, in: workspace))
    }

    /// Why `plan` says each frame would run or not, by the inputs' names.
    static func reasons(_ workspace: Workspace, _ options: String...) async throws -> [String: String] {
        let result = try await run(penumbra, ["plan", "--json", "job.yaml"] + options, in: workspace)
        var reasons: [String: String] = [:]
        for line in result.output.split(separator: "\n") {
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let input = json?["input"] as? String, let reason = json?["reason"] as? String else { continue }
            reasons[String(input.split(separator: "/").last ?? "")] = reason.replacing("; shard: frame", with: "")
        }
        return reasons
    }

    /// Runs `penumbra` with a text as its standard input.
    static func run(_ arguments: String..., in workspace: Workspace, input: Data) async throws -> Result {
        let result = try await Subprocess.run(
            .path(FilePath(penumbra)), arguments: Arguments(arguments),
            environment: .custom(workspace.environment(adding: [:])), workingDirectory: FilePath(workspace.path),
            input: .array(Array(input)), output: .string(limit: 4 << 20), error: .string(limit: 4 << 20))
        return Result(code: code(result.terminationStatus), output: result.standardOutput, errors: result.standardError)
    }
}
