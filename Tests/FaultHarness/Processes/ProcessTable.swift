import Foundation
import Glibc

/// The processes of one scenario, found by a variable of their environment: no other process is ever touched.
struct ProcessTable {
    /// Every process that a scenario starts inherits this variable; its value is the workspace's path.
    static let mark = "PENUMBRA_FAULTS_HOME"

    /// A workspace, or a folder that workspaces lie below.
    let home: String
    var isParent = false

    /// All that live now; zombies have no environment any more and do not count.
    var living: [pid_t] {
        let needle = Data("\(Self.mark)=\(home)\(isParent ? "/" : "\0")".utf8)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            guard process != getpid(), let text = Self.read("/proc/\(process)/environ") else { return false }
            return text.range(of: needle) != nil
        }
    }

    /// The worker processes of a coordinator. Any of its threads may have started one.
    static func children(of process: pid_t) -> [pid_t] {
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.flatMap { thread in
            let text = read("/proc/\(process)/task/\(thread)/children").map { String(decoding: $0, as: UTF8.self) }
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Kills whatever is left of the scenario.
    func killAll() {
        for _ in 0..<50 {
            let left = living
            if left.isEmpty { return }
            for process in left { kill(process, SIGKILL) }
            pause(0.01)
        }
    }

    /// Waits until none lives, and returns those that stay.
    func leftovers(after seconds: Double) -> [pid_t] {
        let end = Moment.now + seconds
        var left = living
        while !left.isEmpty, Moment.now < end {
            pause(0.01)
            left = living
        }
        return left
    }

    static func commandLine(_ process: pid_t) -> String {
        let bytes = read("/proc/\(process)/cmdline") ?? Data()
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// Files of /proc have no size, and vanish while they are read.
    private static func read(_ path: String) -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return count < 0 ? nil : result }
            result.append(contentsOf: buffer[..<count])
        }
    }
}
