import Glibc
import JobModel
import JobStorage
package import Queueing
package import Runs
package import SafeFiles

/// What the state folder tells of the run of a job. Everything is read anew, because other programs write there, too.
package struct RunObservation: Sendable {
    private let folder: RunFolder
    private let state: String
    private let name: String

    package init(state: String, run: String) {
        self.state = state
        name = run
        folder = RunFolder(state: state, name: run)
    }

    /// Whether a coordinator has begun the run.
    package var hasBegun: Bool { FileSystem.isFolder(folder.path) }

    /// Whether the database has the run, so that commands find it. Its folder is there a moment before.
    package var isRecorded: Bool { (try? StoredRuns.run(named: name, state: state)) != nil }

    /// Whether some process carries the run out. True if that is unknown.
    package var hasCoordinator: Bool { hasBegun && folder.isAlive }

    /// What the run is doing. Nil before it has a plan.
    package var live: LiveRun? { LiveRun(in: folder) }

    /// Frames and tiles that are finished, as far as it is known. The number never tells more than whether it has grown.
    package var progress: Int { live.map { $0.done + $0.tilesDone } ?? 0 }

    package struct End: Sendable {
        package let remainder: Submission.RunRemainder
        /// The exit code of a run that has ended.
        package let code: Int?
        /// Outputs that it has published.
        package let published: Int
        package let leftovers: JobState.Leftovers
        /// How many frames have failed, and why. Nil if the log has to say why the run failed.
        package var failures: String?

        fileprivate init(
            _ remainder: Submission.RunRemainder, code: Int? = nil, published: Int = 0,
            leftovers: JobState.Leftovers = JobState.Leftovers()
        ) {
            self.remainder = remainder
            self.code = code
            self.published = published
            self.leftovers = leftovers
        }
    }

    /// What is left of the run now that it has no process.
    ///
    /// - Throws: an error if the database cannot be read. Then nothing is known.
    package func end() throws -> End {
        guard let record = try StoredRuns.run(named: name, state: state) else {
            return End(.none)
        }
        guard case .ended(let end) = record.state else { return End(.interrupted) }
        let counts = record.counts
        var found = End(
            .ended, code: end.exitCode, published: counts.published,
            leftovers: JobState.Leftovers(
                kept: counts.kept, by: counts.keptByReason ?? [:], stillBroken: counts.stillBroken))
        if end.exitCode == RunOutcome.someFailed.number, let words = counts.failureWords {
            found.failures = "\(record.job): \(words)"
        } else if let reason = counts.trouble?.reason {
            found.failures = "\(record.job): \(reason)"
        }
        return found
    }

    /// Asks the run to end in good order. Nothing happens before it has begun.
    package func cancel() {
        // It is asked again at the next look.
        if hasBegun { try? folder.ask(.cancel) }
    }

    package func limitWorkers(to count: Int) throws(FileError) { try folder.limitWorkers(to: count) }
}

extension RunCounts {
    /// `2 frames failed: plugin fault`, or with several causes `3 frames failed: 2 not permitted, 1 broken or unreadable picture`.
    ///
    /// The log would not do: it has a line for each cause, and notes about other things after them. Nil if nothing has failed.
    fileprivate var failureWords: String? {
        let causes = (failedByCause ?? [:]).filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        guard let first = causes.first else { return nil }
        let words = causes.count == 1 ? [first.key] : causes.map { "\($0.value) \($0.key)" }
        return (failed == 1 ? "1 frame" : "\(failed) frames") + " failed: " + words.joined(separator: ", ")
    }
}

/// The log of a run's processes.
package enum RunLogFile {
    /// How much of its end is read for a message, in bytes.
    private static let tail = 8192
    /// How much of it is shown, in bytes.
    private static let shown = 256 << 10

    /// The end of a log, from the beginning of a line. Empty if there is none.
    package static func text(at path: String) -> String {
        let bytes = end(of: path, limit: shown)
        let start = bytes.count < shown ? 0 : (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        return String(decoding: bytes[start...], as: UTF8.self)
    }

    /// The last message in a log, without what to do about it. Empty if there is none.
    package static func lastMessage(at path: String) -> String {
        let lines = String(decoding: end(of: path, limit: tail), as: UTF8.self).split(separator: "\n")
        // Remedies and lists of files are indented.
        return lines.last { line in line.first.map { !$0.isWhitespace } ?? false && !isExcerpt(line) }.map(String.init)
            ?? ""
    }

    /// A line of a manifest, with its number: `14 |   - gausian`.
    private static func isExcerpt(_ line: Substring) -> Bool {
        let rest = line.drop { $0.isASCII && $0.isNumber }
        return rest.count < line.count && rest.hasPrefix(" |")
    }

    /// Empty if the file cannot be read.
    private static func end(of path: String, limit: Int) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = pread(file, &bytes, limit, max(0, size - off_t(limit)))
        return Array(bytes.prefix(max(0, count)))
    }
}
