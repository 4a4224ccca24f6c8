import BatchSystems
import Catalogs
import Cluster
import Foundation
import JobModel
import Shards
import Synchronization
import TestSupport
import WorkerProtocol

/// A folder with shell scripts in place of a cluster's commands.
struct FakePrograms: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// If other tests keep all cores busy, the answer of a script comes late.
    static let timeout = Duration.seconds(1800)

    var slurm: SlurmSystem { SlurmSystem(programs: folder.path, timeout: Self.timeout) }

    var commands: CommandSystem {
        CommandSystem(
            ClusterCommands(
                submit: path("submit"), status: path("status"), cancel: path("cancel"), describe: path("describe")),
            timeout: Self.timeout)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The setup of a run `r` that keeps its shards in `run`.
    func setup(epoch: Int = 1, program: String = "/bin/penumbra", variables: [String] = []) throws
        -> ClusterEngine.Setup
    {
        let run = ShardFolder(path("run"))
        try run.create()
        return ClusterEngine.Setup(
            folder: run, logs: path("logs"), run: "r", epoch: epoch, program: program, versions: [:],
            workers: Shard.Workers(plugins: PluginConditions(), silence: .seconds(30), sandbox: .auto),
            variables: variables)
    }

    func program(_ name: String, _ script: String) throws {
        try writeProgram("#!/bin/sh\ncd '\(folder.path)'\n\(script)\n", to: path(name))
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.appending(path: name).path) }

    func put(_ name: String, _ text: String = "") throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}

/// The messages for a person.
final class Told: Sendable {
    private let sentences = Mutex<[String]>([])
    func note(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
    var all: [String] { sentences.withLock { $0 } }
}
