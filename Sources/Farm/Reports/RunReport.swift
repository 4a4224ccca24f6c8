package import JobModel

/// What one run of a job did, as reports tell it.
package struct RunReport: Hashable, Sendable {
    package let job: String
    /// As shown to people.
    package let manifest: String
    package let started: Moment
    package let ended: Moment
    /// By a clock that nobody sets.
    package let elapsed: Duration
    /// 0 when all is well.
    package let exitCode: Int32
    /// Why it ended before its work did, in words.
    package let stopped: String?
    /// Causes that no frame had are counted, too.
    package let counts: RunCounts
    package let bytesRead: Int
    package let workers: Int
    /// Workers that died and were replaced.
    package let workersReplaced: Int
    /// In the order in which they are shown; may be fewer than were counted.
    package let frames: [FrameRecord]
    /// Outputs whose inputs are gone.
    package let orphans: [String]
    /// Worker slots that were given up in the run.
    package let retiredSlots: Int
    /// What the run was set to.
    package let settings: [Fact]
    /// Of the programs and libraries that took part.
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
        /// Since 1970.
        package let seconds: Double

        package init(text: String, seconds: Double) {
            self.text = text
            self.seconds = seconds
        }
    }

    /// A name and what it stands for.
    package struct Fact: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

/// What became of one frame.
package struct FrameRecord: Hashable, Sendable {
    /// As shown to people; whatever is in it is made harmless where it is printed.
    package let input: String
    package let outputs: [ReportedOutput]
    /// Those that stay as they are, whatever became of the others.
    package let kept: [FileReason]
    package let state: FrameResult
    /// What it took, where it was worked on.
    package let time: Duration?
    /// Of the input, where it was opened.
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
    /// What is known of a file that is there.
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

    /// As shown to people.
    package let path: String
    package let file: File?

    package init(path: String, file: File? = nil) {
        self.path = path
        self.file = file
    }
}

/// A small picture, as a file in memory.
package struct Thumbnail: Hashable, Sendable {
    /// By MIME type: what every browser shows.
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
