import FoundationEssentials
import Glibc
import JobModel
import Planning
package import SafeFiles
import WorkerProtocol

/// `coordinator.<epoch>` in a run's folder: who has the run. The file with the highest epoch counts.
///
/// It holds the secret of this coordinator's token (``CoordinatorToken``).
package enum CoordinatorClaim {
    /// Part of the names of files that this process writes aside. No other process has it.
    package static let temporarySuffix = CoordinatorToken.newSecret()

    /// A run that nobody went on with for so long is given up, in seconds.
    private static let resumableTime = 7.0 * 24 * 3600

    /// A coordinator on another machine that was not heard of for so long is gone, in nanoseconds.
    private static let silence: Int64 = 60_000_000_000
    /// How often a coordinator is to be heard of, where others cannot see its lock.
    static let heartbeat = Duration.seconds(10)

    private static let mostEpochs = 1_000_000
    /// In bytes: 32 digits, and the name of a machine.
    private static let largestSecret = 400

    package static func path(_ epoch: Int, _ folder: String) -> String { "\(folder)/coordinator.\(epoch)" }

    package static func exists(epoch: Int, in folder: String) -> Bool { FileSystem.exists(path(epoch, folder)) }

    /// Creates the file, unless somebody else has.
    package static func take(epoch: Int, as token: CoordinatorToken, in folder: String) throws(FileTrouble) {
        let path = path(epoch, folder)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "claim the run") }
        close(file)
        try FileSystem.append(Array(token.secret.utf8), to: path, syncs: true)
    }

    /// 0 when nobody has had it.
    static func latestEpoch(in folder: String) -> Int {
        FileSystem.names(in: folder).compactMap { name in
            guard name.hasPrefix("coordinator."), let epoch = Int(name.dropFirst("coordinator.".count)) else {
                return nil
            }
            // No run has so many coordinators: a larger number is somebody else's.
            return (1...mostEpochs).contains(epoch) ? epoch : nil
        }.max() ?? 0
    }

    /// The latest coordinator has let the run go, or was on this machine, where the kernel's lock tells of it, or was not
    /// heard of for a minute. (Not on every network file system do locks reach beyond a machine.)
    package static func isQuiet(_ folder: String) -> Bool {
        let latest = latestEpoch(in: folder)
        let path = path(latest, folder)
        guard latest > 0, !FileSystem.exists("\(folder)/released.\(latest)"),
            let data = SafeFolder.trustedContents(path, limit: largestSecret),
            let other = String(decoding: data, as: UTF8.self).split(separator: "@").dropFirst().first,
            other != CoordinatorToken.host,
            let heard = FileSystem.stamp(path)?.modified
        else { return true }
        // Machines' clocks differ: the file system's own counts.
        let probe = "\(folder)/now.\(temporarySuffix)"
        defer { FileSystem.remove(probe) }
        guard (try? FileSystem.append(Array("now".utf8), to: probe)) != nil,
            let now = FileSystem.stamp(probe)?.modified
        else { return false }
        // A file may be of any time.
        let (age, isTooMuch) = now.subtractingReportingOverflow(heard)
        return isTooMuch ? now > heard : age > silence
    }

    /// Another may have the run at once.
    package static func release(epoch: Int, in folder: String) throws(FileTrouble) {
        try FileSystem.append([], to: "\(folder)/released.\(epoch)")
    }

    /// Says that the coordinator lives.
    package static func beat(epoch: Int, in folder: String) {
        utimensat(AT_FDCWD, path(epoch, folder), nil, AT_SYMLINK_NOFOLLOW)
    }

    /// Nobody had the run for a month: what it left on a disk that is away is looked for no longer.
    static func isForgotten(_ folder: String) -> Bool {
        guard let stamp = FileSystem.stamp("\(folder)/journal") else { return true }
        return Double(stamp.modified) / 1e9 < Date().timeIntervalSince1970 - 30 * 24 * 3600
    }

    /// It can be gone on with, and the last coordinator had it some days ago at most.
    package static func isTooRecent(_ folder: String) -> Bool {
        let epoch = latestEpoch(in: folder)
        // After a power failure nobody may know whose it is.
        guard epoch > 0, FileSystem.size("\(folder)/job") ?? 0 > 0, let stamp = FileSystem.stamp(path(epoch, folder))
        else { return false }
        return Double(stamp.modified) / 1e9 > Date().timeIntervalSince1970 - resumableTime
    }

    /// Workers leave when their coordinator ends. One that was stopped, or hangs, does not: it is killed with all that it
    /// started.
    static func endWorkers(ofEpoch epoch: Int, in folder: String) {
        guard let data = SafeFolder.trustedContents(path(epoch, folder), limit: largestSecret), isSecret(data) else {
            return
        }
        let wanted = Array("\(CoordinatorToken.variable)=\(PathText.name(of: folder))/".utf8) + data
        for name in FileSystem.names(in: "/proc") {
            guard let process = pid_t(name), process != getpid(), isOwn(process),
                let environment = contents("/proc/\(name)/environ")?.split(separator: 0),
                environment.contains(where: { $0.elementsEqual(wanted) }),
                // What no process has but a worker, and what a worker has started.
                environment.contains(where: { $0.starts(with: "\(PluginConditions.variable)=".utf8) })
            else { continue }
            _ = kill(process, SIGKILL)
        }
    }

    /// 32 hexadecimal digits, and a machine. The file may be another's.
    private static func isSecret(_ data: [UInt8]) -> Bool {
        data.dropFirst(32).first == UInt8(ascii: "@")
            && data.prefix(32).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Root could end anybody's.
    private static func isOwn(_ process: pid_t) -> Bool {
        var found = stat()
        return stat("/proc/\(process)", &found) == 0 && found.st_uid == geteuid()
    }

    private static func contents(_ path: String) -> [UInt8]? {
        // Files of /proc have no size, and those of others' processes cannot be read.
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}

/// Tells the workers of one coordinator of one run from all other processes.
///
/// Each worker has the run's name and the secret in its environment. The claim in the run's folder holds the secret.
package struct CoordinatorToken: Hashable, Sendable {
    /// The environment variable of workers that holds the token's text.
    package static let variable = "PENUMBRA_COORDINATOR"

    package static let host = ProcessInfo.processInfo.hostName

    /// The name of the run.
    package let run: String
    /// 32 random hexadecimal digits and the name of this machine. Nobody can guess it.
    let secret: String

    package init(run: String) {
        self.run = run
        secret = Self.newSecret()
    }

    /// What workers have in their environment. With the run's name in it, a claim that was copied to another run's folder
    /// means none of this run's workers.
    package var text: String { "\(run)/\(secret)" }

    static func newSecret() -> String {
        let digits = (0..<2).map { _ in
            let word = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "\(digits.joined())@\(host)"
    }
}
