package import JobModel

/// What became of one frame.
package struct FrameRecord: Hashable, Sendable {
    /// As shown to people; whatever is in it is made harmless where it is printed.
    package let input: String
    package let outputs: [ReportedOutput]
    /// Those that stay as they are, whatever became of the others.
    package let kept: [KeptFile]
    package let state: FrameResult
    /// What it took, where it was worked on.
    package let time: Duration?
    /// Of the input, where it was opened.
    package let megapixels: Double?
    package let before: Thumbnail?
    package let after: Thumbnail?

    package init(
        input: String, outputs: [ReportedOutput], kept: [KeptFile] = [], state: FrameResult, time: Duration? = nil,
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

/// An output that stays as it is, and why.
package struct KeptFile: Hashable, Sendable {
    /// As shown to people.
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
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
