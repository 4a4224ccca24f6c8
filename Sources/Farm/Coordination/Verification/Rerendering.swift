package import Catalogs
import Glibc
package import JobModel
import JobStorage
package import SafeFiles
package import Scheduling
import Synchronization
import WorkerProtocol

/// Renders outputs again and compares the results with their records. Keeps none of the results.
package final class Rerendering: Sendable {
    /// In the order of the outputs. Outputs that were not reached are missing.
    package struct Results: Sendable {
        package internal(set) var outputs: [RerenderedOutput] = []
        package internal(set) var stop: StopReason?
    }

    private struct State {
        var next = 0
        var results: [FrameID: RerenderedOutput] = [:]
    }

    private let outputs: [RecordedOutput]
    /// The orders, with the indexes of their outputs.
    private let orders: [(index: Int, order: RerenderOrder)]
    private let ordersByFrame: [FrameID: RerenderOrder]
    private let scratch: String
    /// How many outputs were done before, and how many there are in all.
    private let (done, total): (Int, Int)
    private let observer: any RunObserver
    private let state = Mutex(State())

    private init(
        _ outputs: [RecordedOutput], _ orders: [(index: Int, order: RerenderOrder)], done: Int, scratch: String,
        observer: any RunObserver
    ) {
        (self.outputs, self.orders, self.scratch, self.observer) = (outputs, orders, scratch, observer)
        (self.done, total) = (done, outputs.count)
        ordersByFrame = Dictionary(orders.map { (FrameID($0.index), $0.order) }) { $1 }
    }

    /// - Parameters:
    ///   - scratch: an existing folder, which is left empty.
    ///   - loop: makes a new run loop. Its argument says whether workers create folders.
    package static func run(
        _ outputs: [RecordedOutput], catalog: Catalog, scratch: String, settings: RunSettings,
        observer: any RunObserver, loop: (_ makesFolders: Bool) -> RunLoop
    ) async -> Results {
        var (found, orders): ([Int: RerenderedOutput], [(index: Int, order: RerenderOrder)]) = ([:], [])
        for (index, output) in outputs.enumerated() {
            do {
                orders.append((index, try RerenderOrder(output, catalog: catalog)))
            } catch {
                found[index] = RerenderedOutput(output, .skipped(reason: error.reason))
            }
        }
        var results = Results()
        let groups = Dictionary(grouping: orders, by: \.order.group).values.sorted { $0[0].index < $1[0].index }
        for group in groups where results.stop == nil {
            let rerendering = Rerendering(outputs, group, done: found.count, scratch: scratch, observer: observer)
            let key = group[0].order.group
            results.stop = await rerendering.run(key, settings, loop(key.makesFolders))
            found.merge(rerendering.state.withLock { $0.results }.map { ($0.number, $1) }) { $1 }
        }
        results.outputs = outputs.indices.compactMap { found[$0] }
        return results
    }

    private func run(_ group: RerenderOrder.Group, _ settings: RunSettings, _ loop: RunLoop) async -> StopReason? {
        var job = FileQuery.job
        job.color = group.color
        job.dpi = group.dpi
        // The rendered files are removed at once and need not be synced.
        job.durability = .batch
        let factory = TaskFactory(
            job: job, runName: "verify", scratchFolder: scratch, tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory, shrink: group.shrink)
        let policy = settings.schedulingPolicy(job, frames: orders.count)
        return await loop.run(Scheduler(policy: policy, factory: factory), self)
    }

    private func folder(of frame: FrameID) -> String { "\(scratch)/\(frame.name)" }

    private func end(_ frame: FrameID, _ condition: RerenderedCondition) {
        state.withLock { $0.results[frame] = RerenderedOutput(outputs[frame.number], condition) }
    }
}

extension Rerendering: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        let range = state.withLock { state in
            let range = state.next..<min(state.next + count, orders.count)
            state.next = range.upperBound
            return range
        }
        guard !range.isEmpty else { return .none }
        return .some(
            orders[range].map { index, order in
                let id = FrameID(index)
                // A Deep Zoom folder has files that are named after it.
                let name = PathNames.last(of: outputs[index].record.path)
                return order.order(id, to: "\(folder(of: id))/\(name)")
            })
    }

    /// An output of another input cannot be the same, and is skipped.
    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        let record = outputs[frame.number].record
        guard let found = facts.first ?? nil else {
            end(frame, .skipped(reason: "the input is gone"))
            return .settle
        }
        guard found.digest == record.source.digest else {
            end(frame, .skipped(reason: "the input changed since"))
            return .settle
        }
        for (picture, found) in zip(ordersByFrame[frame]?.pictures ?? [], facts.dropFirst())
        where found?.digest.description != picture.digest {
            let words = found == nil ? "is gone" : "changed since"
            let isProfile = picture == ordersByFrame[frame]?.profile
            let name = isProfile ? "the profile \(picture.path)" : "the picture \(picture.path), which a filter reads,"
            end(frame, .skipped(reason: "\(name) \(words)"))
            return .settle
        }
        return .render(outputs: ["\(folder(of: frame))/\(PathNames.last(of: record.path))"])
    }

    package func willStart(_ lease: Lease) throws(FileError) {
        _ = try FileSystem.createFolders(folder(of: lease.task.frame))
    }

    package func publish(_ frame: FrameID, _ publications: [Publication]) -> PublishFailure? {
        guard let publication = publications.first else { return .refused("nobody asked for this output") }
        let (output, receipt) = (outputs[frame.number], publication.receipt)
        FileSystem.removeTree(receipt.path)
        guard publication.source.digest == output.record.source.digest else {
            end(frame, .skipped(reason: "the input changed since"))
            return nil
        }
        let condition = RerenderedCondition(
            of: output.record, digest: receipt.digest, pixels: receipt.pixels, versions: ordersByFrame[frame]?.versions)
        state.withLock {
            $0.results[frame] = RerenderedOutput(output, condition, receipt.digest, receipt.pixels)
        }
        return nil
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree(folder(of: frame))
        if case .failed(let failure) = outcome { end(frame, .failed(failure.message)) }
    }

    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        observer.progressed(done + state.withLock { $0.results.count }, of: total, progress, at: time)
    }
}

/// The order to render an output again. It follows the output's record alone, not the present manifest.
struct RerenderOrder: Hashable, Sendable {
    /// What all orders of one scheduler have in common.
    struct Group: Hashable, Sendable {
        let color: ColorPolicy
        let dpi: Int?
        /// Nil if it was not recorded.
        let shrink: Int?
        /// Whether the outputs are folders, which workers create themselves.
        let makesFolders: Bool
    }

    let group: Group
    /// How the recorded versions of the filters differ from the installed ones; nil if they do not.
    let versions: String?
    private let recipe: Recipe
    private let chain: [FilterInvocation]
    private let record: OutputRecord
    /// The pictures that the filters read, and the output's colour profile, as recorded.
    let pictures: [PictureReference]

    /// The output's colour profile, as recorded.
    var profile: PictureReference? { recipe.save.color?.profile }

    /// - Throws: the reason why it cannot be rendered again.
    init(_ output: RecordedOutput, catalog: Catalog) throws(RerenderError) {
        let record = output.record
        if record.isAdopted { throw RerenderError(reason: "adopted, not rendered by Penumbra") }
        guard let text = output.recipe else { throw RerenderError(reason: "only its receipt is known") }
        guard let recipe = Recipe(text: text) else {
            throw RerenderError(reason: "rendered by another version of Penumbra")
        }
        for step in recipe.steps where catalog.filter(named: step.filter) == nil {
            throw RerenderError(reason: "the filter '\(step.filter)' is not installed")
        }
        (self.record, self.recipe) = (record, recipe)
        chain = recipe.complete(catalog).steps.map { step in
            FilterInvocation(
                filter: step.filter, values: step.values, measures: catalog.filter(named: step.filter)?.measures)
        }
        if let reason = chain.lazy.flatMap(\.commands).compactMap({ Self.change(of: $0, catalog) }).first {
            throw RerenderError(reason: reason)
        }
        pictures = Set(chain.flatMap(\.pictures.values) + [recipe.save.color?.profile].compactMap(\.self))
            .sorted { $0.path < $1.path }
        group = Group(
            color: recipe.color, dpi: recipe.dpi, shrink: record.pixels?.encoding.shrink,
            makesFolders: catalog.formats.contains { $0.name == recipe.format && $0.isFolder })
        let current = Recipe(
            chain: chain, color: recipe.color, format: recipe.format, save: recipe.save, pages: recipe.pages,
            dpi: recipe.dpi, catalog: catalog)
        versions = Self.difference(from: recipe, to: current)
    }

    /// Why an output cannot be rendered again.
    struct RerenderError: Error, Hashable {
        let reason: String
    }

    /// Why a program cannot be run as it was recorded. Nil if it can.
    private static func change(of command: ProgramCommand, _ catalog: Catalog) -> String? {
        switch catalog.programs.first(where: { $0.name == command.program })?.file {
        case .usable(command.sha256): nil
        case .usable: "the program '\(command.program)' has changed since"
        case .unusable(let reason): "the program '\(command.program)': \(reason)"
        case nil: "the settings do not allow the program '\(command.program)' any more"
        }
    }

    private static func difference(from old: Recipe, to new: Recipe) -> String? {
        let steps = zip(old.steps, new.steps).filter { $0.version != $1.version }.map { old, new in
            "\(old.filter) \(old.version), this is \(new.filter) \(new.version)"
        }
        let around =
            old.version == new.version ? [] : ["rendering version \(old.version), this is \(new.version)"]
        return steps.isEmpty && around.isEmpty ? nil : (steps + around).joined(separator: "; ")
    }

    /// - Parameter path: where the result goes.
    func order(_ id: FrameID, to path: String) -> FrameOrder {
        let input = FoundInput.file(record.input)
        var save = recipe.save
        // Estimates of time may be others now.
        if save.precision == .auto, let encoding = record.pixels?.encoding {
            save.precision = ChainPrecision(encoding.filterSamples ?? encoding.samples)
        }
        let output = JobOutput(template: OutputTemplate(source: "", pieces: []), save: save)
        return FrameOrder(
            id: id, input: input.path, inputBytes: input.bytes,
            compared: [input] + pictures.map { FoundInput.file($0.path) },
            variant: FrameVariant(chain: chain, outputs: [output]), pages: recipe.pages.numbered(record.page),
            formats: [recipe.format],
            goal: .publish(outputs: [path], probe: nil))
    }
}

/// The result of rendering an output again.
package enum RerenderedCondition: Hashable, Sendable {
    /// The bytes are the same.
    case asPublished
    /// The pixels are the same. Another encoder wrote other bytes.
    case encoderDiffers(recorded: String, now: String)
    /// The pixels are the same. The same encoder wrote other bytes.
    case bytesDiffer
    case pixelsDiffer
    /// The pixels are different, because the filters have other versions: `gaussian 1, this is gaussian 2`.
    case versionsDiffer(String)
    /// The bytes are different, and no pixels were recorded.
    case unknownDiffers
    /// The output cannot be compared, because its input has changed.
    case skipped(reason: String)
    case failed(String)

    package var isDamage: Bool {
        switch self {
        case .asPublished, .encoderDiffers, .versionsDiffer, .skipped: false
        case .bytesDiffer, .pixelsDiffer, .unknownDiffers, .failed: true
        }
    }

    /// - Parameter versions: how the filters' versions differ; nil if they do not.
    init(of record: OutputRecord, digest: Digest, pixels: EncodedPixels, versions: String?) {
        let recorded = record.pixels
        if digest == record.file.digest {
            self = .asPublished
        } else if let recorded, recorded.digest == pixels.digest {
            let (before, now) = (recorded.encoding.encoder, pixels.encoding.encoder)
            self = before == now ? .bytesDiffer : .encoderDiffers(recorded: before, now: now)
        } else if let versions {
            self = .versionsDiffer(versions)
        } else {
            self = recorded == nil ? .unknownDiffers : .pixelsDiffer
        }
    }
}

/// An output, and the result of rendering it again.
package struct RerenderedOutput: Hashable, Sendable {
    package let output: RecordedOutput
    package let condition: RerenderedCondition
    /// The digests of the result; nil if it was not rendered.
    package let digest: Digest?
    package let pixels: EncodedPixels?

    init(_ output: RecordedOutput, _ condition: RerenderedCondition) {
        (self.output, self.condition, digest, pixels) = (output, condition, nil, nil)
    }

    init(_ output: RecordedOutput, _ condition: RerenderedCondition, _ digest: Digest, _ pixels: EncodedPixels) {
        (self.output, self.condition, self.digest, self.pixels) = (output, condition, digest, pixels)
    }
}

/// A scratch folder that is removed with this value.
///
///     SCRATCH/penumbra-verify-1a2b3c/{lock,…}
package final class VerificationScratch: Sendable {
    package let path: String
    private let lock: KernelLock

    private static let prefix = "penumbra-verify-"

    /// Creates a new folder, and removes the folders of killed commands.
    ///
    /// - Parameters:
    ///   - name: a name that is unique on this machine.
    package init(in folder: String, name: String) throws(FileError) {
        _ = try FileSystem.createFolders(folder)
        Self.sweep(folder)
        for attempt in 0..<10 {
            let path = PathNames.joined(folder, "\(Self.prefix)\(name)-\(attempt)")
            // Other users may write in the folder above.
            guard
                try SafeFolder(folder, trusting: .everybody)
                    .makingFolder(PathNames.last(of: path), mode: 0o700).isOwn()
            else { continue }
            // Another command may have swept the new folder.
            guard let lock = try KernelLock.take("\(path)/lock"), lock.isStillAt("\(path)/lock") else { continue }
            (self.path, self.lock) = (path, lock)
            return
        }
        throw FileError(path: folder, code: EAGAIN, action: "lock a folder of its own")
    }

    deinit { Self.remove(PathNames.last(of: path), in: PathNames.folder(of: path) ?? "") }

    private static func remove(_ name: String, in folder: String) {
        // If the folder cannot be removed now, the next command removes it.
        try? SafeFolder(folder.isEmpty ? "/" : folder, trusting: .everybody).removeTree(name)
    }

    private static func sweep(_ folder: String) {
        for name in FileSystem.names(in: folder) where name.hasPrefix(prefix) {
            let path = PathNames.joined(folder, name)
            // A folder without a lock file was created just now.
            guard FileSystem.isOwnFolder(path), (try? SafeFolder(path).isOwn()) == true,
                FileSystem.exists("\(path)/lock"), let lock = try? KernelLock.take("\(path)/lock")
            else { continue }
            withExtendedLifetime(lock) { remove(name, in: folder) }
        }
    }
}
