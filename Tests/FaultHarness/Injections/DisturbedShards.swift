import Foundation
import Glibc

/// Prepared shards that several processes do, in any order, while they are disturbed; `penumbra resume` publishes then.
struct DisturbedShards: Injection {
    enum Way {
        /// Processes get SIGKILL at random moments; some shards are done again, some never.
        case killed
        /// Two processes do the same shard at the same time, and one more does it again.
        case twice
        /// Some shards are done in another order, and the others by `resume`.
        case unordered
        /// Shards, results and logs are cut, emptied, filled with noise, exchanged or removed.
        case damaged
        /// `resume` gets SIGKILL, again and again.
        case resumed
    }

    let way: Way

    func inject(into stage: Stage) throws {
        let count = Int.random(in: 1...4, using: &stage.random)
        let shared = "\(stage.workspace.path)/shared"
        try stage.command(["prepare", stage.workspace.manifest, "--run-dir", shared, "--shards", "\(count)"], [0])
        guard stage.result.violations.isEmpty else { return }
        let order = Array(1...count).shuffled(using: &stage.random)
        switch way {
        case .killed: try kill(order, stage, shared)
        case .twice: try doTwice(order, stage, shared)
        case .unordered: try finish(order.prefix(Int.random(in: 0...count, using: &stage.random)), stage, shared)
        case .damaged:
            try finish(order[...], stage, shared)
            damage(stage, shared)
        case .resumed:
            try finish(order.prefix(Int.random(in: 0...count, using: &stage.random)), stage, shared)
            try killResume(stage, shared)
        }
        stage.checkOrphans()
        let last = try stage.command(Self.resume(shared), stage.doneCodes)
        stage.checkDone(last)
        for name in Folder.names("\(shared)/runs") { stage.blame(.runFolders, "shared/runs/\(name)") }
        stage.checkLeftovers()
    }

    private static func resume(_ shared: String) -> [String] { ["resume", "--run-dir", shared, "--engine", "local"] }

    private func shard(_ number: Int, _ shared: String) -> [String] {
        ["shard", "--run-dir", shared, "--index", "\(number)"]
    }

    /// 66: the shard's number is one that holds nothing.
    private static let codes: Set<Int32> = [0, 66]

    private func finish(_ numbers: ArraySlice<Int>, _ stage: Stage, _ shared: String) throws {
        for number in numbers {
            try stage.command(shard(number, shared), Self.codes)
            stage.result.faults += 1
        }
    }

    /// Two at a time.
    private func kill(_ order: [Int], _ stage: Stage, _ shared: String) throws {
        for _ in 0..<Int.random(in: 1...2, using: &stage.random) {
            for first in stride(from: 0, to: order.count, by: 2) {
                let runs = try order[first...].prefix(2).map { try stage.begin(shard($0, shared)) }
                pause(stage.moment(0...0.8))
                for run in runs where stage.random.chance(0.7) { run.process.signal(SIGKILL) }
                for run in runs {
                    stage.finish(run, Self.codes.union([137]))
                    stage.result.faults += run.process.ending == .signaled(SIGKILL) ? 1 : 0
                }
                stage.checkOrphans()
            }
        }
    }

    private func doTwice(_ order: [Int], _ stage: Stage, _ shared: String) throws {
        for number in order {
            let runs = try [number, number].map { try stage.begin(shard($0, shared)) }
            for run in runs { stage.finish(run, Self.codes) }
            if stage.random.chance(0.5) { try stage.command(shard(number, shared), Self.codes) }
            stage.result.faults += 1
        }
    }

    private func killResume(_ stage: Stage, _ shared: String) throws {
        for _ in 0..<Int.random(in: 1...3, using: &stage.random) {
            let outputs = Folder.inodes(stage.workspace.outputs)
            let run = try stage.begin(Self.resume(shared))
            if stage.random.chance(0.6) {
                // Between the first rename and the end of the run.
                while run.process.isRunning, Folder.inodes(stage.workspace.outputs) == outputs {}
                if stage.random.chance(0.5) { pause(Double.random(in: 0...0.03, using: &stage.random)) }
            } else {
                pause(stage.moment())
            }
            run.process.signal(SIGKILL)
            stage.finish(run, stage.doneCodes.union([137]))
            stage.checkOrphans()
            guard run.process.ending == .signaled(SIGKILL) else { return }
            stage.result.faults += 1
        }
    }

    // MARK: - Damage

    private func damage(_ stage: Stage, _ shared: String) {
        let files = Folder.files(shared).filter { $0.contains("/results/") || $0.contains("/shards/") }
            .map { "\(shared)/\($0)" }.sorted()
        let book = FaultBook(folder: stage.workspace.faults)
        for _ in 0..<Int.random(in: 1...4, using: &stage.random) {
            guard let file = files.randomElement(using: &stage.random),
                let other = files.randomElement(using: &stage.random),
                let words = damage(file, other, &stage.random)
            else { continue }
            book.note("shard", file, words)
            stage.result.faults += 1
        }
    }

    /// In place, or by a rename, as careless tools do. Never such that another answer is told for true: see ``LyingFiles``.
    private func damage(_ file: String, _ other: String, _ random: inout SplitMix64) -> String? {
        guard let data = FileManager.default.contents(atPath: file), !data.isEmpty else { return nil }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return truncate(file, off_t(Int.random(in: 0..<data.count, using: &random))) == 0 ? "cut" : nil
        case 1: return truncate(file, 0) == 0 ? "emptied" : nil
        case 2: return unlink(file) == 0 ? "removed" : nil
        case 3:
            let noise = Data(
                (0..<Int.random(in: 1...4096, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            return FileManager.default.createFile(atPath: file, contents: noise) ? "filled with noise" : nil
        case 4:
            guard let theirs = FileManager.default.contents(atPath: other), other != file else { return nil }
            return FileManager.default.createFile(atPath: file, contents: theirs) ? "became a copy of \(other)" : nil
        default:
            return FileManager.default.createFile(atPath: file, contents: data + data) ? "doubled" : nil
        }
    }
}
