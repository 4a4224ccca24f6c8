import Glibc
import JobModel
import Planning
import Runs
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Renders pictures and puts what comes out in their place, after their originals are safe.
///
/// In this order, so that a kill at any moment leaves the picture or the blurred one at the path, and an undoing that
/// works: the original is copied and synced; the record that knows both is written and synced; the blurred picture is
/// written beside the picture, synced, and renamed; the folder is synced.
final class InPlaceRendering: Sendable {
    /// A picture of which a copy was made.
    struct Item: Sendable {
        let picture: InputFile
        let folder: PictureFolder
        let store: OriginalStore
        let key: [UInt8]
        /// The copy, which is not an original yet.
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
        /// The originals' contents, as workers have read the copies.
        var originals: [FrameID: FileContent] = [:]
        var outcomes: [FrameID: InPlaceResult.Outcome] = [:]
    }

    private let items: [Item]
    private let job: JobSpec
    private let filters: String
    private let scratch: String
    private let time: Int
    private let progress: InPlaceProgress
    private let state = Mutex(State())

    private init(_ items: [Item], _ blurring: Blurring) {
        self.items = items
        (job, filters, time) = (blurring.job, blurring.filters, blurring.time)
        (scratch, progress) = (blurring.directory.scratch, blurring.progress)
    }

    /// - Returns: an outcome for each; nil where a stop came before.
    static func run(_ items: [Item], _ blurring: Blurring) async -> ([InPlaceResult.Outcome?], StopReason?) {
        let rendering = InPlaceRendering(items, blurring)
        let settings = blurring.settings
        var job = blurring.job
        // What is written to the scratch folder is copied from there, and synced then.
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
    ) throws(InPlaceTrouble) {
        guard isUntouched(item) else { throw .changed }
        let (record, file, blurred) = try InPlaceTrouble.on { () throws(FileTrouble) in
            guard FileSystem.size(receipt.path) == receipt.bytes else {
                throw FileTrouble(path: receipt.path, code: EIO, action: "read what was rendered")
            }
            let blurred = try PictureFolder.sha256(of: rendered(receipt.path))
            let record = KeptOriginal(
                key: item.key, generation: item.generation, original: original,
                object: try item.store.keep(item.copy, as: original), attributes: item.attributes,
                blurred: FileContent(receipt.digest, bytes: receipt.bytes), blurredSHA256: blurred,
                folder: try item.folder.inode(), disk: item.folder.disk, filters: filters, time: time)
            return (record, try item.store.write(record), blurred)
        }
        do throws(InPlaceTrouble) {
            guard try InPlaceTrouble.on({ () throws(FileTrouble) in try item.store.isKept(record.objectName) }) else {
                throw .refused("its original was taken out of its store meanwhile; left as it is")
            }
            try replace(item, byFileAt: receipt.path, sha256: blurred)
        } catch {
            // Where the picture is as it was nothing is known of it. (Else its folder alone could not be synced.)
            if isUntouched(item) {
                try InPlaceTrouble.on { () throws(FileTrouble) in try item.store.remove(file) }
            }
            throw error
        }
    }

    private func replace(_ item: Item, byFileAt path: String, sha256: String) throws(InPlaceTrouble) {
        let source: SafeFile
        do throws(FileTrouble) {
            source = try rendered(path)
        } catch {
            throw InPlaceTrouble(error)
        }
        _ = try item.folder.replace(
            item.picture, item.found, by: source, sha256: sha256, item.attributes, .blurred)
    }

    private func rendered(_ path: String) throws(FileTrouble) -> SafeFile {
        // It is the run's own folder; on some network file systems what root writes belongs to nobody.
        let folder = try SafeFolder(PathText.folder(of: path), trusting: .everybody)
        guard let file = try folder.file(PathText.name(of: path)) else {
            throw FileTrouble(path: path, code: ENOENT, action: "read what was rendered")
        }
        return file
    }

    /// The picture is what was copied.
    private func isUntouched(_ item: Item) -> Bool {
        item.folder.look(at: item.picture)?.stamp.isSameState(as: item.found.stamp) == true
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
            range.map { place in
                let item = items[place]
                let output = JobOutput(template: OutputTemplate(source: "", pieces: []), save: item.save)
                return FrameOrder(
                    id: FrameID(place), input: item.picture.path, inputBytes: item.picture.bytes,
                    compared: [DigestTask.File(path: item.copy.path)],
                    variant: FrameVariant(chain: job.chain, outputs: [output]), pages: .animation,
                    formats: [item.format], goal: .publish(outputs: [path(of: place)], probe: nil))
            })
    }

    private func path(of place: Int) -> String { "\(folder(of: FrameID(place)))/picture" }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        guard let found = facts.first ?? nil else {
            end(frame, .unfit(message: "\(items[frame.number].copy.path): the copy of the original is gone"))
            return .settle
        }
        state.withLock { $0.originals[frame] = FileContent(found) }
        return .render(outputs: [path(of: frame.number)])
    }

    func willStart(_ lease: Lease) throws(FileTrouble) {
        _ = try FileSystem.createFolders(folder(of: lease.task.frame))
    }

    func publish(_ frame: FrameID, _ publications: [Publication]) -> PublishProblem? {
        let item = items[frame.number]
        guard let publication = publications.first, let original = state.withLock({ $0.originals[frame] }) else {
            return .refused("nobody asked for this output")
        }
        do throws(InPlaceTrouble) {
            guard FileContent(publication.source) == original else { throw .changed }
            try replace(item, original, by: publication.receipt)
            end(frame, .blurred(older: item.older))
            return nil
        } catch {
            end(frame, error.outcome)
            return error.place.map { PublishProblem($0) } ?? .refused("\(item.picture.path): not replaced")
        }
    }

    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree(folder(of: frame))
        guard case .failed(let failure) = outcome else { return }
        // What has an outcome of its own failed for that reason.
        state.withLock { if $0.outcomes[frame] == nil { $0.outcomes[frame] = .refused(reason: failure.message) } }
    }

    func workerLost() {}

    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        self.progress.show(progress, at: time, ended: state.withLock { $0.outcomes.count })
    }
}
