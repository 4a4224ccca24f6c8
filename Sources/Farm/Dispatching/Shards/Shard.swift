package import Catalogs
package import Scheduling
package import WorkerProtocol

/// Tasks that are handed to a cluster as one unit: what `shards/K.json` of a run's shared folder holds. An element of a job
/// array does it, by `penumbra shard`.
package struct Shard: Hashable, Sendable, Codable {
    package struct Task: Hashable, Sendable, Codable {
        package let lease: LeaseID
        /// Of one try, which is looked at where it is done.
        package let timeLimit: Duration
        package let spec: TaskSpec

        package init(_ lease: Lease) {
            self.lease = lease.id
            timeLimit = lease.timeLimit
            spec = lease.spec
        }

        package init(lease: LeaseID, timeLimit: Duration, spec: TaskSpec) {
            self.lease = lease
            self.timeLimit = timeLimit
            self.spec = spec
        }
    }

    /// What workers of an element are started with, so that they are like the coordinator's own.
    package struct Workers: Hashable, Sendable, Codable {
        package let plugins: PluginConditions
        /// A worker that says nothing for so long is ended.
        package let silence: Duration

        package init(plugins: PluginConditions, silence: Duration) {
            self.plugins = plugins
            self.silence = silence
        }
    }

    /// Raised whenever what is written here changes.
    package static let currentFormat = 1

    package let format: Int
    package let run: String
    /// Of the coordinator that wrote it.
    package let epoch: Int
    /// From 1, of the whole run, whoever coordinates it.
    package let number: Int
    /// That the workers must have, or their pixels might be others.
    package let versions: [String: String]
    package let workers: Workers
    package let tasks: [Task]

    package init(
        run: String, epoch: Int, number: Int, versions: [String: String], workers: Workers, tasks: [Task]
    ) {
        format = Self.currentFormat
        self.run = run
        self.epoch = epoch
        self.number = number
        self.versions = versions
        self.workers = workers
        self.tasks = tasks
    }
}

extension Catalog {
    /// The versions of all that makes pixels and files: programs, codecs, plugins, and each filter's rendering.
    package var makings: [String: String] {
        versions.merging(filters.map { ("rendering of \($0.name)", "\($0.renderingVersion)") }) { version, _ in version
        }
    }
}

/// Where a shard's versions and those of the workers that are to do it part.
package struct VersionDifference: Hashable, Sendable {
    private let parts: [String]

    /// Nil when there is none.
    package init?(wanted: [String: String], found: [String: String]) {
        parts = Set(wanted.keys).union(found.keys).sorted().filter { wanted[$0] != found[$0] }.map { name in
            "\(name) \(found[name] ?? "missing") instead of \(wanted[name] ?? "none")"
        }
        if parts.isEmpty { return nil }
    }

    /// As a message goes on with it.
    package var words: String { parts.joined(separator: ", ") }
}
