import CPenumbraPlugin
import CPluginTrial
import Digests
package import FilterKitTesting
import Glibc
package import JobModel

/// Opens libraries in a child process first. A library that crashes, hangs or exits while it is opened ends only the child.
package struct PluginTrial: Sendable {
    /// The time limit for opening a library. After each library that exceeds it, the limit is halved, so that many hanging
    /// libraries do not keep a worker from starting.
    private let timeout: Duration
    /// The libraries that earlier trials refused.
    private let known: [RefusedLibrary]
    /// Keeps the child from the rest of the machine, before it opens a library. It gets the paths of all of them.
    private let confine: (@Sendable (_ libraries: [String]) -> Void)?

    private static let leastTimeout = Duration.seconds(1)

    package init(
        timeout: Duration = .seconds(10), known: [RefusedLibrary] = [],
        confine: (@Sendable (_ libraries: [String]) -> Void)? = nil
    ) {
        self.timeout = timeout
        self.known = known
        self.confine = confine
    }

    /// The result of a trial.
    struct Findings {
        /// The reasons why some libraries must not be opened in this process, by path.
        var problems: [String: PluginError] = [:]
        /// The libraries that other processes must refuse, too.
        var refused: [RefusedLibrary] = []

        fileprivate mutating func refuse(_ candidate: Candidate, _ stamp: FileStamp?, _ problem: PluginError) {
            problems[candidate.path] = problem
            guard let stamp else { return }
            refused.append(RefusedLibrary(path: candidate.path, stamp: stamp, reason: problem.description))
        }
    }

    /// Tries to open each library. Cost: a fork, and opening each library once more.
    ///
    /// - Precondition: this process has one thread, or none of the libraries uses Swift's run time.
    func callAsFunction(_ candidates: [Candidate]) -> Findings {
        var findings = Findings()
        // The stamp is read before the trial: a file that changes during its trial is tried again.
        var rest = candidates.map { ($0, stamp: FileStamp(path: $0.path)) }[...]
        rest.removeAll { candidate, stamp in
            guard let reason = reason(candidate, stamp) else { return false }
            findings.refuse(candidate, stamp, PluginError(reason))
            return true
        }
        let confining = confine.map { confine in Confining { confine(candidates.map(\.path)) } }
        var timeout = timeout
        while !rest.isEmpty {
            let trial = run(rest.map(\.0.openName), timeout, confining)
            guard trial.error == 0 else {
                let problem = PluginError("cannot be tried (\(String(cString: strerror(trial.error)))); try again")
                for (candidate, _) in rest { findings.refuse(candidate, nil, problem) }
                return findings
            }
            rest = rest.dropFirst(Int(trial.survived))
            if let (candidate, stamp) = rest.popFirst() {
                findings.refuse(candidate, stamp, PluginError(ending: trial))
            }
            if trial.hung != 0 { timeout = max(timeout / 2, min(timeout, Self.leastTimeout)) }
        }
        return findings
    }

    /// The reason why the same file was refused before.
    private func reason(_ candidate: Candidate, _ stamp: FileStamp?) -> String? {
        known.first { $0.path == candidate.path && $0.stamp.isSameState(as: stamp) }?.reason
    }

    /// What C code calls in the child.
    private final class Confining: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private func run(_ names: [String], _ timeout: Duration, _ confining: Confining?) -> plugin_trial {
        let copies = names.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let milliseconds = UInt32(clamping: Int(timeout / .milliseconds(1)))
        return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer {
            guard let confining else {
                return try_plugins($0.baseAddress, Int32($0.count), PENUMBRA_PLUGIN_ABI, milliseconds, nil, nil)
            }
            return try_plugins(
                $0.baseAddress, Int32($0.count), PENUMBRA_PLUGIN_ABI, milliseconds,
                { context in
                    if let context { Unmanaged<Confining>.fromOpaque(context).takeUnretainedValue().run() }
                }, Unmanaged.passUnretained(confining).toOpaque())
        }
    }
}

extension PluginError {
    /// - Parameter trial: the trial whose child ended or was killed.
    fileprivate init(ending trial: plugin_trial) {
        let signal = trial.status & 0x7f
        switch signal {
        case _ where trial.hung != 0: self.init("hangs while it is opened; remove it, or fix what it does at load")
        case 0:
            self.init("ends the process (exit code \(trial.status >> 8 & 0xff)) while it is opened; remove or fix it")
        case SIGSYS:
            self.init(
                "does what the sandbox refuses while it is opened, such as to start a program; remove it, or fix what it does at load"
            )
        default: self.init("crashes with signal \(signal) while it is opened; remove or fix it")
        }
    }
}

extension FileStamp {
    /// Returns nil if there is no such file.
    fileprivate init?(path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(found)
    }
}

/// Tests a library with the contract of filters, in this process. It ignores its owner and its folder.
package enum PluginCheck {
    /// - Parameters:
    ///   - reservedNames: names that no plugin may have, as in ``PluginLoader``.
    ///   - measuringMemory: only for a process that does nothing else.
    ///   - calling, begin, report: see ``FilterContract/check(_:measuringMemory:calling:begin:report:)``.
    package static func run(
        _ path: String, reservedNames: [String] = [], measuringMemory: Bool = false,
        calling: FilterContract.Calling = FilterContract.Calling(),
        begin: (String) -> Void,
        report: (String, FilterContract.Outcome) -> Void
    ) {
        var check = "opening"
        begin(check)
        do throws(PluginError) {
            try PluginFolder.checkIsFile(path)
            guard case .plugin(let plugin) = try PluginLibrary.open(Candidate(path: path)) else {
                throw PluginError("does not export \(PluginLibrary.entryName)")
            }
            report("opening", .kept)
            check = "description"
            begin(check)
            let description = try PluginDescription(plugin)
            if reservedNames.contains(description.name) { throw PluginError(reservedName: description.name) }
            FilterContract.check(
                plugin, measuringMemory: measuringMemory, calling: calling, begin: begin, report: report)
        } catch {
            report(check, .broken("it \(error)"))
        }
    }
}
