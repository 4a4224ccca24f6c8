package import Coordination
package import Engines
import Glibc
import JobModel
import Planning
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Makes the pictures of the page when somebody looks at them.
///
/// This process never decodes. One worker process of a low priority does, and only while there is work. A picture that ends the
/// worker fails alone, and is not tried again for a while. Finished pictures are kept in a cache, and levels in their store.
package final class PictureMaker: Sendable {
    package struct Setup: Sendable {
        /// The folder of the cache. It is created.
        package var folder: String
        /// In bytes. A worker holds no larger part of a picture at once.
        package var memory: Int
        /// An engine with one worker.
        package var engine: @Sendable (Folders) throws -> any Engine
        package var clock = RunClock.system
        /// Hears of a cache that cannot be written. Its pictures are made nonetheless.
        package var noted: @Sendable (String) -> Void = { _ in }

        package init(folder: String, memory: Int, engine: @escaping @Sendable (Folders) throws -> any Engine) {
            self.folder = folder
            self.memory = memory
            self.engine = engine
        }

        /// The only folder where a worker writes.
        package static func workFolder(in folder: String) -> String { PathNames.joined(folder, "work") }
    }

    /// What a worker may use.
    package struct Folders: Hashable, Sendable {
        /// The folders of its pictures, which it may read. Nil for all rights of this user.
        package let roots: [String]?
        /// The only folder where it writes.
        package let work: String
        /// The levels of pictures of the same roots, which it may read, too.
        package let levels: String?
    }

    private typealias Answer = Result<[UInt8], PictureError>

    private enum Input: Sendable {
        case event(Event)
        case ordered
        case tick
    }

    private struct State {
        var queue = PictureQueue()
        var answers: [PictureQueue.ClientID: CheckedContinuation<Answer, Never>] = [:]
        var clients = 0
        /// The task of the active order that the worker does, from 0. Only levels have several.
        var step = 0
        /// While a session runs: tells it of orders.
        var session: AsyncStream<Input>.Continuation?
        var hasStopped = false
    }

    private let setup: Setup
    private let cache: PictureCache
    private let levels: LevelStore?
    private let timeLimit: Duration
    private let start: ContinuousClock.Instant
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    /// So that a full disk is reported once.
    private let isCacheFailing = Mutex(false)

    /// - Parameters:
    ///   - levels: where the levels of large pictures are. Needed for orders of them, and for crops that are read from them.
    ///   - timeLimit: for one order.
    package init(_ setup: Setup, levels: LevelStore? = nil, timeLimit: Duration = WorkerSession.usualTimeLimit) {
        self.setup = setup
        self.levels = levels
        self.timeLimit = timeLimit
        cache = PictureCache(setup.folder)
        start = setup.clock.now
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    private var now: Timestamp { Timestamp(setup.clock.now - start) }

    /// How often the worker is looked at.
    private static let tickPause = Duration.seconds(1)

    // MARK: Asking

    /// The bytes of a picture. Waits until it is made. If the task is cancelled, the order is dropped.
    package func bytes(of order: PictureOrder, for owner: PictureOwner) async throws(PictureError) -> [UInt8] {
        if let kept = await kept(order) { return kept }
        let client = state.withLock { state in
            state.clients += 1
            return PictureQueue.ClientID(number: state.clients)
        }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { add(order, client, owner, $0) }
        } onCancel: {
            leave(client)
        }
        return try answer.get()
    }

    /// The bytes of a picture that was made before.
    package func kept(_ order: PictureOrder) async -> [UInt8]? {
        let cache = cache
        return await Blocking.run { cache.bytes(of: order) }
    }

    private func add(
        _ order: PictureOrder, _ client: PictureQueue.ClientID, _ owner: PictureOwner,
        _ continuation: CheckedContinuation<Answer, Never>
    ) {
        let now = now
        let added = state.withLock { state -> Result<[PictureQueue.ClientID], PictureError> in
            // The handler of a cancellation may have run before.
            guard !Task.isCancelled else { return .failure(.cancelled) }
            guard !state.hasStopped else { return .failure(.stopping) }
            do throws(PictureError) {
                let displaced = try state.queue.add(order, for: client, of: owner, at: now)
                state.answers[client] = continuation
                if let session = state.session { session.yield(.ordered) } else { wake.yield() }
                return .success(displaced)
            } catch {
                return .failure(error)
            }
        }
        switch added {
        case .success(let displaced): answer(displaced, .failure(.full))
        case .failure(let error): continuation.resume(returning: .failure(error))
        }
    }

    private func leave(_ client: PictureQueue.ClientID) {
        let continuation = state.withLock { state in
            state.queue.remove(client)
            return state.answers.removeValue(forKey: client)
        }
        continuation?.resume(returning: .failure(.cancelled))
    }

    private func answer(_ clients: [PictureQueue.ClientID], _ answer: Answer) {
        let continuations = state.withLock { state in clients.compactMap { state.answers.removeValue(forKey: $0) } }
        for continuation in continuations { continuation.resume(returning: answer) }
    }

    /// The number of orders that wait for the worker.
    package var waiting: Int { state.withLock { $0.queue.count } }

    /// The order that the worker carries out.
    package var active: PictureOrder? { state.withLock { $0.queue.active } }

    /// The number of clients that wait for a picture.
    package var clients: Int { state.withLock { $0.answers.count } }

    // MARK: Making

    /// Makes pictures until its task is cancelled. Call it once.
    package func run() async {
        let cache = cache
        await keepingCache { () throws(FileError) in try cache.open() }
        for await _ in wakes {
            while !Task.isCancelled, let order = state.withLock({ $0.queue.next }) { await serve(order.source.roots) }
        }
        let open = state.withLock { state in
            state.hasStopped = true
            defer { state.answers = [:] }
            return state.answers.values
        }
        for continuation in open { continuation.resume(returning: .failure(.stopping)) }
    }

    private func keepingCache(_ body: @escaping @Sendable () throws(FileError) -> Void) async {
        do {
            try await Blocking.run(body)
            isCacheFailing.withLock { $0 = false }
        } catch {
            let isFirst = isCacheFailing.withLock { isFailing in
                defer { isFailing = true }
                return !isFailing
            }
            if isFirst { setup.noted("pictures of the page cannot be kept: \(error.message)") }
        }
    }

    /// Carries out orders with one engine, until there are none for a while, or until the next one needs another engine.
    private func serve(_ roots: [String]?) async {
        let (work, setup, levels) = (Setup.workFolder(in: setup.folder), setup, levels)
        let engine: any Engine
        do {
            engine = try await Blocking.run { () throws -> any Engine in
                FileSystem.removeTree(work)
                _ = try FileSystem.createFolders(work, mode: 0o700)
                // Without it, only parts of large pictures are made in the slow way.
                let readable = levels.flatMap { try? $0.folder(for: roots) }
                return try setup.engine(Folders(roots: roots, work: work, levels: readable))
            }
        } catch {
            let reason = (error as? FileError)?.message ?? "\(error)"
            return refuseAll(roots, .unavailable("the worker for pictures cannot be started: \(reason)"))
        }
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        state.withLock { $0.session = input }
        input.yield(.ordered)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await engine.run(commands) { if $0.matters { input.yield(.event($0)) } } }
            group.addTask { [clock = setup.clock] in
                // The sleep fails when the worker is not needed any more.
                while (try? await clock.sleep(for: Self.tickPause)) != nil { input.yield(.tick) }
            }
            await converse(roots, inputs, command)
            command.finish()
            group.cancelAll()
        }
        input.finish()
        await Blocking.run { FileSystem.removeTree(work) }
    }

    private func converse(
        _ roots: [String]?, _ inputs: AsyncStream<Input>, _ command: AsyncStream<EngineCommand>.Continuation
    ) async {
        var session = WorkerSession(at: now, timeLimit: timeLimit)
        for await input in inputs {
            let actions =
                switch input {
                case .event(let event): session.handle(event, at: now)
                case .tick: session.tick(at: now)
                case .ordered: [WorkerSession.Action]()
                }
            await carryOut(actions, command)
            if let reason = session.failure {
                leaveSession()
                return refuseAll(roots, .unavailable("the worker for pictures \(reason)"))
            }
            if session.isIdle, let order = active {
                // It has another step.
                await carryOut(session.begin(task(of: order), at: now), command)
            } else if session.isIdle, let order = begin(roots) {
                if let answer = await answerWithoutWork(order) {
                    finish(order, answer, nil)
                    state.withLock { _ = $0.session?.yield(.ordered) }
                } else {
                    await carryOut(session.begin(task(of: order), at: now), command)
                }
            }
            let isOver = session.isOver || session.isIdle && isOtherEngineNeeded(roots)
            // A new order may have come just now. It is the first one of the next session.
            if isOver { return leaveSession() }
        }
        leaveSession()
        // The service stops, and the order that is being carried out is given up.
        answer(state.withLock { $0.queue.finish(nil, at: now) }, .failure(.stopping))
    }

    private func leaveSession() { state.withLock { $0.session = nil } }

    private func begin(_ roots: [String]?) -> PictureOrder? {
        state.withLock { state in
            guard let next = state.queue.next, next.source.roots == roots else { return nil }
            state.step = 0
            return state.queue.begin()
        }
    }

    private func isOtherEngineNeeded(_ roots: [String]?) -> Bool {
        state.withLock { state in state.queue.next.map { $0.source.roots != roots } ?? false }
    }

    private static let outputName = "picture"

    private func task(of order: PictureOrder) -> TaskSpec {
        let work = Setup.workFolder(in: setup.folder)
        return order.task(
            writing: PathNames.joined(work, Self.outputName), scratch: work, memory: setup.memory,
            step: state.withLock { $0.step })
    }

    private func carryOut(
        _ actions: [WorkerSession.Action], _ command: AsyncStream<EngineCommand>.Continuation
    ) async {
        for action in actions {
            switch action {
            case .command(let order): command.yield(order)
            case .conclude(let result): await conclude(result)
            }
        }
    }

    /// A task of the active order has ended.
    private func conclude(_ result: WorkerSession.Result) async {
        guard let order = state.withLock({ $0.queue.active }) else { return }
        var made = await answer(of: order, result)
        if case .success = made, await !isUnchanged(order.source) { made = .failure(.missing(PictureOrder.changed)) }
        if case .success = made, beginStep(of: order) { return }
        if case .success(let bytes) = made { made = await keep(bytes, of: order) }
        await removeLeftovers(of: order)
        finish(order, made, result)
    }

    /// - Returns: whether the order has another step.
    private func beginStep(of order: PictureOrder) -> Bool {
        guard case .levels(let levels) = order.kind else { return false }
        return state.withLock { state in
            guard state.step + 1 < levels.steps.count else { return false }
            state.step += 1
            return true
        }
    }

    /// - Parameter result: Nil if the worker has done nothing for it.
    private func finish(_ order: PictureOrder, _ made: Answer, _ result: WorkerSession.Result?) {
        let fault: PictureFault? =
            switch made {
            case .failure(.broken(let message)): order.fault(message, after: result)
            // The picture can be shown without its levels, and the next part of it must not begin them again.
            case .failure(.unavailable(let message)) where order.isOfLevels: .order(message)
            default: nil
            }
        let now = now
        answer(state.withLock { $0.queue.finish(fault, at: now) }, made)
    }

    private func keep(_ bytes: [UInt8], of order: PictureOrder) async -> Answer {
        guard order.isOfLevels else {
            let cache = cache
            await keepingCache { () throws(FileError) in try cache.store(bytes, of: order) }
            return .success(bytes)
        }
        let (levels, work) = (levels, Setup.workFolder(in: setup.folder))
        do throws(FileError) {
            try await Blocking.run { () throws(FileError) in try levels?.adopt(order, from: work) }
            return .success(bytes)
        } catch {
            return .failure(.unavailable(error.message))
        }
    }

    /// Levels that are not complete take much space.
    private func removeLeftovers(of order: PictureOrder) async {
        guard case .levels(let levels) = order.kind else { return }
        let work = Setup.workFolder(in: setup.folder)
        await Blocking.run {
            for scale in levels.scales {
                FileSystem.removeTree(PathNames.joined(work, PictureLevels.fileName(scale)))
            }
        }
    }

    /// For levels that were made since they were ordered, and those for which there is no room.
    private func answerWithoutWork(_ order: PictureOrder) async -> Answer? {
        guard case .levels(let sizes) = order.kind, let levels else { return nil }
        return await Blocking.run {
            guard !levels.holds(order) else { return .success([]) }
            do throws(PictureError) {
                try levels.makeRoom(for: sizes.bytes)
                return nil
            } catch {
                return .failure(error)
            }
        }
    }

    private func isUnchanged(_ source: PictureSource) async -> Bool {
        await Blocking.run {
            FileStamp(of: source.bytes ?? Array(source.path.utf8))?.isSameState(as: source.stamp) ?? false
        }
    }

    private func answer(of order: PictureOrder, _ result: WorkerSession.Result) async -> Answer {
        switch result {
        case .ended(let words), .crashed(let words):
            return .failure(
                .broken(
                    "this picture cannot be shown: the worker \(words)\n   = it is tried again after some minutes; 'penumbra preview' "
                        + "shows more"))
        case .failed(let failure): return .failure(PictureError(failure, of: order.source))
        case .done(let receipt):
            do throws(PictureError) {
                switch try order.content(of: receipt, step: state.withLock { $0.step }) {
                case .bytes(let bytes): return .success(bytes)
                case .file: return .success(try await written())
                case .levels: return .success([])
                }
            } catch {
                return .failure(error)
            }
        }
    }

    /// The file that the worker has written. The worker may have become anybody's by the picture that it decoded, so its file is opened
    /// with care.
    private func written() async throws(PictureError) -> [UInt8] {
        let work = Setup.workFolder(in: setup.folder)
        do throws(FileError) {
            return try await Blocking.run { () throws(FileError) -> [UInt8] in
                let folder = try SafeFolder(work)
                defer { folder.removeTree(Self.outputName) }
                guard let bytes = try folder.contents(of: Self.outputName, limit: PictureCache.largestPicture) else {
                    throw FileError(path: folder.path, code: ENOENT, action: "read the picture")
                }
                return bytes
            }
        } catch {
            throw .unavailable("the picture that the worker has made cannot be read: \(error.message)")
        }
    }

    private func refuseAll(_ roots: [String]?, _ error: PictureError) {
        let now = now
        let clients = state.withLock { state in state.queue.finish(nil, at: now) + state.queue.drop(roots: roots) }
        answer(clients, .failure(error))
    }
}

extension PictureOrder {
    /// What a result without a picture says of this order and its file.
    fileprivate func fault(_ message: String, after result: WorkerSession.Result?) -> PictureFault {
        switch (result, kind) {
        case (.crashed, _): .crash(message)
        // Facts are read from the header.
        case (.failed, .facts): .header(message)
        case (.failed, _), (.ended, _), (.done, _), (nil, _): .order(message)
        }
    }

    fileprivate var isOfLevels: Bool { if case .levels = kind { true } else { false } }
}

extension PictureError {
    /// Why a worker could not make a picture.
    init(_ failure: TaskFailure, of source: PictureSource) {
        // The page has shown the path already, and the worker's file is nobody's business.
        let message = VisibleText.message(failure.message)
        switch failure.kind {
        case .data, .value, .plugin, .limit: self = .broken(message)
        case .input, .permission: self = .missing(message)
        case .output, .storage, .resourceLimit, .damagedTile, .damagedCanvas, .mismatch, .transient:
            self = .unavailable(message)
        }
    }
}

extension Event {
    /// False for what a worker can send in any number, and what nothing follows from. A worker that lives is heard by each second.
    fileprivate var matters: Bool {
        switch self {
        case .words, .report(_, .inPlugins): false
        default: true
        }
    }
}
