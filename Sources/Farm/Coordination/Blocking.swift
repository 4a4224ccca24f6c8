import Dispatch

/// Calls that may block for long: locks, a database that another process writes to, folders with many files.
///
/// The threads of tasks are as few as the cores. A call that blocks one of them holds up every run of the process.
package enum Blocking {
    private static let queue = DispatchQueue(label: "penumbra.blocking", attributes: .concurrent)

    /// Carries out the body on a thread of its own.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { answer in
            queue.async {
                do throws(Failure) {
                    answer.resume(returning: .success(try body()))
                } catch {
                    answer.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
