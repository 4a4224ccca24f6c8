import Coordination
import Glibc
import JobModel
import Planning
import Runs
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Renders pictures and replaces them by the results, after their originals are safe.
///
/// The order of the steps makes a kill at any moment harmless: the path always has the picture or the blurred
/// one, and the original can be put back.
///
/// 1. Copy the original and sync it.
/// 2. Write and sync the record, which has the digests of both.
/// 3. Write the blurred picture beside the picture, sync it, and rename it.
/// 4. Sync the folder.
final class InPlaceRendering: Sendable {
    /// A picture that has been copied.
    struct Item: Sendable {
        let picture: InputFile
        let folder: PictureFolder
        let store: OriginalStore
        let key: [UInt8]
        /// The copy, which is not in the store yet.
        let copy: OriginalStore.Copy
        let attributes: FileAttributes
        let found: PictureFolder.Found
        let generation: Int
        let format: String
        let save: SaveOptions
        let older: [StoredOriginal]
    }

    private struct State {
        var next = 0
        /// The contents of the originals, as workers read them from the copies.
        var originals: [FrameID: FileContent] = [:]
        var outcomes: [FrameID: InPlaceResult.Outcome] = [:]
    }

    private let items: [Item]
    private let job: JobSpec
    private let filters: String
    private let scratch: String
    private let time: Int
    private let observer: any RunObserver
    /// The number of pictures in earlier parts.
    private let done: Int
    private let total: Int
    private let state = Mutex(State())

    private init(_ items: [Item], _ blurring: Blurring) {
        self.items = items
        (job, filters, time) = (blurring.job, blurring.filters, blurring.time)
        scratch = blurring.directory.scratch
        (observer, done, total) = (blurring.observer, blurring.done, blurring.total)
    }

    /// - Returns: an outcome for each picture; nil if the run stopped before.
    static func run(_ items: [Item], _ blurring: Blurring) async -> ([InPlaceResult.Outcome?], StopReason?) {
        let rendering = InPlaceRendering(items, blurring)
        let settings = blurring.settings
        var job = blurring.job
        // Files in the scratch folder need not be synced: they are copied, and the copies are synced.
        job.durability = .batch
        let factory = TaskFactory(
            job: job, runName: blurring.directory.name, scratchFolder: blurring.directory.scratch,
            tileMemory: settings.tileMemory, frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(job, frames: items.count)
        let stop = await blurring.loop().run(Scheduler(policy: policy, factory: factory), rendering)
        let outcomes = rendering.state.withLock { $0.outcomes }
        return (items.indices.map { outcomes[FrameID($0)] }, stop)
    }

    private func folder(of frame: FrameID) -> String { "\(scratch)/\(frame.name)" }

    private func end(_ frame: FrameID, _ outcome: InPlaceResult.Outcome) {
        state.withLock { $0.outcomes[frame] = outcome }
    }

    private func replace(
        _ item: Item, _ original: FileContent, by receipt: OutputReceipt
    ) throws(InPlaceError) {
        guard isUntouched(item) else { throw .changed }
        let (record, file, blurred) = try InPlaceError.on { () throws(FileError) in
            guard FileSystem.size(receipt.path) == receipt.bytes else {
                throw FileError(path: receipt.path, code: EIO, action: "read what was rendered")
            }
            let blurred = try PictureFolder.sha256(of: rendered(receipt.path))
            let record = KeptOriginal(
                key: item.key, generation: item.generation, original: original,
                object: try item.store.keep(item.copy, as: original), attributes: item.attributes,
                blurred: FileContent(receipt.digest, bytes: receipt.bytes), blurredSHA256: blurred,
                folder: try item.folder.inode(), disk: item.folder.disk, filters: filters, time: time)
            return (record, try item.store.write(record), blurred)
        }
        do throws(InPlaceError) {
            guard try InPlaceError.on({ () throws(FileError) in try item.store.isKept(record.objectName) }) else {
                throw .refused("its original was taken out of its store meanwhile; left as it is")
            }
            try replace(item, byFileAt: receipt.path, sha256: blurred)
        } catch {
            // If the picture was not replaced, its record is removed. (It may have been replaced although its
            // folder could not be synced.)
            if isUntouched(item) {
                try InPlaceError.on { () throws(FileError) in try item.store.remove(file) }
            }
            throw error
        }
    }

    private func replace(_ item: Item, byFileAt path: String, sha256: String) throws(InPlaceError) {
        let source: SafeFile
        do throws(FileError) {
            source = try rendered(path)
        } catch {
            throw InPlaceError(error)
        }
        _ = try item.folder.replace(
            item.picture, item.found, by: source, sha256: sha256, item.attributes, .blurred)
    }

    private func rendered(_ path: String) throws(FileError) -> SafeFile {
        // The folder is the run's own. On some network file systems, files that root writes belong to another
        // user.
        let folder = try SafeFolder(PathText.folder(of: path), trusting: .everybody)
        guard let file = try folder.file(PathText.name(of: path)) else {
            throw FileError(path: path, code: ENOENT, action: "read what was rendered")
        }
        return file
    }

    /// Whether the picture is still the copied one.
    private func isUntouched(_ item: Item) -> Bool {
        item.folder.inspect(at: item.picture)?.stamp.isSameState(as: item.found.stamp) == true
    }
}

extension InPlaceRendering: RunLoop.Delegate {
    func nextFrames(_ count: Int) -> RunLoop.Frames {
        let range = state.withLock { state in
            let range = state.next..<min(state.next + count, items.count)
            state.next = range.upperBound
            return range
        }
        guard !range.isEmpty else { return .none }
        return .some(
            range.map { index in
                let item = items[index]
                let output = JobOutput(template: OutputTemplate(source: "", pieces: []), save: item.save)
                return FrameOrder(
                    id: FrameID(index), input: item.picture.path, inputBytes: item.picture.bytes,
                    compared: [DigestTask.File(path: item.copy.path)],
                    variant: FrameVariant(chain: job.chain, outputs: [output]), pages: .animation,
                    formats: [item.format], goal: .publish(outputs: [path(of: index)], probe: nil))
            })
    }

    private func path(of index: Int) -> String { "\(folder(of: FrameID(index)))/picture" }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        guard let found = facts.first ?? nil else {
            end(frame, .unfit(message: "the copy of the original is gone; left as it is"))
            return .settle
        }
        state.withLock { $0.originals[frame] = FileContent(found) }
        return .render(outputs: [path(of: frame.number)])
    }

    func willStart(_ lease: Lease) throws(FileError) {
        _ = try FileSystem.createFolders(folder(of: lease.task.frame))
    }

    func publish(_ frame: FrameID, _ publications: [Publication]) -> PublishFailure? {
        let item = items[frame.number]
        guard let publication = publications.first, let original = state.withLock({ $0.originals[frame] }) else {
            return .refused("nobody asked for this output")
        }
        do throws(InPlaceError) {
            guard FileContent(publication.source) == original else { throw .changed }
            try replace(item, original, by: publication.receipt)
            end(frame, .blurred(older: item.older))
            return nil
        } catch {
            end(frame, error.outcome)
            return error.storageError.map { .stop(StopReason($0)) } ?? .refused("\(item.picture.path): not replaced")
        }
    }

    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree(folder(of: frame))
        guard case .failed(let failure) = outcome else { return }
        // The user knows the picture, and not its copy.
        let item = items[frame.number]
        let reason = failure.message.replacing(
            PathText.visible(item.copy.path), with: PathText.visible(item.picture.path))
        // A picture that has an outcome already failed for that reason.
        state.withLock { if $0.outcomes[frame] == nil { $0.outcomes[frame] = .refused(reason: reason) } }
    }

    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        observer.progressed(done + state.withLock { $0.outcomes.count }, of: total, progress, at: time)
    }
}
