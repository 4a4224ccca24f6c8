import CProcessLimits
import Glibc
package import WorkerProtocol

/// How the worker processes of a farm are limited during their tasks.
package struct WorkerLimits: Hashable, Sendable {
    /// The part of the farm's memory that each worker has by the settings, in bytes.
    package let share: Int
    /// Whether a worker that cannot be limited gets no tasks.
    package let isRequired: Bool

    package init(share: Int, isRequired: Bool) {
        self.share = share
        self.isRequired = isRequired
    }

    /// Limits a process that gets no task.
    ///
    /// - Returns: why it cannot be limited. Nil if it is, or has ended already.
    func problem(of process: Int32) -> String? {
        let limits = TaskLimits(.compare(DigestTask(files: [])), pixelBytes: nil, readBytes: 0, share: share)
        let code = limits.apply(to: process)
        return code == 0 || code == ESRCH ? nil : Self.reason(code)
    }

    /// Why a worker is not limited, as the end of a sentence.
    ///
    /// - Parameter code: the error of the system call.
    static func reason(_ code: Int32) -> String {
        "this process may not limit the memory and the files of workers (prlimit: \(String(cString: strerror(code))))"
    }
}

/// The limits of a worker process during one task: how much memory it may have, and how large a file it may write.
///
/// The coordinator sets them from outside before each order. A worker in a sandbox cannot change them. A limit is several times
/// what a task needs, so that only a broken or hostile picture reaches it. Without limits, such a picture may fill the memory or
/// the disk of the machine, and stop all others.
package struct TaskLimits: Hashable, Sendable {
    /// The most private memory in bytes, used or not (RLIMIT_DATA). Nil for no limit.
    package let memory: Int?
    /// The largest file in bytes (RLIMIT_FSIZE). Nil for no limit.
    package let fileSize: Int?

    /// Libraries, threads and the working memory of decoders and encoders, which does not depend on the picture.
    private static let leastMemory = 4 << 30

    /// A file beside its pixels: profiles, metadata, and the tables of its format.
    private static let leastFile = 64 << 20

    /// Files of formats that compress nothing are hardly larger than their pixels.
    private static let fileFactor = 4

    /// Encoders keep several copies of a picture, with more bits, and notes about each block. The one of AVIF (aom) uses 60 bytes for a
    /// pixel of three.
    private static let memoryFactor = 16

    /// - Parameters:
    ///   - pixelBytes: ``ProbeReceipt/pixelBytes`` of the task's frame. Nil before its probe.
    ///   - readBytes: the sizes of the files that the task reads. Some are copied into memory files, and parts of the input into
    ///     each output.
    ///   - share: the part of the farm's memory that the worker has.
    package init(_ spec: TaskSpec, pixelBytes: Int?, readBytes: Int, share: Int) {
        let least = Self.sum(0, share, times: 4).map { max(Self.leastMemory, $0) }
        let most = pixelBytes ?? spec.largestPixelBytes
        memory = least.flatMap { least in most.flatMap { Self.sum(least, $0, times: Self.memoryFactor) } }
        // Before the probe, the size of an output is unknown, unless only a small picture is rendered.
        let known = pixelBytes ?? (spec.boundsWrittenFiles ? spec.largestPixelBytes : nil)
        fileSize = known.flatMap { Self.sum(Self.leastFile, $0, times: Self.fileFactor) }.flatMap {
            Self.sum($0, readBytes, times: 1)
        }
    }

    /// Nil if it is too large for a number.
    private static func sum(_ bytes: Int, _ more: Int, times factor: Int) -> Int? {
        let (product, overflows) = max(0, more).multipliedReportingOverflow(by: factor)
        let (sum, overflowsAgain) = bytes.addingReportingOverflow(product)
        return overflows || overflowsAgain ? nil : sum
    }
}

extension TaskLimits {
    /// Limits a process of this user. Only the soft limits are set, because a hard one could not be raised for the next task.
    ///
    /// - Returns: 0, or the error code of a system call.
    package func apply(to process: Int32) -> Int32 {
        -process_limits_set(process, Self.bytes(memory), Self.bytes(fileSize))
    }

    private static func bytes(_ limit: Int?) -> UInt64 { limit.map { UInt64($0) } ?? UInt64.max }
}
