import FoundationEssentials
package import JobModel
package import Planning
import SafeFiles
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Asks workers about files. Publishes nothing.
package enum FileQuery {
    /// The answers to the orders. Orders that a stopped query did not reach are missing.
    package struct Answers {
        package let outcomes: [FrameID: FrameOutcome]
        /// What workers read of compared files.
        package let facts: [FrameID: [FileFacts?]]
        package let stop: StopReason?
    }

    /// - Parameters:
    ///   - job: gives the chain and the limits.
    ///   - observer: is shown the progress; nil for queries that are part of something else.
    ///   - order: makes the order with an index below `count`.
    package static func run(
        _ job: JobSpec, count: Int, settings: RunSettings, loop: RunLoop,
        observer: (any RunObserver)? = nil, order: @escaping @Sendable (Int) -> FrameOrder
    ) async -> Answers {
        let orders = QueryOrders(count, observer, order)
        let factory = TaskFactory(
            job: job, runName: "inquiry", scratchFolder: "", tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(job, frames: count)
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), orders)
        return orders.answers(stop)
    }

    /// A job for queries that concern no job.
    package static let job = JobSpec(
        name: "verify", manifestPath: "", folder: "/", inputs: [], chain: [],
        outputs: [JobOutput(template: OutputTemplate(source: "", pieces: []))], maxPixels: .max)

    /// The same job with one output and no filters: its probes are those of the pictures alone.
    package static func withoutFilters(_ job: JobSpec) -> JobSpec {
        var plain = job
        plain.chain = []
        plain.outputs = [JobOutput(template: OutputTemplate(source: "", pieces: []))]
        return plain
    }
}

/// Takes the digests of files, on all workers.
package enum DigestQuery {
    /// Files that could not be read, and files that a stopped query did not reach, are missing.
    package static func run(
        _ files: [DigestTask.File], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (findings: Freshness.Findings, stop: StopReason?) {
        let answers = await FileQuery.run(job, count: files.count, settings: settings, loop: loop) { index in
            FrameOrder(
                id: FrameID(index), input: files[index].path, compared: [files[index]], formats: [],
                goal: .comparison)
        }
        var findings: Freshness.Findings = [:]
        for (frame, facts) in answers.facts { findings[files[frame.number]] = facts.first }
        return (findings, answers.stop)
    }
}

/// Reads the headers of picture files and of outputs that are folders.
package enum HeaderQuery {
    /// Each picture's header, or why it could not be read.
    package typealias Headers = [DigestTask.File: Result<PictureHeader, FrameFailure>]

    /// Files that a stopped query did not reach are missing.
    package static func run(
        _ files: [DigestTask.File], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (found: Headers, stop: StopReason?) {
        var found: Headers = [:]
        for file in files where FileSystem.isOwnFolder(file.path) {
            found[file] = Result { () throws(FrameFailure) in try PictureHeader(ofFolder: file.path) }
        }
        let pictures = files.filter { found[$0] == nil }
        let answers = await FileQuery.run(
            FileQuery.withoutFilters(job), count: pictures.count, settings: settings, loop: loop
        ) { index in
            let file = pictures[index]
            return FrameOrder(
                id: FrameID(index), input: file.path, inputBytes: file.bytes, formats: ["png"], goal: .survey)
        }
        for (frame, outcome) in answers.outcomes {
            switch outcome {
            case .surveyed(let probe):
                found[pictures[frame.number]] = .success(
                    PictureHeader(width: probe.source.width, height: probe.source.height))
            case .failed(let failure): found[pictures[frame.number]] = .failure(failure)
            case .published, .left, .settled: break
            }
        }
        return (found, answers.stop)
    }
}

/// The size of a picture, read without its pixels.
package struct PictureHeader: Hashable, Sendable {
    package let width: Int
    package let height: Int
}

extension PictureHeader {
    /// Reads the file that describes the picture of a folder `a`: `a/a.dzi` with `<Size Height="400" Width="700"/>`, or
    /// `a/info.json` with `"width": 700` and `"height": 400`.
    init(ofFolder path: String) throws(FrameFailure) {
        let descriptors = FolderOutput(at: path).descriptors
        let name = PathNames.last(of: descriptors.first(where: FileSystem.exists) ?? descriptors[0])
        let bytes: [UInt8]
        do throws(FileError) {
            // A missing file is treated as an empty one.
            bytes = try SafeFolder(path, trusting: .everybody).contents(of: name, limit: Self.largestFile) ?? []
        } catch {
            throw FrameFailure(
                error.isForbidden ? .permission : .input, "\(path): \(name) in it cannot be read (\(error.cause))")
        }
        guard let size = name == IIIFNames.descriptorName ? Self.service(in: bytes) : Self.attributes(in: bytes),
            [size.width, size.height].allSatisfy((1...Self.longestSide).contains)
        else { throw FrameFailure(.data, "\(path): \(name) in it does not tell the picture's size") }
        self.init(width: size.width, height: size.height)
    }

    /// The most bytes that are read of a descriptor.
    private static let largestFile = 1 << 16
    /// No side of a picture is longer.
    private static let longestSide = 10_000_000

    private static func attributes(in bytes: [UInt8]) -> (width: Int, height: Int)? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let width = number("Width", in: text), let height = number("Height", in: text) else { return nil }
        return (width, height)
    }

    /// The value of an attribute in digits.
    private static func number(_ attribute: String, in text: String) -> Int? {
        guard let start = text.firstRange(of: "\(attribute)=\"")?.upperBound else { return nil }
        return Int(text[start...].prefix { $0 != "\"" })
    }

    private static func service(in bytes: [UInt8]) -> (width: Int, height: Int)? {
        struct Service: Decodable {
            let width: Int
            let height: Int
        }
        // A text that is no JSON of this kind does not tell the size.
        guard let service = try? JSONDecoder().decode(Service.self, from: Data(bytes)) else { return nil }
        return (service.width, service.height)
    }
}

/// Probes frames of a plan without rendering them.
package enum ProbeQuery {
    /// Each frame's probe, or why it could not be made.
    package typealias Findings = [FrameID: Result<ProbeReceipt, FrameFailure>]

    /// Frames that a stopped query did not reach are missing.
    ///
    /// - Parameters:
    ///   - frames: the frames of the plan that are probed.
    ///   - variants: gives what is done with a frame in place of the job's chain and outputs.
    package static func run(
        _ plan: JobPlan, frames: [PlannedFrame], variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?,
        settings: RunSettings, loop: RunLoop
    ) async -> (findings: Findings, stop: StopReason?) {
        let answers = await FileQuery.run(plan.job, count: frames.count, settings: settings, loop: loop) { index in
            let frame = frames[index]
            return FrameOrder(
                id: frame.id, input: frame.input.path, inputBytes: frame.input.bytes, variant: variants(frame),
                pages: frame.pages, formats: frame.formats, goal: .survey)
        }
        let findings = answers.outcomes.compactMapValues { outcome -> Result<ProbeReceipt, FrameFailure>? in
            switch outcome {
            case .surveyed(let probe): .success(probe)
            case .failed(let failure): .failure(failure)
            case .published, .left, .settled: nil
            }
        }
        return (findings, answers.stop)
    }
}

extension PlannedFrame {
    package var id: FrameID { FrameID(index, page: page) }
}

/// Gives the run loop a query's orders and collects the answers.
private final class QueryOrders: RunLoop.Delegate {
    private struct State {
        var next = 0
        var outcomes: [FrameID: FrameOutcome] = [:]
        var facts: [FrameID: [FileFacts?]] = [:]
    }

    private let count: Int
    private let order: @Sendable (Int) -> FrameOrder
    private let observer: (any RunObserver)?
    private let state = Mutex(State())

    init(_ count: Int, _ observer: (any RunObserver)?, _ order: @escaping @Sendable (Int) -> FrameOrder) {
        self.count = count
        self.observer = observer
        self.order = order
    }

    func answers(_ stop: StopReason?) -> FileQuery.Answers {
        state.withLock { FileQuery.Answers(outcomes: $0.outcomes, facts: $0.facts, stop: stop) }
    }

    func nextFrames(_ wanted: Int) -> RunLoop.Frames {
        let range = state.withLock { state in
            let range = state.next..<min(state.next + wanted, count)
            state.next = range.upperBound
            return range
        }
        return range.isEmpty ? .none : .some(range.map(order))
    }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        state.withLock { $0.facts[frame] = facts }
        return .settle
    }

    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) { state.withLock { $0.outcomes[frame] = outcome } }

    func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishFailure? {
        .refused("an inquiry publishes nothing")
    }

    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        observer?.progressed(state.withLock { $0.outcomes.count }, of: count, progress, at: time)
    }
}

extension RunObserver {
    /// Shows the progress of a command that publishes nothing for a job.
    package func progressed(_ done: Int, of total: Int, _ progress: Scheduler.Progress, at time: Timestamp) {
        var summary = RunSummary()
        summary.frames = total
        summary.skipped = done
        progressed(RunProgress(summary, elapsed: time.elapsed, scheduler: progress))
    }
}
