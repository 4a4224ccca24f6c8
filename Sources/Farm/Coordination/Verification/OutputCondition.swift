package import JobModel

/// What has become of an output since it was published.
package enum OutputCondition: Hashable, Sendable {
    case asPublished
    case missing
    /// It has fewer bytes than it had.
    case truncated(bytes: Int)
    /// It has other bytes, or something else is in its place.
    case changed
    /// It has the bytes of another output that was published, and that one has this one's.
    case swapped(with: String)
    /// It has the bytes of another output that was published, and that one has not this one's.
    case copied(of: String)
    /// It could not be read, and why.
    case unreadable(String)

    package var isDamage: Bool { self != .asPublished }

    /// - Parameter found: what a worker read.
    init(of record: FileFacts, found: FileFacts, isFolder: Bool) {
        if found.digest == record.digest {
            self = .asPublished
        } else if !isFolder, found.stamp.size < record.stamp.size {
            self = .truncated(bytes: found.stamp.size)
        } else {
            self = .changed
        }
    }
}

/// An output, and what was found in its place.
package struct VerifiedOutput: Hashable, Sendable {
    /// As it is known now: a run may have replaced it meanwhile.
    package let output: RecordedOutput
    package internal(set) var condition: OutputCondition
    /// Nil where nothing could be read.
    package let found: FileFacts?
}
