/// The pipe from a process's standard error.
enum ErrorPipe {
    /// How long it is read after the end of the process. A process that the worker has started may hold it open.
    private static let patience = Duration.seconds(5)

    /// Reads the pipe during a conversation with the process, and after it what the process has written last.
    ///
    /// - Parameters:
    ///   - reading: returns at the end of the pipe, or when its task is cancelled.
    ///   - conversation: ends with the process.
    static func read(
        _ reading: @escaping @Sendable () async -> Void, during conversation: () async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reading() }
            await conversation()
            group.addTask {
                // Cancelled as soon as the pipe has ended.
                try? await Task.sleep(for: patience)
            }
            await group.next()
            group.cancelAll()
        }
    }
}
