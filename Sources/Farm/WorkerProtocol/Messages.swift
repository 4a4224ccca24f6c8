package import Catalogs
package import JobModel

/// Identifies one attempt of one task, for as long as a coordinator lives.
package struct LeaseID: Hashable, Sendable, Codable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// A message of the coordinator. A worker that reads the end of the stream exits at once.
package enum Order: Hashable, Sendable, Codable {
    /// Does a task. The number identifies this order to this worker and grows with each: one lease may take several
    /// orders. The owner of the channel knows the lease, and reports contain the number.
    ///
    /// The open files come with the first byte of the order, in the order of the list. If a worker's standard input is a
    /// pipe, it opens them by their paths.
    ///
    /// The coordinator kills a worker that takes longer than the time limit. Nil if it has none.
    case start(LeaseID, TaskSpec, [SentFile], timeLimit: Duration? = nil)
}

/// A message of a worker.
package enum Report: Hashable, Sendable, Codable {
    /// The first message of every worker.
    case ready(Greeting)
    /// The plugins whose code the worker runs for this lease from now on. There are several if outputs of a frame are
    /// rendered at once.
    /// A thread that crashes reports last whose code it was in.
    case inPlugins(LeaseID, [String])
    /// Sent every ``heartbeat`` from the greeting on, whatever the worker does. It proves that the process is not
    /// stopped.
    case alive
    /// Sent before the end of this lease: a fresh process should replace this worker. It holds more memory than it may,
    /// or a plugin did something in it that no code may do.
    case worn(LeaseID)
    case finished(LeaseID, TaskReceipt)
    case failed(LeaseID, TaskFailure)
}

extension Report {
    /// The time between two ``Report/alive`` messages. A coordinator waits for many of them before it kills a worker.
    package static let heartbeat = Duration.seconds(1)
}

package struct Greeting: Hashable, Sendable, Codable {
    package let protocolVersion: Int
    /// The versions of everything that makes pixels: Penumbra, libvips and plugins.
    package let versions: [String: String]
    /// What the worker offers. Nil unless ``introductionFlag`` asked for it.
    package let catalog: Catalog?
    /// Libraries that the worker did not open as plugins. The coordinator passes them on to later workers.
    package let refused: [RefusedLibrary]
    /// The formats whose outputs are folders. The worker makes these itself.
    package let folderFormats: [String]

    package init(
        protocolVersion: Int, versions: [String: String] = [:], catalog: Catalog? = nil,
        refused: [RefusedLibrary] = [], folderFormats: [String] = []
    ) {
        self.protocolVersion = protocolVersion
        self.versions = versions
        self.catalog = catalog
        self.refused = refused
        self.folderFormats = folderFormats
    }

    /// Raised when a message changes. Coordinator and workers of one installation always agree.
    package static let currentVersion = 14

    /// An argument of the worker program.
    package static let introductionFlag = "--introduce"
}
