import Foundation
import Glibc

/// File systems that only this process and those that it starts can see.
enum PrivateMounts {
    private static let variable = "PENUMBRA_FAULTS_MOUNTS"

    static var areOn: Bool { getenv(variable) != nil }

    /// Starts this program again in a mount namespace of its own, where that is allowed; else returns.
    static func enter() {
        guard !areOn, geteuid() == 0, access("/usr/bin/unshare", X_OK) == 0 else { return }
        guard succeeds("/usr/bin/unshare", ["-m", "true"]) else { return }
        setenv(variable, "1", 1)
        var arguments = (["unshare", "-m", "--propagation", "private", "--"] + CommandLine.arguments).map { strdup($0) }
        if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            arguments[5] = strdup(own)
        }
        execv("/usr/bin/unshare", arguments + [nil])
        unsetenv(variable)
    }

    /// - Parameter options: of a tmpfs.
    static func mount(_ folder: String, _ options: String) -> Bool {
        succeeds("/bin/mount", ["-t", "tmpfs", "-o", "\(options),mode=755", "none", folder])
    }

    /// - Returns: false while files are being written.
    static func remount(_ folder: String, isReadOnly: Bool) -> Bool {
        succeeds("/bin/mount", ["-o", "remount,\(isReadOnly ? "ro" : "rw")", folder])
    }

    static func unmount(_ folder: String) { _ = succeeds("/bin/umount", ["-l", folder]) }

    private static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
        let child = try? ChildProcess(
            program, arguments, environment: ["PATH": "/usr/bin:/bin"], output: .file("/dev/null"),
            errors: .file("/dev/null"))
        return child?.wait(seconds: 10)?.code == 0
    }
}
