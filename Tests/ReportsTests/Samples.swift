import JobModel
import Reports

extension RunReport {
    /// A run that did what is given; the counts are those of the frames unless they are given.
    static func make(
        job: String = "thumbnails", exitCode: Int32? = nil, stopped: String? = nil, counts: RunCounts? = nil,
        bytesRead: Int = 1_310_200_000, bytesWritten: Int = 92_100_000, megapixels: Double = 1412,
        workersReplaced: Int = 0, causes: [String: Int] = [:], retiredSlots: Int = 0, frames: [FrameRecord] = [],
        orphans: [String] = [], settings: [Fact] = []
    ) -> RunReport {
        var counts = counts ?? RunCounts(of: frames)
        (counts.bytesWritten, counts.megapixels, counts.failedByCause) = (bytesWritten, megapixels, causes)
        let isBad = stopped != nil || counts.failed + counts.stillBroken > 0
        return RunReport(
            job: job, manifest: "jobs/\(job).yaml",
            started: Moment(text: "2026-11-21T21:30:00Z", seconds: 1_795_296_600),
            ended: Moment(text: "2026-11-21T21:30:12Z", seconds: 1_795_296_612), elapsed: .milliseconds(12_400),
            exitCode: exitCode ?? (isBad ? 1 : 0), stopped: stopped, counts: counts, bytesRead: bytesRead,
            workers: 8, workersReplaced: workersReplaced,
            frames: frames, orphans: orphans, retiredSlots: retiredSlots, settings: settings,
            versions: [Fact("Penumbra", "0.1.0")])
    }
}

extension RunCounts {
    init(of frames: [FrameRecord]) {
        self.init(frames: frames.count)
        for frame in frames { add(frame.state) }
    }

    init(
        frames: Int = 0, published: Int = 0, skipped: Int = 0, kept: Int = 0, failed: Int = 0, stillBroken: Int = 0,
        left: Int = 0
    ) {
        self.init()
        (self.frames, self.published, self.skipped, self.kept) = (frames, published, skipped, kept)
        (self.failed, self.stillBroken, self.left) = (failed, stillBroken, left)
    }
}

extension FrameRecord {
    static func make(
        _ input: String = "photos/a.jpg", output: String = "out/a.webp", state: FrameResult = .published,
        time: Duration? = nil, before: Thumbnail? = nil, after: Thumbnail? = nil
    ) -> FrameRecord {
        let kept: [FileReason] =
            if case .kept(let reason) = state { [FileReason(path: output, reason: reason)] } else { [] }
        return FrameRecord(
            input: input,
            outputs: [
                ReportedOutput(
                    path: output,
                    file: .init(bytes: 12_345, width: 320, height: 240, digest: Digest(high: 0xabcd << 48, low: 7)))
            ], kept: kept, state: state, time: time, megapixels: 24.2, before: before, after: after)
    }

    static func broken(_ input: String, _ cause: String = "out of memory", _ message: String = "no") -> FrameRecord {
        make(input, state: .failed(cause: cause, message: message))
    }
}

extension AssetIndex.Output {
    static func make(_ path: String, format: String = "webp") -> AssetIndex.Output {
        AssetIndex.Output(
            path: path, bytes: 4210, digest: Digest(high: 0, low: 255), width: 320, height: 240, format: format)
    }
}
