import Catalogs
import Coordination
import JobModel
import Reports
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Makes thumbnails of inputs and outputs. Workers render them like any output.
final class Thumbnails: Sendable {
    private struct State {
        var next = 0
        var made: [PathKey: Thumbnail] = [:]
    }

    /// The most pairs on a page. More would make the page too large.
    static let most = 24

    private let pictures: [Picture]
    private let folder: String
    private let state = Mutex(State())

    private struct Picture: Hashable {
        let path: String
        let bytes: [UInt8]?
        let page: Int
    }

    private init(_ pictures: [Picture], folder: String) {
        self.pictures = pictures
        self.folder = folder
    }

    /// Makes thumbnails of the first published frames. The keys are paths of inputs and outputs. Pictures that fail are left out.
    ///
    /// - Parameter folder: a folder for temporary files.
    static func make(
        of job: JobResult, folder: String, settings: RunSettings, loop: RunLoop
    ) async -> [PathKey: Thumbnail] {
        let published = job.reports.filter { $0.state == .published }.prefix(most)
        let pages = Dictionary(job.prepared.targets.map { (PathKey($0.files.input), $0.files) }) { first, _ in first }
        let pictures = published.flatMap { report in
            [Picture(path: report.input, bytes: report.inputBytes, page: pages[PathKey(report.input)]?.page ?? 0)]
                + report.outputs.prefix(1).map { Picture(path: $0, bytes: nil, page: 0) }
        }
        guard !pictures.isEmpty else { return [:] }
        let thumbnails = Thumbnails(pictures, folder: folder)
        let spec = JobSpec(
            name: "thumbnails", manifestPath: "", folder: folder, inputs: [], chain: [], outputs: [Self.output],
            retries: 0)
        let factory = TaskFactory(
            job: spec, runName: "thumbnails", scratchFolder: folder, tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        _ = await loop.run(
            Scheduler(policy: settings.schedulingPolicy(spec, frames: pictures.count), factory: factory), thumbnails)
        return thumbnails.state.withLock { $0.made }
    }

    /// In bytes. A thumbnail has some ten thousand.
    private static let largest = 4 << 20

    /// The bytes of a thumbnail; nil if it is none. A worker that a picture has taken over may have put a link or another file
    /// in its place, and everybody may read the page.
    private static func contents(of path: String) -> [UInt8]? {
        // A frame without a thumbnail is shown without one.
        // Some file systems show another owner for a file that this user has just created.
        guard let folder = try? SafeFolder(FileSystem.folder(of: path), trusting: .everybody),
            let bytes = try? folder.contents(of: PathNames.last(of: path), limit: largest),
            bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8)
        else { return nil }
        return bytes
    }

    private static let output = JobOutput(
        template: OutputTemplate(source: "{index}.webp", pieces: []),
        chain: [
            FilterInvocation(
                filter: "thumbnail",
                values: [
                    "size": .size(.box(480)), "fit": .word("inside"), "crop": .word("centre"),
                    "enlarge": .boolean(false),
                    "light": .word("encoded"), "background": .color(red: 255, green: 255, blue: 255, alpha: 255),
                ])
        ], save: SaveOptions(metadata: .strip))
}

extension Thumbnails: RunLoop.Delegate {
    func nextFrames(_ count: Int) -> RunLoop.Frames {
        state.withLock { state in
            let range = state.next..<min(state.next + count, pictures.count)
            state.next = range.upperBound
            guard !range.isEmpty else { return .none }
            return .some(range.map(order))
        }
    }

    private func order(_ index: Int) -> FrameOrder {
        let picture = pictures[index]
        return FrameOrder(
            id: FrameID(index + 1), input: picture.path, inputBytes: picture.bytes,
            pages: picture.page > 0 ? .page(picture.page) : .first, formats: ["webp"],
            goal: .publish(outputs: ["\(folder)/\(index + 1).webp"], probe: nil))
    }

    func publish(_ frame: FrameID, _ outputs: [Publication]) async -> PublishFailure? {
        for output in outputs {
            let path = output.receipt.path
            // The page leaves out a thumbnail that cannot be read back.
            if let bytes = Self.contents(of: path) {
                state.withLock {
                    $0.made[PathKey(pictures[frame.number - 1].path)] = Thumbnail(format: .webp, bytes: bytes)
                }
            }
            FileSystem.remove(path)
        }
        return nil
    }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision { .settle }
    func willStart(_ lease: Lease) {}
    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {}
    func workerLost() {}
    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {}
}
