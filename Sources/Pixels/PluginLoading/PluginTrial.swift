import CPenumbraPlugin
import CPluginTrial
import Glibc

/// Opens libraries in a child process first: one that crashes, hangs or leaves while it is opened takes only that down.
enum PluginTrial {
    /// How long a library may take to be opened.
    private static let seconds: UInt32 = 10

    /// Why some of `paths` must not be opened here. Cost: a fork, and opening each library once more.
    ///
    /// - Precondition: this process has one thread.
    static func problems(_ paths: [String]) -> [String: PluginProblem] {
        var problems: [String: PluginProblem] = [:]
        var rest = paths[...]
        while !rest.isEmpty {
            let trial = run(Array(rest))
            guard trial.error == 0 else {
                let reason = String(cString: strerror(trial.error))
                for path in rest { problems[path] = PluginProblem("cannot be tried (\(reason)); try again") }
                return problems
            }
            rest = rest.dropFirst(Int(trial.survived))
            if let path = rest.popFirst() { problems[path] = PluginProblem(ending: trial.status) }
        }
        return problems
    }

    /// In the child: what is wrong with a description is told by who reads it again, if that survives.
    private static let read: @convention(c) (UnsafeRawPointer?) -> Void = { plugin in
        guard let plugin else { return }
        _ = try? PluginDescription(plugin.assumingMemoryBound(to: penumbra_plugin.self))
    }

    private static func run(_ paths: [String]) -> plugin_trial {
        let copies = paths.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer {
            try_plugins($0.baseAddress, Int32($0.count), PENUMBRA_PLUGIN_ABI, seconds, read)
        }
    }
}

extension PluginProblem {
    /// - Parameter status: of a child that ended, as `waitpid` gives it.
    fileprivate init(ending status: Int32) {
        let signal = status & 0x7f
        switch signal {
        case SIGALRM: self.init("hangs while it is opened; remove it, or mend what it does at load")
        case 0: self.init("ends the process (exit code \(status >> 8 & 0xff)) while it is opened; remove or mend it")
        default: self.init("crashes with signal \(signal) while it is opened; remove or mend it")
        }
    }
}
