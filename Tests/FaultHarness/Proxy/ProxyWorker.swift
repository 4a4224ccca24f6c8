import CChannel
import Foundation
import Glibc
import Synchronization

/// A worker that passes messages between the coordinator and a real worker, and strikes some tasks on the way.
///
/// The real worker stays in this process's group, which the coordinator kills as a whole. When either end of the
/// conversation goes, so does the other.
final class ProxyWorker: Sendable {
    private struct Struck {
        let task: TaskIdentity
        let fault: Fault?
    }

    private let plan: FaultPlan
    private let book: FaultBook
    private let process: pid_t
    private let toWorker: Int32
    private let fromWorker: Int32
    private let open = Mutex<[Int: Struck]>([:])

    /// - Parameter arguments: those of the worker program.
    init(_ plan: FaultPlan, _ arguments: [String]) throws {
        signal(SIGPIPE, SIG_IGN)
        self.plan = plan
        book = FaultBook(folder: plan.folder)
        var (orders, reports): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        // Open files come with orders, and go along with them.
        let code = channel_make_pair(&orders)
        guard code == 0 else { throw SpawnProblem(executable: "a pair of sockets", code: -code) }
        guard pipe(&reports) == 0 else { throw SpawnProblem(executable: "a pipe", code: errno) }
        _ = fcntl(reports[0], F_SETFD, FD_CLOEXEC)
        let child = try ChildProcess(
            plan.worker, arguments, environment: ProcessInfo.processInfo.environment, input: .descriptor(orders[0]),
            output: .descriptor(reports[1]), errors: .descriptor(2), ownGroup: false)
        close(orders[0])
        close(reports[1])
        (process, toWorker, fromWorker) = (child.processID, orders[1], reports[0])
    }

    /// Serves to the end, and ends as the worker ended.
    func run() -> Never {
        Thread { self.passOrders() }.start()
        while let report = WireFrame(from: fromWorker) { pass(report: report) }
        // What is no frame, such as the long answer of 'describe', is lost. A worker that cannot write it would never end.
        var rest = [UInt8](repeating: 0, count: 1 << 16)
        while read(fromWorker, &rest, rest.count) > 0 {}
        var status: Int32 = 0
        waitpid(process, &status, 0)
        switch Ending(status: status) {
        case .exited(let code): _exit(code)
        case .signaled(let number):
            signal(number, SIG_DFL)
            kill(getpid(), number)
            _exit(128 + number)
        }
    }

    private func passOrders() {
        while let order = WireFrame(from: 0) {
            pass(order: order)
            order.closeFiles()
        }
        close(toWorker)
    }

    /// Which tasks are struck depends on the seed and the task alone, not on who gets it or when.
    private func fault(for task: TaskIdentity) -> Fault? {
        guard plan.kinds?.contains(task.kind) ?? true else { return nil }
        var random = SplitMix64(seed: plan.seed ^ fingerprint(task.key))
        let struck = plan.faults.filter { ![.duplicateReady, .lieReady].contains($0) }
        guard random.chance(plan.chance), let fault = struck.randomElement(using: &random) else { return nil }
        let name = String(fingerprint(task.key), radix: 16)
        guard !fault.isDamage || task.victim(plan) != nil || task.metadata != nil, book.claimTask(name, plan) else {
            return nil
        }
        book.note("fault", fault.rawValue, task.key)
        return fault
    }
}

extension ProxyWorker {
    private func pass(order: WireFrame) {
        guard let task = TaskIdentity(order: order.body) else { return order.write(to: toWorker) }
        let fault = fault(for: task)
        var random = randomness(of: task)
        open.withLock { $0[task.lease] = Struck(task: task, fault: fault) }
        switch fault {
        case .delayOrder: pause(Double.random(in: 0.02...plan.longest, using: &random))
        case .dropOrder: return
        case .garbleOrder: return order.garbled(&random).write(to: toWorker)
        case .flipOrder: return order.flipped(&random).write(to: toWorker)
        case .oversizeOrder:
            Bytes.write(WireFrame.oversized, to: toWorker)
            return
        case .duplicateOrder: order.write(to: toWorker)
        default: break
        }
        order.write(to: toWorker)
        if let fault { endWorker(fault, during: task, &random) }
    }

    /// Only while it has the task: a worker that is done with it may have another one already.
    private func endWorker(_ fault: Fault, during task: TaskIdentity, _ random: inout SplitMix64) {
        let signals: [Fault: Int32] = [.crash: SIGSEGV, .kill: SIGKILL, .hang: SIGSTOP]
        guard let signal = signals[fault] else { return }
        let delay = Double.random(in: 0...min(plan.longest, 0.05), using: &random)
        Thread { [self] in
            pause(delay)
            open.withLock { if $0[task.lease] != nil { Glibc.kill(process, signal) } }
        }.start()
    }

    private func pass(report: WireFrame) {
        let heard = HeardReport(report.body)
        switch heard {
        case .ready:
            greet(report)
            repeatGreeting(report)
        case .finished(let lease), .failed(let lease, _, _):
            let struck = open.withLock { $0.removeValue(forKey: lease) }
            if let struck { tell(heard, of: struck.task) }
            pass(report, of: struck, heard)
        case .other: tellMore(report)
        }
    }

    /// What it says of its own accord: that it lives, whose code it runs, that it is worn.
    private func tellMore(_ report: WireFrame) {
        var random = SplitMix64(seed: plan.seed &+ fingerprint("\(report.body)") &+ UInt64(book.notes.count))
        guard plan.faults.contains(.lie), random.chance(plan.chance), book.claimOne(of: plan.limit, "more") else {
            return report.write(to: 1)
        }
        lie(about: report, "of its own accord", &random).write(to: 1)
    }

    private func makeUp(_ lease: Int, _ random: inout SplitMix64) {
        let order = [lease, lease, lease + 1, lease - 1, 0, -1, Int.max].randomElement(using: &random) ?? lease
        let reports = [
            #"{"worn":{"_0":{"number":\#(order)}}}"#, #"{"alive":{}}"#,
            #"{"inPlugins":{"_0":{"number":\#(order)},"_1":["gaussian","grain"]}}"#,
            #"{"finished":{"_0":{"number":\#(order)},"_1":{"compare":{"_0":[]}}}}"#,
            #"{"failed":{"_0":{"number":\#(order)},"_1":{"kind":{"data":{}},"message":"made up"}}}"#,
        ]
        for text in reports.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
            book.note("lie", "made up: \(text)", "\(lease)")
            WireFrame(saying: Array(text.utf8)).write(to: 1)
        }
    }

    private func greet(_ greeting: WireFrame) {
        guard plan.faults.contains(.lieReady), book.claimOne(of: plan.limit, "slot") else {
            return greeting.write(to: 1)
        }
        var random = SplitMix64(seed: plan.seed &+ UInt64(book.notes.count))
        lie(about: greeting, "ready", &random).write(to: 1)
    }

    /// One value or two.
    private func lie(about report: WireFrame, _ subject: String, _ random: inout SplitMix64) -> WireFrame {
        var text = Data(report.body)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            guard let lie = JSONLiar(paths: plan.paths).lie(about: text, &random) else { break }
            text = lie.text
            book.note("lie", lie.words, subject)
        }
        return WireFrame(saying: Array(text))
    }

    private func repeatGreeting(_ greeting: WireFrame) {
        guard plan.faults.contains(.duplicateReady), book.claimOne(of: plan.limit, "slot") else { return }
        book.note("fault", Fault.duplicateReady.rawValue, "ready \(getpid())")
        var random = SplitMix64(seed: plan.seed)
        pause(Double.random(in: 0...0.03, using: &random))
        greeting.write(to: 1)
    }

    private func pass(_ report: WireFrame, of struck: Struck?, _ heard: HeardReport) {
        guard let struck, let fault = struck.fault else { return report.write(to: 1) }
        var random = randomness(of: struck.task)
        switch fault {
        case .delayReport: pause(Double.random(in: 0.02...plan.longest, using: &random))
        case .dropReport: return
        case .garbleReport: return report.garbled(&random).write(to: 1)
        case .flipReport: return report.flipped(&random).write(to: 1)
        case .oversizeReport:
            Bytes.write(WireFrame.oversized, to: 1)
            return
        case .duplicateReport: report.write(to: 1)
        case .flipFile: damage(struck.task.victim(plan), .flip, heard, &random)
        case .truncateFile: damage(struck.task.victim(plan), .truncate, heard, &random)
        case .zeroFile: damage(struck.task.victim(plan), .zero, heard, &random)
        case .flipMetadata: damage(struck.task.metadata, .flip, heard, &random)
        case .lie: return lie(about: report, struck.task.key, &random).write(to: 1)
        case .replaceFile: replace(struck.task.written ?? struck.task.output, heard, &random)
        case .madeUp: makeUp(struck.task.lease, &random)
        case .plantByte: plant(struck.task.output, heard)
        default: break
        }
        report.write(to: 1)
    }

    /// What is done to a task follows from the seed and the task alone.
    private func randomness(of task: TaskIdentity) -> SplitMix64 {
        SplitMix64(seed: plan.seed &+ fingerprint(task.key))
    }

    /// Says which files the worker found to be damaged.
    private func tell(_ report: HeardReport, of task: TaskIdentity) {
        guard case .failed(_, let kind, let tile) = report else { return }
        book.note("failed", kind, task.key)
        if let tile, task.read.indices.contains(tile) {
            book.note("found", task.read[tile])
        } else if kind == "damagedCanvas" || kind == "mismatch" {
            for path in task.read { book.note("found", path) }
        }
    }

    private func replace(_ path: String?, _ report: HeardReport, _ random: inout SplitMix64) {
        guard case .finished = report, let path, let home = plan.decoys else { return }
        if let what = FileLie.replace(path, Decoys(home: home), &random) { book.note("lie", path, what) }
    }

    /// In the middle, so that the file has as many bytes as its report says.
    private func plant(_ path: String?, _ report: HeardReport) {
        guard case .finished = report, let path, let file = FileHandle(forUpdatingAtPath: path) else { return }
        defer { try? file.close() }
        guard let end = try? file.seekToEnd(), (try? file.seek(toOffset: end / 2)) != nil,
            let byte = try? file.read(upToCount: 1)?.first, (try? file.seek(toOffset: end / 2)) != nil,
            (try? file.write(contentsOf: Data([byte ^ 1]))) != nil
        else { return }
        book.note("lie", path, "another byte")
    }

    /// The file is whole, and nobody has read it yet.
    private func damage(_ path: String?, _ damage: FileDamage, _ report: HeardReport, _ random: inout SplitMix64) {
        guard case .finished = report, let path else { return }
        if let done = damage.strike(path, &random) { book.note("damaged", path, done) }
    }
}
