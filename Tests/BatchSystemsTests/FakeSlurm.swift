import BatchSystems
import Foundation
import Synchronization

/// A folder with shell scripts in the place of Slurm's commands.
struct FakeSlurm: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "slurm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Beside tests that keep all cores busy, the answer of a script is seen late.
    static let patience = Duration.seconds(1800)

    var client: SlurmClient { SlurmClient(programs: folder.path, patience: Self.patience) }

    func program(_ name: String, _ script: String) throws {
        let file = folder.appending(path: name)
        try Data("#!/bin/sh\ncd '\(folder.path)'\n\(script)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.appending(path: name).path) }

    func put(_ name: String) throws { try Data().write(to: folder.appending(path: name)) }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}

/// What a person was told.
final class Told: Sendable {
    private let sentences = Mutex<[String]>([])
    func note(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
    var all: [String] { sentences.withLock { $0 } }
}
