package import JobModel

/// The report of one run of a job.
package struct RunReport: Hashable, Sendable {
    package let job: String
    /// The path as messages show it.
    package let manifest: String
    package let started: Moment
    package let ended: Moment
    /// The duration by a monotonic clock.
    package let elapsed: Duration
    /// 0 if all is well.
    package let exitCode: Int32
    /// Why the run stopped early, in words.
    package let stopped: String?
    /// Causes without a failure have a count, too.
    package let counts: RunCounts
    package let bytesRead: Int
    package let workers: Int
    /// Workers that died and were replaced.
    package let workersReplaced: Int
    /// In the order of the page. It may have fewer frames than were counted.
    package let frames: [FrameRecord]
    /// Outputs whose inputs are gone.
    package let orphans: [String]
    /// The number of worker slots that the run retired.
    package let retiredSlots: Int
    /// The settings of the job.
    package let settings: [Fact]
    /// The versions of programs and libraries.
    package let versions: [Fact]

    package init(
        job: String, manifest: String, started: Moment, ended: Moment, elapsed: Duration, exitCode: Int32,
        stopped: String? = nil, counts: RunCounts, bytesRead: Int, workers: Int,
        workersReplaced: Int = 0, frames: [FrameRecord], orphans: [String] = [],
        retiredSlots: Int = 0, settings: [Fact] = [], versions: [Fact] = []
    ) {
        self.job = job
        self.manifest = manifest
        self.started = started
        self.ended = ended
        self.elapsed = elapsed
        self.exitCode = exitCode
        self.stopped = stopped
        self.counts = counts
        self.bytesRead = bytesRead
        self.workers = workers
        self.workersReplaced = workersReplaced
        self.frames = frames
        self.orphans = orphans
        self.retiredSlots = retiredSlots
        self.settings = settings
        self.versions = versions
    }

    package var isWell: Bool { exitCode == 0 }
}

extension RunReport {
    /// A time, for people and for programs.
    package struct Moment: Hashable, Sendable {
        /// UTC as ISO 8601: `2026-11-21T21:30:00Z`.
        package let text: String
        /// Seconds since 1970.
        package let seconds: Double

        package init(text: String, seconds: Double) {
            self.text = text
            self.seconds = seconds
        }
    }

    /// A name with a value.
    package struct Fact: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

/// The report of one frame.
package struct FrameRecord: Hashable, Sendable {
    /// The path as messages show it. The page escapes it.
    package let input: String
    package let outputs: [ReportedOutput]
    /// The kept outputs.
    package let kept: [FileReason]
    package let state: FrameResult
    /// The time of the frame's work, if it had any.
    package let time: Duration?
    /// The size of the input, if it was opened.
    package let megapixels: Double?
    package let before: Thumbnail?
    package let after: Thumbnail?

    package init(
        input: String, outputs: [ReportedOutput], kept: [FileReason] = [], state: FrameResult, time: Duration? = nil,
        megapixels: Double? = nil, before: Thumbnail? = nil, after: Thumbnail? = nil
    ) {
        self.kept = kept
        self.input = input
        self.outputs = outputs
        self.state = state
        self.time = time
        self.megapixels = megapixels
        self.before = before
        self.after = after
    }
}

/// One output of a frame.
package struct ReportedOutput: Hashable, Sendable {
    /// A file that was written.
    package struct File: Hashable, Sendable {
        package let bytes: Int
        package let width: Int
        package let height: Int
        package let digest: Digest

        package init(bytes: Int, width: Int, height: Int, digest: Digest) {
            self.bytes = bytes
            self.width = width
            self.height = height
            self.digest = digest
        }
    }

    /// The path as messages show it.
    package let path: String
    package let file: File?

    package init(path: String, file: File? = nil) {
        self.path = path
        self.file = file
    }
}

/// A thumbnail as a file in memory.
package struct Thumbnail: Hashable, Sendable {
    /// A format that every browser shows, by its MIME type.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case jpeg = "image/jpeg"
        case png = "image/png"
        case webp = "image/webp"
    }

    package let format: Format
    package let bytes: [UInt8]

    package init(format: Format, bytes: [UInt8]) {
        self.format = format
        self.bytes = bytes
    }
}
