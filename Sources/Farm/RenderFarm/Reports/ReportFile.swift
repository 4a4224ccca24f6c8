import Coordination
import FoundationEssentials
import Glibc
package import JobModel
import JobStorage
import Planning
import Reports
import Runs
import SafeFiles

/// A file that describes runs. It replaces the old file in one step, and never a file that Penumbra did not write.
package struct ReportFile {
    package enum Kind {
        case page
        case metrics
        /// The index of this job.
        case index(job: String)

        fileprivate var ending: String {
            switch self {
            case .page: ".html"
            case .metrics: ".prom"
            case .index: ".json"
            }
        }

        fileprivate var option: String {
            switch self {
            case .page: "--report"
            case .metrics: "--metrics"
            case .index: "index"
            }
        }

        fileprivate func isOurs(_ head: [UInt8]) -> Bool {
            let text = String(decoding: head, as: UTF8.self)
            return switch self {
            case .page: text.contains(#"<meta name="generator" content="Penumbra">"#)
            case .metrics: text.hasPrefix("# HELP penumbra_")
            case .index: AssetIndex.isOurs(head)
            }
        }

        /// The other job that owns the file.
        fileprivate func otherOwner(_ head: [UInt8]) -> String? {
            guard case .index(let job) = self, let owner = AssetIndex.job(in: head), owner != job else { return nil }
            return owner
        }
    }

    /// The absolute path.
    let path: String
    let kind: Kind
    /// The path as the user wrote it.
    private let shown: String

    /// Checks the path before anything starts.
    ///
    /// - Throws: ``FarmError`` if the file has a wrong name, or would replace another file.
    package init(_ path: String, _ kind: Kind, in folder: String) throws(FarmError) {
        self.path = PathText.normalized(path, in: folder)
        self.kind = kind
        guard path.lowercased().hasSuffix(kind.ending) else {
            throw FarmError(.usage, "\(kind.option): '\(path)' does not end in \(kind.ending)")
        }
        shown = path
        try refuseForeign()
    }

    /// Throws if the rights of its folder, or something in the folder's place, forbid the file.
    func refuseForbidden() throws(FarmError) {
        do throws(FileError) {
            try WritableFolder.refuseForbidden(PathText.folder(of: path))
        } catch {
            throw storageError(error)
        }
    }

    private func refuseForeign() throws(FarmError) {
        guard let head = try head() else { return }
        guard kind.isOurs(head) else {
            throw FarmError(
                .badManifest,
                "\(kind.option): \(shown) is there, and Penumbra did not write it\n   = take another name, or remove it"
            )
        }
        guard let owner = kind.otherOwner(head) else { return }
        throw FarmError(
            .badManifest,
            "\(kind.option): \(shown) is the index of the job '\(VisibleText.line(owner))'\n   = give each job an index of its own; if that job "
                + "is no more, or has a new name, remove the file")
    }

    /// The first bytes of the file; nil if there is none.
    private func head() throws(FarmError) -> [UInt8]? {
        do throws(FileError) {
            guard let file = try opened() else { return nil }
            // A folder, a pipe or a device is no file of Penumbra's.
            return try file.status().st_mode & S_IFMT == S_IFREG ? file.next(4096) : []
        } catch {
            throw storageError(error)
        }
    }

    /// Opens what is at the path. The user has named it, so that links are followed. A pipe is not waited for. Nil if nothing is
    /// there.
    private func opened() throws(FileError) -> SafeFile? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError(path: path, code: errno, action: "open")
        }
        return SafeFile(taking: descriptor, path)
    }

    /// The largest file that is read into memory, in bytes. The metrics of 100,000 jobs have some 100 MB.
    private static let largest = 256 << 20

    /// The text of the old file. Empty if there is none.
    ///
    /// - Throws: ``FarmError`` if it cannot be read, or is larger than any that Penumbra writes.
    func text() throws(FarmError) -> String {
        do throws(FileError) {
            guard let file = try openedRegular() else { return "" }
            var bytes: [UInt8] = []
            while case let piece = try file.next(), !piece.isEmpty {
                bytes += piece
                guard bytes.count <= Self.largest else {
                    throw FileError(
                        path: path, code: EFBIG, action: "read", reason: "it is larger than \(Self.largest) bytes",
                        remedy: "remove it, or choose another path")
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw storageError(error)
        }
    }

    /// Whether the file has exactly these contents. It is read in pieces, because an index may be large.
    private func holds(_ bytes: [UInt8]) throws(FileError) -> Bool {
        guard let file = try openedRegular(), try file.status().st_size == bytes.count else { return false }
        var rest = bytes[...]
        while case let piece = try file.next(), !piece.isEmpty {
            guard rest.starts(with: piece) else { return false }
            rest = rest.dropFirst(piece.count)
        }
        return rest.isEmpty
    }

    /// Nil if nothing is there, or something that is no regular file.
    private func openedRegular() throws(FileError) -> SafeFile? {
        guard let file = try opened(), try file.status().st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }

    /// Writes the file, unless it has these contents already. It never replaces a file of somebody else.
    ///
    /// - Parameter claim: the run whose journal records the temporary file.
    func write(_ bytes: [UInt8], _ claim: RunClaim) throws {
        try write(bytes) { try claim.temporaryPath(in: PathText.folder(of: path), for: "report") }
    }

    /// Writes the file without a run. The next write replaces a temporary file that a killed process left.
    func writeUnstarted(_ bytes: [UInt8]) throws {
        try write(bytes) { "\(PathText.folder(of: path))/.penumbra-\(PathText.name(of: path))-unstarted" }
    }

    private func write(_ bytes: [UInt8], temporary: () throws -> String) throws {
        // If the old file cannot be read, the next line says why.
        guard (try? holds(bytes)) != true else { return }
        try refuseForeign()
        let temporary = try temporary()
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, by: temporary)
        } catch {
            // The user knows nothing of the temporary file.
            let path = error.path == temporary ? path : error.path
            throw storageError(
                FileError(
                    path: path, code: error.code, action: error.action, reason: error.reason, remedy: error.remedy))
        }
    }

    private func storageError(_ error: FileError) -> FarmError {
        FarmError(.storage, "\(kind.option): \(error.message(orChoose: "another path"))")
    }
}

/// The index that a manifest asks for. It lists only files that are as they were published.
struct IndexFile {
    let file: ReportFile
    private let prepared: PreparedJob

    /// Nil if the job has no index.
    init?(_ prepared: PreparedJob) throws(FarmError) {
        guard let path = prepared.job.index else { return nil }
        file = try ReportFile(path, .index(job: prepared.job.name), in: prepared.job.folder)
        self.prepared = prepared
    }

    /// Refuses one path for the indexes of several jobs.
    static func refuseShared(_ indexes: [IndexFile]) throws(FarmError) {
        var owners: [PathKey: String] = [:]
        for index in indexes {
            guard let other = owners.updateValue(index.prepared.job.name, forKey: PathKey(index.file.path))
            else { continue }
            throw FarmError(
                .badManifest,
                "\(index.file.path): both '\(other)' and '\(index.prepared.job.name)' would write this index\n"
                    + "   = give each job an index of its own")
        }
    }

    /// - Parameter records: all outputs that the job has published.
    func write(_ records: [OutputRecord], _ claim: RunClaim) throws {
        let folder = PathText.folder(of: file.path)
        let formats = Dictionary(
            prepared.targets.flatMap { zip($0.outputs, $0.frame.formats) }.map { (PathKey($0), $1) }
        ) { $1 }
        let entries = current(records).map { record in
            AssetIndex.Entry(
                source: AssetIndex.path(record.input, relativeTo: prepared.job.folder),
                outputs: [
                    AssetIndex.Output(
                        path: AssetIndex.path(record.path, relativeTo: folder), bytes: record.file.stamp.size,
                        digest: record.file.digest, width: record.width, height: record.height,
                        format: formats[PathKey(record.path)] ?? PathText.split(name: record.path).ext)
                ])
        }
        try file.write(AssetIndex(job: prepared.job.name, entries: entries).json, claim)
    }

    private struct Key: Hashable {
        let input: PathKey
        let page: Int
        let part: Int
    }

    /// One record for each output of each frame: the planned output, or the latest one if that failed.
    private func current(_ records: [OutputRecord]) -> [OutputRecord] {
        let frames = JobFrames(prepared)
        let planned = Set(prepared.targets.lazy.flatMap(\.outputs).map(PathKey.init))
        var latest: [Key: OutputRecord] = [:]
        for record in inPlace(records.filter(frames.have)) {
            let key = Key(input: PathKey(record.input), page: record.page, part: record.part)
            guard let other = latest[key] else {
                latest[key] = record
                continue
            }
            let isPlanned = (planned.contains(PathKey(record.path)), planned.contains(PathKey(other.path)))
            let isLater = record.file.stamp.modified >= other.file.stamp.modified
            if isPlanned.0 && !isPlanned.1 || isPlanned.0 == isPlanned.1 && isLater { latest[key] = record }
        }
        return latest.sorted { ($0.key.page, $0.key.part) < ($1.key.page, $1.key.part) }.map(\.value)
    }

    /// The records whose files exist and are unchanged.
    private func inPlace(_ records: [OutputRecord]) -> [OutputRecord] {
        let bySize = prepared.job.compare == .size
        let isInPlace = concurrentMap(records, keeping: OutputLookup()) { record, lookup in
            guard let stamp = lookup.stamp(at: record.path, isFolder: true) else { return false }
            // `compare: size` is for file systems on which times and inodes change.
            return bySize ? stamp.size == record.file.stamp.size : stamp.isUntouched(since: record.file.stamp)
        }
        return zip(records, isInPlace).filter(\.1).map(\.0)
    }
}

/// The known frames of a job.
private struct JobFrames {
    private struct Frame: Hashable {
        let input: PathKey
        let page: Int
    }

    private let parts: Int
    /// False for a run of some frames. The others are unknown then.
    private let isWhole: Bool
    private let inputs: Set<PathKey>
    /// The inputs whose pages are known.
    private let named: Set<PathKey>
    private let frames: Set<Frame>

    init(_ prepared: PreparedJob) {
        parts = prepared.job.outputs.count
        isWhole = prepared.isWhole
        inputs = Set(prepared.plan.frames.map { PathKey($0.input.path) })
        named = Set(prepared.targets.map { PathKey($0.files.input) })
        frames = Set(prepared.targets.map { Frame(input: PathKey($0.files.input), page: $0.files.page) })
    }

    /// Whether an output belongs to one of the frames.
    func have(_ record: OutputRecord) -> Bool {
        guard record.part < parts else { return false }
        let input = PathKey(record.input)
        guard named.contains(input) else { return !isWhole || inputs.contains(input) }
        return frames.contains(Frame(input: input, page: record.page))
    }
}
