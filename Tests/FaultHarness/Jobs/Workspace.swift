import Foundation
import Glibc

/// The programs that are under test, and the harness itself.
struct Programs: Sendable {
    let penumbra: String
    let worker: String
    /// This very program.
    let harness: String

    init(penumbra: String?, worker: String?) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(filePath: own).deletingLastPathComponent().path
        harness = own
        self.penumbra = penumbra ?? "\(folder)/penumbra"
        self.worker = worker ?? "\(folder)/penumbra-worker"
    }
}

/// A folder with a job's pictures, manifest, outputs and state.
struct Workspace: Sendable {
    let path: String
    /// Where outputs and state are, below the workspace.
    var out = "out"
    var state = "state"

    var outputs: String { "\(path)/\(out)" }
    var stateFolder: String { "\(path)/\(state)" }
    var faults: String { "\(path)/faults" }
    var manifest: String { "\(path)/job.yaml" }

    init(_ path: String) throws {
        self.path = path
        for name in ["photos", "faults", "logs"] { try Folder.create("\(path)/\(name)") }
    }

    func write(_ data: Data, to name: String) throws { try data.write(to: URL(filePath: "\(path)/\(name)")) }

    func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    /// The bytes of every input, by name.
    static func inputs(of variant: JobVariant) -> [String: Data] {
        var result: [String: Data] = [:]
        for picture in variant.pictures { result[picture.fileName] = picture.file }
        if variant.hasBrokenPicture, let last = variant.pictures.last {
            result[last.fileName] = result[last.fileName].map { $0.prefix($0.count * 3 / 5) }
        }
        return result
    }

    func writeInputs(_ inputs: [String: Data]) throws {
        for (name, data) in inputs {
            try write(data, to: "photos/\(name)")
            // As old as other people's pictures: what was changed just now is read again by the next run.
            var times = [
                timeval(tv_sec: time(nil) - 86_400, tv_usec: 0), timeval(tv_sec: time(nil) - 86_400, tv_usec: 0),
            ]
            utimes("\(path)/photos/\(name)", &times)
        }
    }

    /// All that a program in this workspace sees of the world.
    func environment(_ programs: Programs, adding more: [String: String] = [:]) -> [String: String] {
        let sandbox = ProcessInfo.processInfo.environment["PENUMBRA_SANDBOX"].map { ["PENUMBRA_SANDBOX": $0] } ?? [:]
        return [
            // Messages list their members in one order then, so that a seed damages the same ones again.
            "SWIFT_DETERMINISTIC_HASHING": "1", "PATH": "/usr/bin:/bin", "HOME": path,
            "XDG_CONFIG_HOME": "\(path)/config",
            "PENUMBRA_STATE_DIR": stateFolder, "PENUMBRA_WORKER": programs.worker, ProcessTable.mark: path,
        ].merging(sandbox) { $1 }.merging(more) { $1 }
    }
}
