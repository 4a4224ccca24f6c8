package import JobStorage
package import SafeFiles
package import Scheduling
package import WorkerProtocol

extension FileError {
    /// The limit of this process that caused the error; nil for errors of files and disks.
    package var limitError: ResourceLimitError? { ResourceLimitError(code: code, "\(action) \(path)") }
}

extension StoreError {
    /// The limit of this process that probably caused the error. The database does not report it.
    package var limitError: ResourceLimitError? { isDamaged ? nil : ResourceLimitError.found(for: "use \(path)") }
}

extension StopReason {
    /// The reason to stop a run if a file that every frame needs cannot be used.
    package init(_ error: FileError) {
        self = error.limitError.map { .resourceLimit("\($0)") } ?? .storage(error.message)
    }

    package init(_ error: StoreError) {
        self = error.limitError.map { .resourceLimit("\($0)") } ?? .storage(error.message)
    }
}
