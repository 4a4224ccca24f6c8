package import Coordination
package import Scheduling

/// A run loop over a fake engine. A test moves its time.
package struct ManualRun: Sendable {
    package let engine: FakeEngine
    package let clock = ManualClock()
    package let control = RunControl()

    package init(_ answer: @escaping @Sendable (Lease) -> FakeEngine.Answer) { engine = FakeEngine(answer) }

    package func loop(deadline: Deadline? = nil, continuesElsewhere: Bool = false) -> RunLoop {
        RunLoop(
            engine: engine, control: control, deadline: deadline, continuesElsewhere: continuesElsewhere,
            clock: clock.clock)
    }

    /// Runs to the end. The body begins when the run has read the time first. After the body, time passes until the run is
    /// over.
    package func callAsFunction<Result: Sendable>(
        _ run: @escaping @Sendable () async -> Result, during body: () async -> Void = {}
    ) async -> Result {
        async let result = ended(run)
        await engine.waitForTick()
        await body()
        while !clock.isStopped { await step() }
        return await result
    }

    private func ended<Result>(_ run: () async -> Result) async -> Result {
        let result = await run()
        clock.stop()
        return result
    }

    /// Moves the time, tick by tick, until the run is over.
    package func pass(_ duration: Duration) async {
        for _ in 0..<Int(duration / Self.tick) where !clock.isStopped { await step() }
    }

    private static let tick = Duration.milliseconds(100)

    private func step() async {
        await clock.advance(by: Self.tick)
        await engine.waitForTick()
    }
}
