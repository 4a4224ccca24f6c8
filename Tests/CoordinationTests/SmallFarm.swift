import Engines
import Catalogs
import Coordination
import FarmTestSupport
import Foundation
import JobModel
import JobStorage
import Planning
import Runs
import SafeFiles
import Scheduling
import Synchronization
import TestSupport
import WorkerProtocol

/// A job in a folder of its own: its plan, its ledger and its runs are real, and a fake engine writes its outputs.
struct SmallFarm: Sendable {
    let place: TemporaryFolder
    var job: JobSpec
    /// What the outputs are made with. Another radius gives other outputs.
    var radius = 12.0
    var control = RunControl()
    /// What becomes of leases that are not done as they should be.
    var answer: @Sendable (Lease) -> FakeEngine.Answer? = { _ in nil }
    var observer = Observer()
    /// The folder of the database and the runs.
    var state: String
    /// Several machines see its runs. Each run has a database of its own, which is lost with its coordinator.
    var isShared = false
    private let names: [String]

    init(pictures: Int = 1, durability: Durability = .file) throws {
        place = try TemporaryFolder()
        state = place.file("state")
        job = .make(folder: place.path, outputs: [.stem(ext: "png")])
        job.durability = durability
        names = (1...pictures).map { String(format: "%03d", $0) }
        for name in names { try write("picture \(name)", to: place.file("photos/\(name).png")) }
        try FileManager.default.createDirectory(atPath: place.file("out"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    }

    var database: String { JobStore.databasePath(state: state) }

    private var ledgerState: String { isShared ? place.file("state-\(UUID().uuidString)") : state }

    /// The bytes of every output as it should be.
    var wanted: [String: String] { wanted(radius) }

    func wanted(_ radius: Double) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.map { ("\($0).png", Self.pixels($0, radius)) })
    }

    private static func pixels(_ name: String, _ radius: Double) -> String {
        // Of another length for another radius: a stamp counts seconds on some file systems.
        "picture \(name)" + String(repeating: "~", count: Int(radius))
    }

    /// What is at the final paths.
    var outputs: [String: String] {
        var found: [String: String] = [:]
        for name in contents where !name.hasPrefix(".") {
            found[name] = (try? String(contentsOfFile: place.file("out/\(name)"), encoding: .utf8)) ?? ""
        }
        return found
    }

    /// Files beside the outputs that no run should leave.
    var strays: [String] { contents.filter { $0.hasPrefix(".penumbra-") && $0 != ".penumbra-index" } }

    private var contents: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: place.file("out"))) ?? []).sorted()
    }

    /// The outputs that the next run would know as published by this job, and as they are now.
    func known() throws -> Set<String> {
        let contents = try Ledger.inspect(state: ledgerState, job: job, folders: OutputFolders.of(job))
        return Set(
            contents.records.filter { record in
                stamp(at: record.path).map { record.file.stamp.size == $0.size && record.file.stamp.inode == $0.inode }
                    ?? false
            }.map { PathNames.last(of: $0.path) })
    }

    /// One run of the job, from its folder to its end.
    ///
    /// - Parameters:
    ///   - calls: by which outputs, journal and index are written.
    ///   - store: the database of the ledger.
    ///   - recorder: writes down what the run does.
    ///   - engine: nil for one that gives the ``answers``.
    ///   - removeTree: removes the tiles of a frame.
    @discardableResult func run(
        calls: FileCalls = .kernel, store: JobStore? = nil, recorder: RunRecorder? = nil,
        engine: FakeEngine? = nil,
        removeTree: @escaping @Sendable (String) -> Void = { FileSystem.removeTree($0) }
    ) async throws -> RunSummary {
        RunFolder.sweep(state: state)
        let directory = try RunClaim(state: state, name: "run-\(UUID().uuidString)", scratch: nil, calls: calls)
        defer { directory.remove() }
        let roots = LockedFolders(of: job)
        let ledger = try Ledger(
            state: ledgerState, job: job, folders: OutputFolders.of(job), roots: roots,
            log: isShared ? directory.folder.log : nil, store: store, calls: calls)
        let catalog = Catalog.make()
        let recipes = RecipeTable(catalog: catalog, texts: ledger.contents.recipes)
        let now = Int64(Date().timeIntervalSince1970 * 1e9)
        let freshness = Freshness(
            job: job, isForced: false, records: ledger.contents.records, broken: ledger.contents.broken,
            recipes: recipes,
            now: now)
        let plan = try JobPlan(job, catalog: catalog, date: "2026-01-01", selection: JobPlan.Selection())
        let recipe = recipes.key(of: .make([.gaussian(radius)], format: "png"))
        let targets = zip(plan.frames, plan.inputStamps()).map { frame, found in
            let outputs = plan.outputs(of: frame, measures: nil)
            let files = FrameFiles(
                input: frame.input.path, inputBytes: nil, page: 0, stamp: found,
                outputs: outputs.map { FrameFiles.Output(path: $0, stamp: stamp(at: $0), recipe: recipe) })
            return FrameTarget(
                frame: frame, outputs: outputs, probe: nil, files: files, verdict: freshness.verdict(of: files))
        }
        let run = JobRun(
            plan, targets: targets, ended: [], roots: roots, directory: directory,
            settings: RunSettings(workers: 1, memory: 1 << 30, seed: 1),
            tracker: OutputTracker(
                ledger: ledger, freshness: freshness, hasPictures: false, now: Int(now / 1_000_000_000)),
            recorder: recorder, observer: observer, now: { now }, calls: calls, removeTree: removeTree)
        let engine = engine ?? FakeEngine(answers)
        return await run.run(RunLoop(engine: engine, control: control.child(), clock: Self.unhurried()))
    }

    /// Time passes as the run waits, and not while the machine does other things: no worker is taken for silent because it is busy.
    private static func unhurried() -> RunClock {
        let (start, waited) = (ContinuousClock.now, Waited())
        return RunClock {
            start + waited.duration.withLock { $0 }
        } wait: { duration in
            try await Task.sleep(for: duration)
            waited.duration.withLock { $0 += duration }
        }
    }

    private final class Waited: Sendable { let duration = Mutex(Duration.zero) }

    /// The answers of workers. Writes what they would write.
    var answers: @Sendable (Lease) -> FakeEngine.Answer {
        let (answer, radius) = (answer, radius)
        return { lease in
            if let answer = answer(lease) { return answer }
            switch lease.spec {
            case .frame(let task):
                let name = PathNames.last(of: task.input.path).prefix { $0 != "." }
                let pixels = Self.pixels(String(name), radius)
                for path in task.outputs.compactMap(\.temporaryPath) {
                    guard FileManager.default.createFile(atPath: path, contents: Data(pixels.utf8)) else {
                        return .failed(TaskFailure(.output, "\(path): cannot be written"))
                    }
                }
                return .done(
                    RightAnswers.receipt(for: lease.spec, source: facts(of: task.input.path), size: pixels.utf8.count))
            case .stitch(let task):
                let pixels = Self.pixels(String(format: "%03d", lease.task.frame.number), radius)
                guard FileManager.default.createFile(atPath: task.temporaryPath, contents: Data(pixels.utf8)) else {
                    return .failed(TaskFailure(.output, "\(task.temporaryPath): cannot be written"))
                }
                return .done(RightAnswers.receipt(for: lease.spec, source: facts(of: ""), size: pixels.utf8.count))
            case .canvas(let task):
                return .done(RightAnswers.receipt(for: lease.spec, source: facts(of: task.input.path), size: 0))
            case .compare(let task): return .done(.compare(task.files.map { facts(of: $0.path) }))
            default: return .done(RightAnswers.receipt(for: lease.spec, source: facts(of: ""), size: 0))
            }
        }
    }

    final class Observer: RunObserver {
        private let state = Mutex<[FrameReport]>([])
        private let ticked: @Sendable (_ ended: Int) -> Void

        /// - Parameter ticked: called at every tick of the run's clock, with the number of frames that have ended.
        init(ticked: @escaping @Sendable (_ ended: Int) -> Void = { _ in }) { self.ticked = ticked }

        var reports: [FrameReport] { state.withLock { $0 } }

        func forget() { state.withLock { $0 = [] } }
        func began(frames: Int) {}
        func progressed(_ progress: RunProgress) { ticked(reports.count) }
        func concluded(_ report: FrameReport) { state.withLock { $0.append(report) } }
    }
}

/// As a worker finds a file. All outputs have one digest.
private func facts(of path: String) -> FileFacts {
    FileFacts(
        stamp: stamp(at: path) ?? .make(size: 0), digest: path.contains("/out/") ? RightAnswers.digest : .make(1))
}
