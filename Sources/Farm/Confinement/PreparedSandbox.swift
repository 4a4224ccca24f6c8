import CConfinement
package import Catalogs
import Glibc
import Planning
import Synchronization

/// A sandbox before it is entered: the rules of Landlock are made, and are not in force yet.
///
/// A process enters them, and so does the child that tries its plugins. So most places are opened once. Each process adds its own
/// files in `/proc`.
package final class PreparedSandbox: Sendable {
    private let sandbox: WorkerSandbox
    /// An open descriptor, or a negative error code. Nil without places.
    private let rules: Mutex<Int32?>
    /// The named places that are refused, with the reasons.
    private let refused: [String]

    package init(_ sandbox: WorkerSandbox) {
        self.sandbox = sandbox
        guard sandbox.mode != .off, case .places(var places) = sandbox.reach else {
            rules = Mutex(nil)
            refused = []
            return
        }
        refused = places.removeUnfit()
        let all = places.all { name in getenv(name).map { String(cString: $0) } }
        rules = Mutex(Confinement.makeRules(toRead: all, toWrite: places.writable))
    }

    deinit { closeRules() }

    /// Confines this process for ever.
    ///
    /// - Parameter libraries: what the process opens, too. If a library is a link to another folder, the rest of that folder stays
    ///   closed, because it may be the user's home.
    /// - Precondition: it has one thread. A filter holds for the thread that enters it, and for those that this one starts.
    /// - Throws: if the mode requires what is missing, or if the process has more threads.
    package func enter(opening libraries: [String]) throws(WorkerSandboxError) -> SandboxReport {
        let mode = sandbox.mode
        guard mode != .off else { return .off }
        defer { closeRules() }
        let threads = calls_threads()
        guard threads <= 1 else { throw .tooManyThreads(threads) }
        let files = threads < 0 ? 0 : limitFiles(opening: libraries)
        let code = threads < 0 ? threads : sandbox.refuseCalls()
        let missing =
            (files < 0 ? [sandbox.reason(withoutLandlock: files)] : [])
            + (code < 0 ? [WorkerSandbox.reason(-code, isOfThreads: threads < 0)] : [])
            + (threads < 0 ? [] : refused)
        guard missing.isEmpty || mode != .require else { throw .incomplete(missing) }
        return SandboxReport(
            limitsCalls: code >= 0, files: openFiles(isLimited: threads >= 0 && files >= 0, code >= 0),
            missing: missing)
    }

    /// Enters it in a child process that tries plugins. Its parent reports what is missing, and the child goes on without it. If a
    /// sandbox is required, the child ends.
    ///
    /// - Precondition: the child has called nothing else before.
    package func enterTrial(opening libraries: [String]) {
        guard sandbox.mode != .off else { return }
        // A plugin has no files to write, in no worker.
        let (files, code) = (limitFiles(opening: libraries), WorkerSandbox.refuseCalls(.nowhere))
        if sandbox.mode == .require, files < 0 || code < 0 { _exit(69) }
    }

    /// - Returns: a negative error code if the kernel cannot do it.
    private func limitFiles(opening libraries: [String]) -> Int32 {
        // Before a plugin is opened. It could add rules, and the other process would enter them.
        defer { closeRules() }
        guard let rules = rules.withLock(\.self) else { return confinement_hide_processes() }
        guard rules >= 0 else { return rules }
        let code = Confinement.allow(rules, toRead: WorkerPlaces.ofThisProcess + libraries.map { realPath($0) })
        return code < 0 ? code : confinement_enter(rules)
    }

    private func closeRules() {
        rules.withLock { rules in
            guard let descriptor = rules, descriptor >= 0 else { return }
            close(descriptor)
            rules = -EBADF
        }
    }

    /// - Parameters:
    ///   - isLimited: whether Landlock is in force.
    ///   - isFiltered: whether the filter of system calls is.
    private func openFiles(isLimited: Bool, _ isFiltered: Bool) -> SandboxReport.Files {
        switch sandbox.reach {
        case .places where !isLimited && !isFiltered: .any
        case .everything: .any
        case .places(let places) where places.writable.isEmpty: isLimited ? .handedOver : .allReadable
        case .places: isLimited ? .ownFolders : .any
        }
    }
}
