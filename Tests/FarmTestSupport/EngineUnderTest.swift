package import Engines
package import WorkerProtocol

/// An engine that ``EngineContract`` is tried with, and the world around it. Each check gets a value of its own.
package protocol EngineUnderTest: Sendable {
    /// An engine that has not run yet.
    func makeEngine() throws -> any Engine

    /// A task that every worker does at once.
    func quickTask() throws -> TaskSpec

    /// A task that no worker has done before the check is over.
    func endlessTask() throws -> TaskSpec

    /// Ends, from outside, whatever does the work. The engine is not told.
    func killWorkers() throws

    /// What lives of the engine's workers: processes, or jobs on a cluster. In words, for messages.
    func living() throws -> [String]
}
