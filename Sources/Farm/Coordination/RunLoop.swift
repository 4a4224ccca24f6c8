package import Engines
package import JobModel
package import SafeFiles
package import Scheduling
import WorkerProtocol

/// The shell around the scheduler: gives it events and the time, and carries out its directives.
package struct RunLoop: Sendable {
    /// Carries out what the scheduler does not decide.
    package protocol Delegate: AnyObject, Sendable {
        /// The next frames, at most `count`; none at the end of the plan.
        func nextFrames(_ count: Int) -> Frames
        /// Called before a worker writes the files of a lease.
        func willStart(_ lease: Lease) throws(FileError)
        /// Called concurrently with all other calls. It may block on a disk.
        func publish(_ frame: FrameID, _ outputs: [Publication]) async -> PublishFailure?
        /// Decides about a frame after the files of its order were read.
        func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision
        /// Records the end of an attempt.
        func ended(_ lease: Lease, _ end: AttemptEnd)
        /// Records an attempt that ended too soon. Its result is audited.
        func flagged(_ lease: Lease, _ speed: ImplausibleSpeed)
        /// Records that a slot is not used any more.
        func retired(_ retirement: Retirement)
        /// Records text of a worker's standard error.
        func standardError(of worker: WorkerID, _ text: String)
        /// Requests from outside, such as files in the run's folder. Read at every tick.
        var request: Request? { get }
        func concluded(_ frame: FrameID, _ outcome: FrameOutcome)
        /// Whether the tiles of several ended frames wait to be removed. Then no further frame is tiled. Read at every event.
        var isBehindWithTiles: Bool { get }
        func workerLost()
        /// Whether the progress at this time should have the tiles of frames. Read at every tick.
        func wantsTiles(at time: Timestamp) -> Bool
        func progressed(_ progress: Scheduler.Progress, at time: Timestamp)
    }

    package enum Frames: Sendable {
        case some([FrameOrder])
        case none
        /// No frame can begin on this machine.
        case unfit(StopReason)
    }

    package enum Request: Hashable, Sendable {
        /// - Parameter workers: the most tasks at a time; nil for as many as there are workers.
        case proceed(isPaused: Bool, workers: Int?)
        case stop(StopReason)
    }

    let engine: any Engine
    let control: RunControl
    let deadline: Deadline?
    /// Whether another coordinator resumes the run if this process ends by a signal or an error of its machine.
    let continuesElsewhere: Bool
    let clock: RunClock

    package init(
        engine: any Engine, control: RunControl, deadline: Deadline? = nil, continuesElsewhere: Bool = false,
        clock: RunClock = .system
    ) {
        self.continuesElsewhere = continuesElsewhere
        self.deadline = deadline
        self.engine = engine
        self.control = control
        self.clock = clock
    }

    /// How often the time is checked, for leases and for the progress bar.
    private static let tick = Duration.milliseconds(100)

    /// Runs until the scheduler finishes. Returns why it stopped early, or nil.
    package func run(_ scheduler: Scheduler, _ delegate: some Delegate) async -> StopReason? {
        let events = EventQueue()
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        async let running: Void = engine.run(commands) { events.post($0) }
        let reason = await withDiscardingTaskGroup { group in
            group.addTask { await keepTicking(events, delegate) }
            group.addTask { await forwardStops(events) }
            defer { group.cancelAll() }
            return await decide(scheduler, events, delegate, command, in: &group)
        }
        events.end()
        command.finish()
        await running
        return reason
    }

    private func decide(
        _ scheduler: Scheduler, _ events: EventQueue, _ delegate: some Delegate,
        _ command: AsyncStream<EngineCommand>.Continuation, in group: inout DiscardingTaskGroup
    ) async -> StopReason? {
        var scheduler = scheduler
        var watch = StallWatch()
        var holdsTiling = false
        let start = clock.now
        if control.isPaused { events.post(.pause(true)) }
        if let limit = control.workerLimit { events.post(.limitWorkers(limit)) }
        events.post(.tick)
        let ending: Ending? = await events.read { event in
            switch event {
            case .workerLost(_, let death) where death.isOfProcess: delegate.workerLost()
            case .words(let worker, let text): delegate.standardError(of: worker, text)
            case .stop(let reason) where handsOver(for: reason):
                command.yield(.handOver)
                return Ending(reason: reason)
            default: break
            }
            let now = Timestamp(clock.now - start)
            let stall = watch.gap(at: now).map { scheduler.handle(.stalled($0), at: now) } ?? []
            let isBehind = delegate.isBehindWithTiles
            let hold = isBehind == holdsTiling ? [] : scheduler.handle(.holdTiling(isBehind), at: now)
            holdsTiling = isBehind
            for directive in stall + hold + scheduler.handle(event, at: now) {
                if case .finish(let reason) = directive {
                    if let reason, handsOver(for: reason) { command.yield(.handOver) }
                    return Ending(reason: reason)
                }
                carryOut(directive, delegate, command, events, in: &group)
            }
            // Progress is reported only at ticks, because thousands of events come between two ticks.
            if case .tick = event {
                delegate.progressed(scheduler.progress(withTiles: delegate.wantsTiles(at: now)), at: now)
                command.yield(.pulse)
            }
            return nil
        }
        return ending?.reason
    }

    /// The run is over.
    private struct Ending {
        /// Nil if the plan was completed.
        let reason: StopReason?
    }

    /// Whether another coordinator has the run, or will. Then nothing of it is ended or removed.
    private func handsOver(for reason: StopReason) -> Bool {
        switch reason {
        case .detached, .superseded: true
        case .interrupted, .storage, .engine, .resourceLimit, .cluster, .lastSlot: continuesElsewhere
        case .cancelled, .pluginFault, .deadline, .failures: false
        }
    }

    private func carryOut(
        _ directive: Directive, _ delegate: some Delegate, _ command: AsyncStream<EngineCommand>.Continuation,
        _ events: EventQueue, in group: inout DiscardingTaskGroup
    ) {
        switch directive {
        case .wantFrames(let count): for event in answer(delegate.nextFrames(count), count) { events.post(event) }
        case .start(let lease):
            do {
                try delegate.willStart(lease)
                command.yield(.start(lease))
            } catch {
                events.post(.stop(StopReason(error)))
            }
        case .ended(let lease, let end): delegate.ended(lease, end)
        case .flag(let lease, let speed): delegate.flagged(lease, speed)
        case .widen(let count): command.yield(.widen(to: count))
        case .retire(let retirement):
            command.yield(.retire(retirement.slot))
            delegate.retired(retirement)
        case .kill(let worker, let dismissal):
            if case .silent = dismissal { delegate.workerLost() }
            command.yield(.kill(worker))
        case .recycle(let worker): command.yield(.recycle(worker))
        case .publish(let frame, let outputs):
            group.addTask {
                let failure = await delegate.publish(frame, outputs)
                events.post(failure.map { .publishFailed(frame, $0) } ?? .published(frame))
            }
        case .decide(let frame, let facts): events.post(.decided(frame, delegate.decide(frame, facts)))
        case .conclude(let frame, let outcome): delegate.concluded(frame, outcome)
        case .finish: break
        }
    }

    private func answer(_ frames: Frames, _ wanted: Int) -> [Event] {
        switch frames {
        case .some(let orders): [.frames(orders, wanted: wanted)]
        case .none: [.planEnded]
        case .unfit(let reason): [.frames([], wanted: wanted), .stop(reason)]
        }
    }

    private func keepTicking(_ events: EventQueue, _ delegate: some Delegate) async {
        var last: Request?
        // The first tick posts both, because they may have changed since the run began.
        var (isPaused, workerLimit) = (Bool?.none, Int??.none)
        // The sleep is cancelled when the run is over.
        while (try? await clock.sleep(for: Self.tick)) != nil {
            // Requests by files in the run's folder count like requests by the owner.
            let request = delegate.request
            if request != last {
                switch request {
                case .proceed(let isPaused, let workers):
                    isPaused ? control.pause(for: .run) : control.resume(for: .run)
                    control.limitWorkers(to: workers)
                case nil: control.resume(for: .run)
                case .stop(let reason): control.stop(reason)
                }
                last = request
            }
            if control.isPaused != isPaused {
                isPaused = control.isPaused
                events.post(.pause(control.isPaused))
            }
            if workerLimit != .some(control.workerLimit) {
                workerLimit = .some(control.workerLimit)
                events.post(.limitWorkers(control.workerLimit))
            }
            events.post(.tick)
            guard let deadline else { continue }
            if clock.now >= deadline.end { events.post(.drain) }
            if clock.now >= deadline.lastEnd { events.post(.stop(.deadline)) }
        }
    }

    private func forwardStops(_ events: EventQueue) async {
        for await reason in control.stops() { events.post(.stop(reason)) }
    }
}

/// Defaults for runs that are not recorded, and get no requests.
extension RunLoop.Delegate {
    package var request: RunLoop.Request? { nil }
    package var isBehindWithTiles: Bool { false }
    package func wantsTiles(at time: Timestamp) -> Bool { false }
    package func willStart(_ lease: Lease) {}
    package func workerLost() {}
    package func ended(_ lease: Lease, _ end: AttemptEnd) {}
    package func flagged(_ lease: Lease, _ speed: ImplausibleSpeed) {}
    package func retired(_ retirement: Retirement) {}
    package func standardError(of worker: WorkerID, _ text: String) {}
}

/// The clock of a run: the system's clock, or a test's manual clock.
package struct RunClock: Sendable {
    private let read: @Sendable () -> ContinuousClock.Instant
    private let wait: @Sendable (Duration) async throws -> Void

    /// - Parameter wait: throws if its task is cancelled.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        read = now
        self.wait = wait
    }

    package static let system = RunClock {
        ContinuousClock.now
    } wait: {
        try await Task.sleep(for: $0)
    }

    package var now: ContinuousClock.Instant { read() }

    package func sleep(for duration: Duration) async throws { try await wait(duration) }
}

/// The deadline of a run.
package struct Deadline: Hashable, Sendable {
    /// No frame begins after this time.
    package let end: ContinuousClock.Instant
    /// The additional time for frames that have begun.
    package let grace: Duration

    /// A tenth of the time, at most half a minute, is reserved for frames that have begun.
    package init(start: ContinuousClock.Instant, allowed: Duration) {
        grace = min(allowed / 10, .seconds(30))
        end = start + allowed - grace
    }

    package var lastEnd: ContinuousClock.Instant { end + grace }

    /// Half of the remaining time, for preparations before frames begin.
    package func half(at now: ContinuousClock.Instant) -> Deadline {
        Deadline(start: now, allowed: max(.zero, lastEnd - now) / 2)
    }
}
