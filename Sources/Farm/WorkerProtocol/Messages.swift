package import Catalogs
package import JobModel

/// Identifies one attempt of one task, for as long as a coordinator lives.
package struct LeaseID: Hashable, Sendable, Codable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// What the coordinator sends. A worker that reads the end of the stream exits at once.
package enum Order: Hashable, Sendable, Codable {
    /// The number is of this order to this worker, and grows with each: one lease may take several orders. Whoever holds the pipe
    /// knows which lease it stands for, and reports carry it back.
    case start(LeaseID, TaskSpec)
}

/// What a worker sends.
package enum Report: Hashable, Sendable, Codable {
    /// The first message of every worker.
    case ready(Greeting)
    /// The plugins whose code the worker runs from now on for this lease: several where outputs of a frame are rendered
    /// at once. A thread that crashes says last whose code it was in.
    case inPlugins(LeaseID, [String])
    /// Said every ``heartbeat`` from the greeting on, whatever the worker is busy with: its process is not stopped.
    case alive
    /// Said before the end of this lease: a fresh process should take this one's place. It holds more memory than it may,
    /// or code that ran in it did what no code may do.
    case worn(LeaseID)
    case finished(LeaseID, TaskReceipt)
    case failed(LeaseID, TaskFailure)
}

extension Report {
    /// How often a worker says that it lives. A coordinator waits for many of them before it gives a worker up.
    package static let heartbeat = Duration.seconds(1)
}

package struct Greeting: Hashable, Sendable, Codable {
    package let protocolVersion: Int
    /// What the worker offers, when ``introductionFlag`` asked for it.
    package let catalog: Catalog?
    /// Libraries that the worker would not open as plugins. Workers after this one are told.
    package let refused: [RefusedLibrary]

    package init(protocolVersion: Int, catalog: Catalog? = nil, refused: [RefusedLibrary] = []) {
        self.protocolVersion = protocolVersion
        self.catalog = catalog
        self.refused = refused
    }

    /// Raised whenever a message changes: coordinator and workers of one installation always agree.
    package static let currentVersion = 7

    /// An argument of the worker program.
    package static let introductionFlag = "--introduce"
}

/// What `--version` prints. Coordinator and workers of one installation carry the same.
package enum Version {
    package static let penumbra = "0.1.0"

    /// Changes only with the pixels of what is done around the filters: decoding, colours, rounding to the output's samples.
    package static let rendering = "5"
}
