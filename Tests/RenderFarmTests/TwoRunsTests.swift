import Coordination
import ExamplePictures
import Foundation
import JobModel
import JobStorage
import RenderFarm
import Runs
import Scheduling
import Subprocess
import Synchronization
import SystemPackage
import Testing
import TestSupport

/// The farm as a library: jobs that run in the process of a test, with real workers.
@Suite struct TwoRunsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // As programs that run the farm do: a worker that ends is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Keeps what it is told.
    private final class Listener: RunListener {
        private let events = Mutex<[RunEvent]>([])
        let began: AsyncStream<String>
        private let tell: AsyncStream<String>.Continuation

        /// Is called with the number of frames that have ended, at each of them.
        private let onFrame: @Sendable (Int) -> Void

        init(onFrame: @escaping @Sendable (Int) -> Void = { _ in }) {
            (began, tell) = AsyncStream.makeStream(of: String.self)
            self.onFrame = onFrame
        }

        func receive(_ event: RunEvent) {
            let ended = events.withLock { events in
                events.append(event)
                return events.count { if case .frame = $0 { true } else { false } }
            }
            if case .frame = event { onFrame(ended) }
            if case .began(let job, _) = event { tell.yield(job) }
        }

        /// The inputs of frames that were published, by their names.
        var published: Set<String> {
            Set(
                events.withLock { $0 }.compactMap { event in
                    guard case .frame(_, let report) = event, case .published = report.state else { return nil }
                    return URL(filePath: report.input).lastPathComponent
                })
        }

        var jobs: Set<String> {
            Set(
                events.withLock { $0 }.compactMap { event in
                    switch event {
                    case .began(let job, _), .progress(let job, _), .frame(let job, _), .finished(let job, _, _): job
                    case .ended(let end): end.job.name
                    case .manifests, .notice, .handedOver, .detached: nil
                    }
                })
        }

        var ends: [RunSummary] {
            events.withLock { $0 }.compactMap { if case .ended(let end) = $0 { end.summary } else { nil } }
        }
    }

    private func draw(_ count: Int, in name: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.file("\(name)/photos"), withIntermediateDirectories: true)
        for number in 0..<count {
            try PictureFiles.write(
                Scene.eclipse(width: 60 + number, height: 40), to: folder.file("\(name)/photos/\(number).png"))
        }
    }

    private func request(_ name: String) -> RunRequest {
        let manifest = """
            job: \(name)
            inputs: photos/*
            filters: [{gaussian: {radius: 4}}]
            output: out/{stem}.png

            """
        // Nobody has written it to a file.
        var request = RunRequest(
            manifests: [RunRequest.Manifest(path: "\(name).yaml", text: manifest)], folder: folder.file(name))
        request.stateFolder = folder.file("state")
        request.workers = 1
        return request
    }

    private func outputs(_ name: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file(name)).filter { !$0.hasPrefix(".") }
        return Dictionary(
            uniqueKeysWithValues: try names.map {
                ($0, try Data(contentsOf: URL(filePath: folder.file("\(name)/\($0)"))))
            })
    }

    @Test func `of two jobs that run at once in one process one is cancelled, and the other is as on the command line`()
        async throws
    {
        try draw(300, in: "cancelled")
        try draw(5, in: "done")
        let (first, second) = (Listener(), Listener())
        let control = RunControl()
        control.pause()
        async let cancelled = RequestedRun(request("cancelled")).run(control, first).result
        for await job in first.began {
            #expect(job == "cancelled")
            break
        }
        #expect(try await RequestedRun(request("done")).run(RunControl(), second).result.get() == .done)
        control.cancel()
        #expect(try await cancelled.get() == .interrupted)

        #expect(first.jobs == ["cancelled"])
        #expect(first.published.isEmpty)
        #expect(first.ends.map(\.stop) == [.cancelled])
        #expect(second.jobs == ["done"])
        #expect(second.published == Set((0..<5).map { "\($0).png" }))
        #expect(second.ends.map(\.published) == [5])

        // What any other process would see of them, too.
        let archive = try RunArchive(state: folder.file("state"))
        #expect(try archive.run("cancelled").condition == .stopped)
        #expect(try archive.run("done").condition == .done)

        let inProcess = try outputs("done/out")
        try FileManager.default.moveItem(atPath: folder.file("done/out"), toPath: folder.file("done/before"))
        let text = try #require(request("done").manifests[0].text)
        try Data(text.utf8).write(to: URL(filePath: folder.file("done/done.yaml")))
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appending(path: "penumbra").path
        let result = try await Subprocess.run(
            .path(FilePath(program)),
            arguments: ["run", "done.yaml", "--state-dir", folder.file("other"), "--quiet"],
            workingDirectory: FilePath(folder.file("done")), output: .string(limit: 1 << 16),
            error: .string(limit: 1 << 16))
        #expect(result.terminationStatus == .exited(0), "\(result.standardError)")
        #expect(try outputs("done/out") == inProcess)
    }

    /// When each attempt ran, in the order in which they began, in nanoseconds since 1970.
    private func attempts(_ job: String) throws -> [Range<Int64>] {
        let archive = try RunArchive(state: folder.file("state"))
        let attempts = try archive.details(of: archive.run(job)).attempts.map { attempt -> Range<Int64> in
            guard case .done(let end, _) = attempt.state else { return attempt.started..<Int64.max }
            return attempt.started..<max(attempt.started, end)
        }
        return attempts.sorted { $0.lowerBound < $1.lowerBound }
    }

    private func overlap(_ attempts: some Sequence<Range<Int64>>) -> Bool {
        let attempts = Array(attempts)
        return zip(attempts, attempts.dropFirst()).contains { $0.upperBound > $1.lowerBound }
    }

    @Test func `a run uses no more workers than its control allows, whatever it was begun with`() async throws {
        try draw(20, in: "limited")
        var limited = request("limited")
        limited.workers = 3
        let control = RunControl()
        control.limitWorkers(to: 1)
        #expect(try await RequestedRun(limited).run(control, Listener()).result.get() == .done)
        let attempts = try attempts("limited")
        #expect(attempts.count == 20)
        #expect(!overlap(attempts))
    }

    @Test func `a worker limit is raised and lowered while a run goes on`() async throws {
        try draw(300, in: "varied")
        var varied = request("varied")
        varied.workers = 3
        let control = RunControl()
        control.limitWorkers(to: 1)
        let listener = Listener { ended in
            if ended == 5 { control.limitWorkers(to: nil) }
            if ended == 200 { control.limitWorkers(to: 1) }
        }
        #expect(try await RequestedRun(varied).run(control, listener).result.get() == .done)
        let attempts = try attempts("varied")
        #expect(overlap(attempts))
        #expect(!overlap(attempts.suffix(10)))
    }

    @Test func `what is asked of one run by its folder is not asked of the others of its request`() async throws {
        let request = RunControl()
        let (first, second) = (request.child(), request.child())
        first.pause(for: .run)
        first.cancel()
        first.limitWorkers(to: 2)
        #expect(first.isPaused && !second.isPaused && !request.isPaused)
        #expect(first.stop == .cancelled && second.stop == nil && request.stop == nil)
        #expect(first.workerLimit == 2 && second.workerLimit == nil)
        request.limitWorkers(to: 1)
        request.pause()
        first.resume(for: .run)
        request.stop(.deadline)
        #expect(first.isPaused && second.isPaused)
        #expect(first.workerLimit == 1 && second.workerLimit == 1)
        #expect(second.stop == .deadline)
        var reasons: [StopReason] = []
        for await reason in first.stops() {
            reasons.append(reason)
            if reasons.count == 2 { break }
        }
        #expect(reasons == [.cancelled, .deadline])
    }

    @Test func `a job that waits for the one before it gives signs of life, as that one does`() async throws {
        try draw(1, in: "first")
        try draw(1, in: "waiting")
        var request = request("first")
        request.folder = folder.path
        request.manifests = ["first", "waiting"].map { name in
            RunRequest.Manifest(
                path: "\(name)/\(name).yaml",
                text: "job: \(name)\ninputs: photos/*\nfilters: [{gaussian: {radius: 4}}]\noutput: out/{stem}.png\n")
        }
        let (asked, ask) = AsyncStream.makeStream(of: Duration.self)
        let (passed, pass) = AsyncStream.makeStream(of: Void.self)
        var run = RequestedRun(request)
        run.heartbeat = Heartbeat { time in
            ask.yield(time)
            var passed = passed.makeAsyncIterator()
            if await passed.next() == nil { throw CancellationError() }
        }
        let (listener, control) = (Listener(), RunControl())
        control.pause()
        async let result = run.run(control, listener).result
        for await job in listener.began {
            #expect(job == "first")
            break
        }
        let runs = URL(filePath: folder.file("state/runs"))
        let claims = try FileManager.default.contentsOfDirectory(at: runs, includingPropertiesForKeys: nil)
            .map { $0.appending(path: "coordinator.1").path }
        #expect(claims.count == 2)
        func ages() throws -> [Bool] {
            try claims.map { claim in
                let date = try FileManager.default.attributesOfItem(atPath: claim)[.modificationDate] as? Date
                return try #require(date) < Date(timeIntervalSince1970: 100)
            }
        }
        for claim in claims {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: claim)
        }
        #expect(try ages() == [true, true])
        var times = asked.makeAsyncIterator()
        #expect(await times.next() == .seconds(10))
        pass.yield()
        // The signs of life come before the next wait.
        #expect(await times.next() == .seconds(10))
        #expect(try ages() == [false, false])
        control.resume()
        #expect(try await result.get() == .done)
        #expect(listener.jobs == ["first", "waiting"])
    }

    @Test func `a program that embeds the farm follows a run, and finds it among the past ones`() async throws {
        try draw(3, in: "embedded")
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let farm = try Farm(
            worker: program.deletingLastPathComponent().appending(path: "penumbra-worker").path,
            stateFolder: "own-state",
            workers: 2, folder: folder.path)
        var request = request("embedded")
        (request.stateFolder, request.workers) = (nil, nil)
        let events = Mutex<[Farm.Event]>([])
        #expect(try await farm.run(request) { event in events.withLock { $0.append(event) } } == .done)
        let published = events.withLock { $0 }.compactMap { event -> String? in
            guard case .frame("embedded", let frame) = event, frame.state == .published else { return nil }
            return URL(filePath: frame.input).lastPathComponent
        }
        #expect(Set(published) == ["0.png", "1.png", "2.png"])
        let runs = try farm.runs()
        #expect(runs.map(\.job) == ["embedded"])
        #expect(runs.map(\.state) == ["done"])
        #expect(runs.map(\.published) == [3])
        #expect(runs.map(\.outcome) == [.done])
        #expect(runs.allSatisfy { $0.started > 0 && $0.ended ?? 0 > $0.started })
        #expect(FileManager.default.fileExists(atPath: folder.file("own-state/penumbra.sqlite")))
    }

    @Test func `a program names its run, and cannot run it twice`() async throws {
        try draw(1, in: "named")
        let farm = try Farm(stateFolder: folder.file("state"), workers: 1, folder: folder.path)
        #expect(try await farm.run(request("named"), named: "order-17") { _ in } == .done)
        #expect(try farm.runs().map(\.name) == ["order-17"])
        let again = await #expect(throws: Farm.Failure.self) {
            try await farm.run(request("named"), named: "order-17") { _ in }
        }
        #expect(again?.outcome == .usage)
        #expect(again?.message == "order-17: a run of this name has ended\n   = give another name")
        let bad = await #expect(throws: Farm.Failure.self) {
            try await farm.run(request("named"), named: "../order") { _ in }
        }
        #expect(bad?.outcome == .usage)
        #expect(
            bad?.message
                == "'../order': a run's name begins with a letter or a digit, and has letters (a-z, A-Z), digits, '-', '_' and '.', at most 64: night-7"
        )
        #expect(try farm.runs().count == 1)
    }

    @Test func `a run whose task is cancelled ends in good order`() async throws {
        try draw(300, in: "cut")
        let farm = try Farm(stateFolder: folder.file("state"), workers: 1, folder: folder.path)
        let (frames, frame) = AsyncStream.makeStream(of: Void.self)
        let request = request("cut")
        let run = Task {
            try await farm.run(request) { event in if case .frame = event { frame.yield() } }
        }
        for await _ in frames { break }
        run.cancel()
        #expect(try await run.value == .interrupted)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("cut/out"))
        #expect(left.filter { $0.hasPrefix(".penumbra-") && $0 != ".penumbra-index" }.isEmpty, "\(left)")
        #expect(left.count < 300)
        #expect(try farm.runs().map(\.state) == ["stopped"])
        #expect(try farm.runs().first?.reason?.contains("deadline") == false)
    }

    @Test func `a manifest with mistakes is told, and thrown as one error`() async throws {
        try draw(1, in: "wrong")
        var request = request("wrong")
        request.manifests = [
            RunRequest.Manifest(path: "wrong.yaml", text: "job: wrong\ninputs: photos/*\nfilters: []\n")
        ]
        let listener = Listener()
        let error = await #expect(throws: FarmError.self) {
            _ = try await RequestedRun(request).run(RunControl(), listener).result.get()
        }
        #expect(error?.outcome == .badManifest)
        #expect(error?.isReported == true)
        #expect(error?.message.contains("wrong.yaml") == true)
    }
}

/// Notices as values, and their words.
@Suite struct RunNoticeTests {
    @Test func `outputs that keep old pixels are reported with the program that has changed`() {
        func words(_ count: Int, _ upgrade: RecipeUpgrade) -> String {
            RunNotice.job("night", .outputsKeepOldPixels(count, upgrade)).text(from: "/").message
        }
        let pixels = "sepia's pixels (rendering version 1 → 2)"
        #expect(
            words(1204, RecipeUpgrade(pixels: pixels))
                == "night: this version of Penumbra changes sepia's pixels (rendering version 1 → 2); 1,204 outputs keep their "
                + "old pixels, and 'upgrade: rerender' in the manifest makes them anew")
        #expect(
            words(1, RecipeUpgrade(pixels: pixels, plugin: "sepia"))
                == "night: this version of the plugin 'sepia' changes sepia's pixels (rendering version 1 → 2); 1 output keeps "
                + "its old pixels, and 'upgrade: rerender' in the manifest makes it anew")
    }

    @Test func `a notice of a job begins with the job's name`() {
        let words = RunNotice.job("photos", .orphans(["/out/a.png"])).text(from: "/")
        #expect(words.message == "photos: 1 output without an input any more; --delete-orphans removes them")
        #expect(
            RunNotice.job("photos", .orphans(["/out/a.png"], needsAll: true)).text(from: "/").message
                == "photos: 1 output without an input any more; --delete-orphans=all removes them")
        #expect(words.kind == .files)
        #expect(words.paths == ["/out/a.png"])
    }

    @Test func `what somebody has to act on is trouble, what can wait is not`() {
        func kind(_ notice: JobNotice) -> RunNotice.Text.Kind { RunNotice.job("job", notice).text(from: "/").kind }
        #expect(kind(.lostOutputs(["/a"], cause: "/disk is not mounted", areToBeRemoved: true)) == .error)
        #expect(kind(.lostOutputs(["/a"], cause: "/disk is not mounted", areToBeRemoved: false)) == .files)
        #expect(kind(.stopped(.cancelled, left: 2)) == .error)
        #expect(kind(.receiptsWritten(2)) == .result)
    }

    @Test func `paths are shown from the reader's folder`() {
        let notice = RunNotice.watch(.appeared("/srv/photos", isFile: false, isFirst: false))
        #expect(notice.text(from: "/srv").message == "photos: the folder is there again")
        #expect(notice.text(from: "/home").message == "/srv/photos: the folder is there again")
    }
}

/// A listener that takes its time, behind a queue.
@Suite struct RunEventQueueTests {
    private final class Reader: RunListener {
        let received = Mutex<[String]>([])
        private let gate = DispatchSemaphore(value: 0)

        func open() { gate.signal() }

        func receive(_ event: RunEvent) {
            gate.wait()
            gate.signal()
            if case .notice(let notice) = event { received.withLock { $0.append(notice.text(from: "/").message) } }
            if case .began(let job, _) = event { received.withLock { $0.append(job) } }
        }
    }

    @Test func `a reader that takes its time gets everything, in order, and blocks nobody`() async {
        let reader = Reader()
        let queue = RunEventQueue(reader)
        for number in 0..<RunEventQueue.capacity * 2 { queue.receive(.notice(.pluginUnusable("\(number)"))) }
        #expect(queue.isBehind)
        #expect(reader.received.withLock { $0 }.isEmpty)
        reader.open()
        await queue.finish()
        #expect(reader.received.withLock { $0 } == (0..<RunEventQueue.capacity * 2).map(String.init))
        #expect(!queue.isBehind)
    }

    @Test func `a reader that takes too long is abandoned, with the number of events that it has not received`() async {
        let reader = Reader()
        let queue = RunEventQueue(reader)
        for number in 0..<3 { queue.receive(.notice(.pluginUnusable("\(number)"))) }
        #expect(await queue.finish {} == 3)
        #expect(reader.received.withLock { $0 }.isEmpty)
        reader.open()
        #expect(await queue.finish() == 0)
        #expect(reader.received.withLock { $0 } == ["0", "1", "2"])
    }

    /// Waits in its second event.
    private final class SlowReader: RunListener {
        let began = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        private let count = Mutex(0)

        func receive(_ event: RunEvent) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 2 else { return }
            began.signal()
            gate.wait()
        }
    }

    @Test func `what an abandoned reader has received does not count as lost`() async {
        let reader = SlowReader()
        let queue = RunEventQueue(reader)
        for number in 0..<4 { queue.receive(.notice(.pluginUnusable("\(number)"))) }
        await Blocking.run { reader.began.wait() }
        #expect(await queue.finish {} == 3)
        reader.gate.signal()
        #expect(await queue.finish() == 0)
    }

    @Test func `a queue of nothing ends`() async {
        let reader = Reader()
        let queue = RunEventQueue(reader)
        reader.open()
        await queue.finish()
        #expect(reader.received.withLock { $0 }.isEmpty)
    }
}
