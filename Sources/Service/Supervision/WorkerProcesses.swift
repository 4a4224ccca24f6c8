import Glibc
import Runs
import SafeFiles
import WorkerProtocol

/// A process that works for a run of this machine.
package struct RunProcess: Hashable, Sendable {
    package let id: Int
    /// The name of the run, as its environment has it.
    package let run: String
    /// What it has in memory, in bytes. Nil if it has just ended.
    package let residentBytes: Int?
}

package enum WorkerProcesses {
    /// In bytes. A process with a larger environment is left out.
    private static let largestFile = 1 << 20

    /// The worker processes of this user, sorted by their numbers. This is a report: any process could have such an environment.
    package static func all() -> [RunProcess] {
        FileSystem.names(in: "/proc").compactMap { pid_t($0) }.sorted().compactMap(process)
    }

    private static func process(_ id: pid_t) -> RunProcess? {
        var found = stat()
        guard stat("/proc/\(id)", &found) == 0, found.st_uid == geteuid() else { return nil }
        let variables = (contents("/proc/\(id)/environ") ?? []).split(separator: 0)
        let prefix = "\(CoordinatorToken.variable)=".utf8
        guard let token = variables.first(where: { $0.starts(with: prefix) }),
            variables.contains(where: { $0.starts(with: "\(PluginConditions.variable)=".utf8) }),
            let name = token.dropFirst(prefix.count).split(separator: UInt8(ascii: "/")).first,
            let run = String(validating: name, as: UTF8.self)
        else { return nil }
        // The second number counts pages.
        let pages = contents("/proc/\(id)/statm")?.split(separator: UInt8(ascii: " ")).dropFirst().first
        let count = pages.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        return RunProcess(id: Int(id), run: run, residentBytes: count.map { $0 * Int(getpagesize()) })
    }

    /// Files of `/proc` have no size. Those of other users' processes cannot be read.
    private static func contents(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= largestFile {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += buffer.prefix(count)
        }
        return nil
    }
}
