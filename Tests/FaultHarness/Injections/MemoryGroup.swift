import Foundation
import Glibc

/// A control group whose processes may have only so much memory together.
struct MemoryGroup {
    /// In the first version of control groups each resource has its own tree.
    private static let first = "/sys/fs/cgroup/memory"
    private static let second = "/sys/fs/cgroup"

    let path: String

    /// The folder in which groups are made, and the name of their limit; nil where there is none.
    private static var place: (folder: String, limit: String)? {
        guard geteuid() == 0 else { return nil }
        if access("\(first)/cgroup.procs", W_OK) == 0 { return (first, "memory.limit_in_bytes") }
        let given = (try? String(contentsOfFile: "\(second)/cgroup.subtree_control", encoding: .utf8)) ?? ""
        return given.split(separator: " ").contains { $0.hasPrefix("memory") } ? (second, "memory.max") : nil
    }

    static var canBeMade: Bool {
        guard let place else { return false }
        let trial = "\(place.folder)/penumbra-faults-\(getpid())"
        defer { rmdir(trial) }
        return mkdir(trial, 0o755) == 0
    }

    init(of stage: Stage) throws {
        guard let place = Self.place else { throw Skip(reason: "needs a memory control group") }
        path = "\(place.folder)/penumbra-faults-\(getpid())-\(stage.result.seed)"
        guard mkdir(path, 0o755) == 0 else { throw Skip(reason: "no control group can be made") }
        let limit = Int.random(in: 24...260, using: &stage.random) << 20
        let file = open("\(path)/\(place.limit)", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        guard file >= 0, Bytes.write(Array("\(limit)".utf8), to: file) else {
            throw StageProblem(description: "\(path): the limit cannot be set")
        }
    }

    /// Starts a program in it.
    var wrapper: [String] { ["/bin/sh", "-c", "echo $$ > \"$0/cgroup.procs\"; exec \"$@\"", path] }

    /// Once all of its processes are gone.
    func remove() {
        for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { pause(0.02) }
    }
}
