package import Engines
package import WorkerProtocol

/// An engine for ``EngineContract``, and its environment. Each check gets its own value.
package protocol EngineUnderTest: Sendable {
    /// An engine that has not run.
    func makeEngine() throws -> any Engine

    /// A task that every worker finishes at once.
    func quickTask() throws -> TaskSpec

    /// A task that no worker finishes before the check is over.
    func endlessTask() throws -> TaskSpec

    /// Ends the workers from outside. The engine is not told.
    func killWorkers() throws

    /// The living processes or jobs of the engine, in words for messages.
    func living() throws -> [String]
}
