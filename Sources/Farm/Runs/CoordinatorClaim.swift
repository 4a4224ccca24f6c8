import FoundationEssentials
import Glibc
import JobModel
import Planning
package import SafeFiles
import WorkerProtocol

/// The files `coordinator.<epoch>` in a run's folder. The file with the highest epoch belongs to the run's coordinator.
///
/// The file contains the secret of the coordinator's token (``CoordinatorToken``).
package enum CoordinatorClaim {
    /// A part of the names of this process's temporary files. No other process uses it.
    package static let temporarySuffix = CoordinatorToken.newSecret()

    /// A run that nobody resumes for this time is abandoned. In seconds.
    private static let resumableTime = 7.0 * 24 * 3600

    /// A coordinator on another machine that is silent for this time counts as dead. In nanoseconds.
    private static let silence: Int64 = 60_000_000_000
    /// The time between two signs of life, for machines that cannot see the coordinator's lock.
    package static let heartbeat = Duration.seconds(10)

    private static let mostEpochs = 1_000_000
    /// In bytes: 32 digits and the name of a machine.
    private static let largestSecret = 400

    package static func path(_ epoch: Int, _ folder: String) -> String { "\(folder)/coordinator.\(epoch)" }

    package static func exists(epoch: Int, in folder: String) -> Bool { FileSystem.exists(path(epoch, folder)) }

    /// Creates the file. Fails if it exists.
    package static func take(epoch: Int, as token: CoordinatorToken, in folder: String) throws(FileError) {
        let path = path(epoch, folder)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw FileError(path: path, code: errno, action: "claim the run") }
        close(file)
        try FileSystem.append(Array(token.secret.utf8), to: path, syncs: true)
    }

    /// 0 if the run never had a coordinator.
    static func latestEpoch(in folder: String) -> Int {
        FileSystem.names(in: folder).compactMap { name in
            guard name.hasPrefix("coordinator."), let epoch = Int(name.dropFirst("coordinator.".count)) else {
                return nil
            }
            // No run has so many coordinators. A larger number is foreign.
            return (1...mostEpochs).contains(epoch) ? epoch : nil
        }.max() ?? 0
    }

    /// Whether the latest coordinator has released the run, was on this machine, where the kernel's lock shows whether it
    /// lives, or was silent for a minute. (On some network file systems, locks do not reach other machines.)
    package static func isQuiet(_ folder: String) -> Bool {
        let latest = latestEpoch(in: folder)
        let path = path(latest, folder)
        guard latest > 0, !FileSystem.exists("\(folder)/released.\(latest)"),
            let data = SafeFolder.trustedContents(path, limit: largestSecret),
            let other = String(decoding: data, as: UTF8.self).split(separator: "@").dropFirst().first,
            other != CoordinatorToken.host,
            let lastSign = FileSystem.stamp(path)?.modified
        else { return true }
        // Machines' clocks differ, so the clock of the file system is used.
        let probe = "\(folder)/now.\(temporarySuffix)"
        defer { FileSystem.remove(probe) }
        guard (try? FileSystem.append(Array("now".utf8), to: probe)) != nil,
            let now = FileSystem.stamp(probe)?.modified
        else { return false }
        // The time of a file may be any number.
        let (age, isTooMuch) = now.subtractingReportingOverflow(lastSign)
        return isTooMuch ? now > lastSign : age > silence
    }

    /// Lets another coordinator claim the run at once.
    package static func release(epoch: Int, in folder: String) throws(FileError) {
        try FileSystem.append([], to: "\(folder)/released.\(epoch)")
    }

    /// Gives a sign of life.
    package static func beat(epoch: Int, in folder: String) {
        utimensat(AT_FDCWD, path(epoch, folder), nil, AT_SYMLINK_NOFOLLOW)
    }

    /// Whether nobody had the run for a month. Then its files on missing disks are not looked for any more.
    static func isForgotten(_ folder: String) -> Bool {
        guard let stamp = FileSystem.stamp("\(folder)/journal") else { return true }
        return Double(stamp.modified) / 1e9 < Date().timeIntervalSince1970 - 30 * 24 * 3600
    }

    /// Whether the run can be resumed, and had a coordinator recently.
    package static func isTooRecent(_ folder: String) -> Bool {
        let epoch = latestEpoch(in: folder)
        // After a power failure, the job of a run may be unknown.
        guard epoch > 0, FileSystem.size("\(folder)/job") ?? 0 > 0, let stamp = FileSystem.stamp(path(epoch, folder))
        else { return false }
        return Double(stamp.modified) / 1e9 > Date().timeIntervalSince1970 - resumableTime
    }

    /// Kills workers of a run that has no coordinator any more, for a program that sees processes which the run's next
    /// coordinator cannot see.
    package static func endWorkers(ofLatestCoordinatorIn folder: String) {
        let latest = latestEpoch(in: folder)
        if latest > 0 { endWorkers(ofEpoch: latest, in: folder) }
    }

    /// Kills workers that outlived their coordinator, because they were stopped or hang, and everything that they started.
    static func endWorkers(ofEpoch epoch: Int, in folder: String) {
        guard let data = SafeFolder.trustedContents(path(epoch, folder), limit: largestSecret), isSecret(data) else {
            return
        }
        let wanted = Array("\(CoordinatorToken.variable)=\(PathText.name(of: folder))/".utf8) + data
        for name in FileSystem.names(in: "/proc") {
            guard let process = pid_t(name), process != getpid(), isOwn(process),
                let environment = contents("/proc/\(name)/environ")?.split(separator: 0),
                environment.contains(where: { $0.elementsEqual(wanted) }),
                // Only workers, and processes that they started, have this variable.
                environment.contains(where: { $0.starts(with: "\(PluginConditions.variable)=".utf8) })
            else { continue }
            _ = kill(process, SIGKILL)
        }
    }

    /// Whether the data are 32 hexadecimal digits and a machine. The file may be foreign.
    private static func isSecret(_ data: [UInt8]) -> Bool {
        data.dropFirst(32).first == UInt8(ascii: "@")
            && data.prefix(32).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Root could end any user's process.
    private static func isOwn(_ process: pid_t) -> Bool {
        var found = stat()
        return stat("/proc/\(process)", &found) == 0 && found.st_uid == geteuid()
    }

    private static func contents(_ path: String) -> [UInt8]? {
        // Files of /proc have no size. Those of other users' processes cannot be read.
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

/// Distinguishes the workers of one coordinator of one run from all other processes.
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

    /// The value of the variable. It contains the run's name, so that a copied claim in another run's folder does not match
    /// this run's workers.
    package var text: String { "\(run)/\(secret)" }

    static func newSecret() -> String {
        let digits = (0..<2).map { _ in
            let word = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "\(digits.joined())@\(host)"
    }
}
