import CChannel
import Dispatch
import Glibc
import Synchronization
import SystemPackage
package import WorkerProtocol

/// Sends orders to one worker process over a socket, each with the files of its task, which it opens.
///
/// All calls that may block are on a thread of its own: opening and removing files, and sending. A file server that does
/// not answer so blocks one worker only. The thread ends by ``endOfProcess()``, which must be called.
package final class OrderSender: Sendable {
    /// What the owner does on the sender's thread, or decides for it.
    package struct Conditions: Sendable {
        /// The worker's folder for temporary files.
        let temporaryFolder: String
        /// Where the worker creates outputs that are folders.
        let folders: [String]
        /// Called first. If it fails, no file is opened.
        let restrictThread: (@Sendable () throws -> Void)?
        /// How the worker is limited during its orders. Nil for no limits.
        let limits: WorkerLimits?
        /// An order is about to be sent.
        let willSend: @Sendable () -> Void
        /// An order cannot be sent, because it is too long.
        let cannotSend: @Sendable () -> Void

        package init(
            temporaryFolder: String, folders: [String] = [], restrictThread: (@Sendable () throws -> Void)? = nil,
            limits: WorkerLimits? = nil,
            willSend: @escaping @Sendable () -> Void = {}, cannotSend: @escaping @Sendable () -> Void = {}
        ) {
            self.temporaryFolder = temporaryFolder
            self.folders = folders
            self.restrictThread = restrictThread
            self.limits = limits
            self.willSend = willSend
            self.cannotSend = cannotSend
        }
    }

    private enum Step: Sendable {
        case send(Sending)
        /// The order has an answer, and its files belong to the coordinator.
        case finishOrder(then: @Sendable (Result<[FolderMove], TaskFailure>) -> Void)
        /// The order has failed, or has an answer without files.
        case remove(then: @Sendable ([FolderMove]) -> Void)
        /// The process gets the end of its input.
        case finish
        /// The process has ended.
        case end
    }

    private struct Sending: Sendable {
        let number: LeaseID
        let spec: TaskSpec
        let pixelBytes: Int?
        let timeLimit: Duration?
    }

    private struct State {
        var steps: [Step] = []
        /// The process that gets the orders.
        var process: Int32?
        var folderFormats: Set<String> = []
        /// The process has ended.
        var isEnded = false
        var isClosed = false
    }

    private let channel: Int32
    private let conditions: Conditions
    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)
    private let end = AsyncStream.makeStream(of: Void.self)

    /// - Parameter channel: a socket. The sender closes it.
    /// - Throws: if no thread can be started. Then the channel is closed.
    package init(_ channel: Int32, _ conditions: Conditions) throws(ResourceLimitError) {
        self.channel = channel
        self.conditions = conditions
        let code = Self.startThread { [self] in run() }
        guard code == 0 else {
            close(channel)
            throw ResourceLimitError(noThread: code, "start a process")
        }
    }

    /// The formats whose outputs are folders, which the worker makes itself.
    package func setFolderFormats(_ formats: [String]) { state.withLock { $0.folderFormats = Set(formats) } }

    /// Returns at once.
    ///
    /// - Parameters:
    ///   - number: the order's own number.
    ///   - pixelBytes: as in ``Lease``.
    ///   - timeLimit: the time after which the worker is killed. Nil for none.
    package func send(_ number: LeaseID, _ spec: TaskSpec, pixelBytes: Int? = nil, timeLimit: Duration? = nil) {
        add(.send(Sending(number: number, spec: spec, pixelBytes: pixelBytes, timeLimit: timeLimit)))
    }

    /// Limits the process as if it had a task without a picture. Later orders change the limits.
    ///
    /// - Parameter process: a process that has not been reaped, and is not before ``endOfProcess()`` is called.
    /// - Returns: 0, or the error code if it cannot be limited.
    package func limit(_ process: Int32) -> Int32 {
        state.withLock { $0.process = process }
        return limit(for: .compare(DigestTask(files: [])))
    }

    /// After the end of the process, its number may be another process's. So this holds the lock.
    private func limit(for spec: TaskSpec, pixelBytes: Int? = nil, readBytes: Int = 0) -> Int32 {
        guard let share = conditions.limits?.share else { return 0 }
        let limits = TaskLimits(spec, pixelBytes: pixelBytes, readBytes: readBytes, share: share)
        return state.withLock { state in
            guard let process = state.process, !state.isEnded else { return 0 }
            return limits.apply(to: process)
        }
    }

    /// Moves folders that the worker has created to where the last order wanted them, and then calls the closure. The files of the
    /// order belong to the coordinator from now on.
    ///
    /// - Parameter body: gets the folders that were moved. If one could not be moved, all files of the order are removed.
    package func finishFiles(then body: @escaping @Sendable (Result<[FolderMove], TaskFailure>) -> Void) {
        add(.finishOrder(then: body))
    }

    /// Removes the files that were created for the last order, and then calls the closure.
    ///
    /// - Parameter body: gets the folders that the worker knew by another path.
    package func removeFiles(then body: @escaping @Sendable ([FolderMove]) -> Void) { add(.remove(then: body)) }

    /// The worker gets the orders so far, and then the end of its input.
    package func finish() { add(.finish) }

    /// The process has ended. Removes the files of its order. If a file server does not answer, this returns after a
    /// while, and the thread does the rest when it can.
    ///
    /// - Parameter patience: how long to wait for calls that block.
    package func endOfProcess(patience: Duration = .seconds(10)) async {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.steps.append(.end)
            state.isEnded = true
            arrivals.signal()
            // A call that sends returns at once.
            if !state.isClosed { shutdown(channel, Int32(SHUT_RDWR)) }
        }
        let ended = end.stream
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            // The sleep is cancelled when the thread has ended.
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }

    private func add(_ step: Step) {
        state.withLock { state in
            // Nobody is waiting for anything after the end.
            guard !state.isEnded else { return }
            state.steps.append(step)
            arrivals.signal()
        }
    }
}

extension OrderSender {
    private func run() {
        var written = WrittenFiles()
        var spare = SpareScratchFile()
        let mayOpen = restrictThread()
        steps: while true {
            arrivals.wait()
            let (step, isEnded) = state.withLock { ($0.steps.removeFirst(), $0.isEnded) }
            switch step {
            case .send(let sending): if !isEnded { written = send(sending, mayOpen, &spare) }
            case .finishOrder(let body):
                spare.dropUnlessEmpty()
                let failure = written.moveFolders()
                if failure != nil { written.remove() }
                body(failure.map { .failure($0) } ?? .success(written.folders))
                written = WrittenFiles()
            case .remove(let body):
                spare.dropUnlessEmpty()
                written.remove()
                body(written.folders)
                written = WrittenFiles()
            case .finish: shutdown(channel, Int32(SHUT_WR))
            case .end: break steps
            }
        }
        // On NFS a file that is open keeps its folder from being removed.
        spare.drop()
        written.remove()
        state.withLock { state in
            state.isClosed = true
            close(channel)
        }
        end.continuation.finish()
    }

    /// - Returns: whether this thread may open files. If it cannot be restricted, it may not. Its worker cannot be started
    ///   then, for the same reason, which it tells.
    private func restrictThread() -> Bool {
        guard let restrict = conditions.restrictThread else { return true }
        do {
            try restrict()
            return true
        } catch {
            return false
        }
    }

    /// - Returns: the files that the worker writes.
    private func send(_ sending: Sending, _ mayOpen: Bool, _ spare: inout SpareScratchFile) -> WrittenFiles {
        let formats = state.withLock { $0.folderFormats }
        let (spec, moves) = sending.spec.creatingFolders(in: conditions.folders, folderFormats: formats)
        let wanted = spec.files(folderFormats: formats)
        let files: OpenedTaskFiles
        if mayOpen {
            files = OpenedTaskFiles(wanted, temporaryFolder: conditions.temporaryFolder, spare: &spare)
        } else {
            files = OpenedTaskFiles(refused: wanted)
        }
        do {
            let message = try FrameCodec.encode(
                Order.start(sending.number, spec, files.sent, timeLimit: sending.timeLimit))
            // It was possible when the worker became ready. If it is not any more, the worker keeps its earlier limits.
            _ = limit(for: spec, pixelBytes: sending.pixelBytes, readBytes: files.readBytes)
            conditions.willSend()
            send(message, files.descriptors)
        } catch {
            conditions.cannotSend()
        }
        return WrittenFiles(files: files.written, folders: moves)
    }

    /// The kernel hands over at most 253 descriptors at once. Nearly all tasks need fewer than ten.
    private static let mostFilesAtOnce = 200

    private func send(_ message: [UInt8], _ descriptors: [Int32]) {
        var (rest, files) = (message[...], descriptors[...])
        while !rest.isEmpty {
            // An order names each of its files, so it has more bytes than files. All files are there before its last byte is.
            let handed = Array(files.prefix(Self.mostFilesAtOnce))
            let part = handed.count < files.count ? rest.prefix(1) : rest
            let count = part.withUnsafeBytes { bytes in
                channel_send(channel, bytes.baseAddress, bytes.count, handed, handed.count)
            }
            if count == -Int64(ETOOMANYREFS), !state.withLock({ $0.isEnded }) {
                // Too many descriptors of this user are on their way. Workers take them in milliseconds.
                usleep(5000)
                continue
            }
            // If it fails, the process has ended. The end of its output reports that.
            guard count > 0 else { return }
            files = files.dropFirst(handed.count)
            rest = rest.dropFirst(Int(count))
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { run = body }
    }

    /// - Returns: 0, or the error code of the thread that could not be started.
    private static func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Body(body))
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        if code == 0 { pthread_detach(thread) } else { context.release() }
        return code
    }
}

/// The two ends of the socket that is a worker's standard input.
final class OrderChannel: Sendable {
    /// The ``OrderSender`` closes it.
    let ownEnd: Int32
    private let other: Mutex<Int32?>

    init() throws {
        var ends: [Int32] = [-1, -1]
        let code = channel_make_pair(&ends)
        guard code == 0 else {
            throw ResourceLimitError(code: -code, "start a process") ?? Errno(rawValue: -code)
        }
        ownEnd = ends[0]
        other = Mutex(ends[1])
        workersEnd = FileDescriptor(rawValue: ends[1])
    }

    /// Valid until ``closeWorkersEnd()``.
    let workersEnd: FileDescriptor

    /// The worker has its own descriptor, or could not be started.
    func closeWorkersEnd() {
        if let file = other.withLock({ $0.take() }) { close(file) }
    }

    deinit { closeWorkersEnd() }
}
