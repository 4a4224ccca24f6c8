import Catalogs
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Something that a wrong scheduler might direct, with the referee's complaint: a check that cannot fail tests nothing.
struct Misdeed: Sendable, CustomTestStringConvertible {
    let complaint: String
    let play: @Sendable (inout Referee) -> Void

    init(_ complaint: String, _ play: @escaping @Sendable (inout Referee) -> Void) {
        self.complaint = complaint
        self.play = play
    }

    var testDescription: String { complaint }
}

@Suite struct RefereeTests {
    @Test(arguments: leasing + counting + retiring + ending)
    func `the referee notices`(misdeed: Misdeed) {
        var referee = Referee.watching()
        misdeed.play(&referee)
        #expect(referee.complaints.contains(misdeed.complaint))
    }

    @Test func `the referee has nothing to say to a frame that is probed, rendered and published`() {
        var referee = Referee.watching()
        referee.render()
        referee.see(.published(FrameID(1)), [.conclude(FrameID(1), .left)])
        #expect(referee.complaints == [])
    }

    static let leasing = [
        Misdeed("a lease for a worker that is dead or not ready") { $0.start(1, worker: 9) },
        Misdeed("a lease for a worker that is busy") {
            $0.start(1)
            $0.start(2, frame: 2)
        },
        Misdeed("a lease for a worker that is told to end") {
            $0.see(.tick, [.recycle(WorkerID(1))])
            $0.start(1)
        },
        Misdeed("one task is leased twice at once") {
            $0.start(1)
            $0.start(2, worker: 2)
        },
        Misdeed("a lease number comes twice") {
            $0.start(1)
            $0.start(1, frame: 2, worker: 2)
        },
        Misdeed("a lease for a frame that is not open") {
            $0.see(.tick, [.conclude(FrameID(1), .left)])
            $0.start(1)
        },
        Misdeed("a lease of a wrong round") { $0.start(1, round: 1) },
        Misdeed("a lease without a deadline") { $0.start(1, limit: .zero) },
        Misdeed("a lease after the stop") {
            $0.see(.stop(.deadline), [])
            $0.start(1)
        },
        Misdeed("frame is begun before what it needs is there") { $0.start(1, kind: .frame) },
        Misdeed("a worker audits its own pixels") {
            $0.render(publishes: false)
            $0.start(3, kind: .audit)
        },
    ]

    static let counting = [
        Misdeed("attempts are not numbered one by one") { $0.start(1, attempt: 2) },
        Misdeed("an attempt too many") {
            for number in 1...3 {
                $0.start(number, attempt: number)
                $0.see(.workerLost(WorkerID(1), Death(.signal(11))), [])
                $0.see(.workerReady(WorkerID(1)), [])
            }
        },
        Misdeed("too many open frames") { $0.see(.tick, [.wantFrames(3)]) },
        Misdeed("frames are wanted that nobody can use") { $0.see(.planEnded, [.wantFrames(1)]) },
        Misdeed("widened to 3") { $0.see(.tick, [.widen(to: 3)]) },
        Misdeed("killed twice") { $0.see(.tick, [.kill(WorkerID(1), .stopping), .kill(WorkerID(1), .stopping)]) },
        Misdeed("a dead worker is killed") { $0.see(.tick, [.kill(WorkerID(9), .stopping)]) },
        Misdeed("a worker that was heard of counts as silent") {
            $0.see(.tick, [.kill(WorkerID(1), .silent(.seconds(5)))])
        },
        Misdeed("a lease is ended before its time") {
            $0.start(1)
            $0.see(.tick, [.kill(WorkerID(1), .overdue)])
        },
        Misdeed("a worker that is not idle is recycled") {
            $0.start(1)
            $0.see(.tick, [.recycle(WorkerID(1))])
        },
    ]

    static let retiring = [
        Misdeed("a slot is retired that is none") { $0.retire(9) },
        Misdeed("a slot is retired for next to nothing") { $0.retire(1) },
        Misdeed("the last slot is retired") {
            $0.retire(1)
            $0.retire(2)
        },
        Misdeed("a slot is retired after the stop") {
            $0.see(.stop(.deadline), [])
            $0.retire(1)
        },
    ]

    static let ending = [
        Misdeed("something is published that no result asked for") { $0.see(.tick, [.publish(FrameID(1), [])]) },
        Misdeed("something is published that is not verified") { $0.see(.tick, [.publish(FrameID(1), [])]) },
        Misdeed("published twice: /out/1.png") {
            $0.render()
            $0.see(.tick, [.publish(FrameID(2), [.make("/out/1.png")])])
        },
        Misdeed("a frame is published that is not open") {
            $0.render()
            $0.see(.tick, [.publish(FrameID(1), [])])
        },
        Misdeed("something is published after the stop") {
            $0.see(.stop(.deadline), [.publish(FrameID(1), [])])
        },
        Misdeed("a decision without a comparison") { $0.see(.tick, [.decide(FrameID(1), [])]) },
        Misdeed("frame 1 is concluded twice") {
            $0.see(.tick, [.conclude(FrameID(1), .left), .conclude(FrameID(1), .left)])
        },
        Misdeed("a frame is concluded that nobody offered") { $0.see(.tick, [.conclude(FrameID(9), .left)]) },
        Misdeed("a frame counts as published, and is not") {
            $0.see(.tick, [.conclude(FrameID(1), .published([], probe: .make()))])
        },
        Misdeed("a survey without a probe") { $0.see(.tick, [.conclude(FrameID(1), .surveyed(.make()))]) },
        Misdeed("a frame is settled that nobody decided on") { $0.see(.tick, [.conclude(FrameID(1), .settled)]) },
        Misdeed("finished before every frame was concluded") { $0.see(.tick, [.finish(nil)]) },
        Misdeed("finished while workers hold leases") {
            $0.start(1)
            $0.see(.tick, [.finish(nil)])
        },
        Misdeed("finished while frames are on their way") { $0.see(.tick, [.wantFrames(1), .finish(nil)]) },
        Misdeed("directives after the end") {
            $0.see(.tick, [.finish(nil)]); $0.see(.tick, [.widen(to: 2)])
        },
    ]
}

extension Referee {
    /// Two workers are ready, and two of four possible frames are open. There are no complaints.
    fileprivate static func watching() -> Referee {
        let policy = SchedulingPolicy(
            retry: RetryPolicy(retries: 2), time: TimePolicy(limit: .seconds(10)),
            shard: ShardPolicy(mode: .auto, workers: 2, frames: 2, frameMemory: 1 << 30), verify: .digest, workers: 2,
            seed: 1)
        var referee = Referee(policy)
        referee.see(.tick, [.wantFrames(2), .widen(to: 2)])
        referee.see(.frames([.make(1), .make(2)], wanted: 2), [])
        for number in 1...2 { referee.see(.workerReady(WorkerID(number)), []) }
        return referee
    }

    fileprivate mutating func see(_ event: Event, _ directives: [Directive]) { see(event, directives, at: .start) }

    fileprivate mutating func start(
        _ number: Int, frame: Int = 1, kind: TaskKind = .probe, worker: Int = 1, attempt: Int = 1, round: Int = 0,
        limit: Duration = .seconds(10)
    ) {
        let lease = Lease(
            id: LeaseID(number), task: TaskID(FrameID(frame), kind), attempt: attempt, round: round,
            worker: WorkerID(worker), deadline: Timestamp.start + limit, timeLimit: limit, spec: Self.spec(of: kind))
        see(.tick, [.start(lease)])
    }

    /// The tasks that the receipts below answer.
    private static func spec(of kind: TaskKind) -> TaskSpec {
        let input = InputSpec(path: "/in/1.png", maxPixels: 1 << 20, color: .keep)
        let output = OutputSpec(format: "png", save: SaveOptions())
        return switch kind {
        case .probe:
            .probe(
                ProbeTask(
                    input: input, chain: [], outputs: [output], tile: .auto, tileMemory: 1, frameMemory: 1,
                    digestsContent: false))
        case .frame: .frame(FrameTask(input: input, chain: [], outputs: [], tileMemory: 1, frameMemory: 1))
        default: .compare(DigestTask(files: []))
        }
    }

    fileprivate mutating func retire(_ slot: Int) {
        see(.tick, [.retire(Retirement(slot: SlotID(slot), pictures: 3, idleDeaths: 0))])
    }

    /// Worker 1 probes and renders frame 1.
    fileprivate mutating func render(publishes: Bool = true) {
        start(1)
        see(.report(WorkerID(1), .finished(LeaseID(1), .probe(.make()))), [])
        start(2, kind: .frame)
        let done = Event.report(WorkerID(1), .finished(LeaseID(2), .outputs([], of: .make())))
        see(done, publishes ? [.publish(FrameID(1), [.make("/out/1.png")])] : [])
    }
}

extension Publication {
    fileprivate static func make(_ path: String) -> Publication {
        Publication(.make(path: path), path: path, part: 0, source: .make())
    }
}
