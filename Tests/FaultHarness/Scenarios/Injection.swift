/// One way to disturb runs.
protocol Injection {
    /// Runs the job and disturbs it. What holds afterwards is checked by ``Stage/settle()``.
    func inject(into stage: Stage) throws
}

/// Nothing is disturbed. (The harness itself is tested with it.)
struct Calm: Injection {
    func inject(into stage: Stage) throws { try stage.finish(stage.start(), stage.doneCodes) }
}
