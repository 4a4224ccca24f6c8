import Coordination
import Glibc
import JobModel
import SafeFiles
import Scheduling
import TestSupport
import Testing
import WorkerProtocol

/// Outputs on their way to their final paths, over a file system that fails at each call.
@Suite struct PublishingTests {
    enum Start: CaseIterable, CustomTestStringConvertible {
        case nothing
        /// An output of other settings is there, and is to be replaced.
        case published
        /// The same, and the coordinator's database is lost with it.
        case publishedByAnotherMachine
        /// Nothing is there, and the file system knows no renaming with flags.
        case nothingOnAnOldDisk

        var testDescription: String {
            switch self {
            case .nothing: "a new output"
            case .published: "an output in place of an older one"
            case .publishedByAnotherMachine: "an output in place of an older one, in a run that several machines see"
            case .nothingOnAnOldDisk: "a new output, by a link"
            }
        }

        var isUpdate: Bool { self == .published || self == .publishedByAnotherMachine }
    }

    private static let failures: [FailingCalls.Failure] = [.undone(EIO), .undone(EACCES), .done(EIO), .rest(ENOSPC)]

    private func farm(_ start: Start, _ durability: Durability) async throws -> SmallFarm {
        var farm = try SmallFarm(durability: durability)
        farm.isShared = start == .publishedByAnotherMachine
        guard start.isUpdate else { return farm }
        #expect(try await farm.run().published == 1)
        farm.radius = 3
        return farm
    }

    /// The calls of a run in which nothing fails.
    private func calls(_ start: Start, _ durability: Durability) async throws -> [String] {
        let farm = try await farm(start, durability)
        let files = FailingCalls(at: nil, isOld: start == .nothingOnAnOldDisk)
        #expect(try await farm.run(calls: files.calls).published == 1)
        #expect(farm.outputs == farm.wanted)
        return files.made
    }

    @Test func `publishing opens, writes, syncs and renames`() async throws {
        #expect(
            Set(try await calls(.nothing, .file)).isSuperset(of: ["open", "write", "fsync", "fdatasync", "rename"]))
        #expect(Set(try await calls(.nothing, .batch)).contains("syncfs"))
        #expect(Set(try await calls(.nothingOnAnOldDisk, .file)).contains("link"))
    }

    @Test(arguments: Start.allCases)
    func `whichever call fails, the path has the old output or the new one, and the next run continues`(
        start: Start
    ) async throws {
        let calls = try await calls(start, .file)
        for (index, call) in calls.enumerated() {
            for failure in Self.failures {
                try await check(start, .file, index, failure, "call \(index), \(call), \(failure)")
            }
        }
    }

    @Test func `the same of outputs that are synced together`() async throws {
        let calls = try await calls(.published, .batch)
        for (index, call) in calls.enumerated() {
            try await check(.published, .batch, index, .undone(EIO), "call \(index), \(call)")
        }
    }

    private func check(
        _ start: Start, _ durability: Durability, _ index: Int, _ failure: FailingCalls.Failure, _ words: String
    ) async throws {
        let farm = try await farm(start, durability)
        let old: [String: String] = start.isUpdate ? farm.wanted(12) : [:]
        let files = FailingCalls(at: index, failure, isOld: start == .nothingOnAnOldDisk)
        var summary: RunSummary?
        var message = ""
        do {
            summary = try await farm.run(calls: files.calls)
            if case .some(.storage(let words)) = summary?.stop { message = words }
            for case .failed(_, let words) in farm.observer.reports.map(\.state) { message += words }
        } catch let trouble as FileError {
            message = trouble.message
        }
        let found = farm.outputs
        #expect(found == old || found == farm.wanted, "\(words): the path holds \(found)")
        // A run that has not published tells why, and names a file.
        if summary?.published == 1 {
            #expect(found == farm.wanted, "\(words): said to be published")
        } else {
            #expect(message.contains(farm.place.path), "\(words): \(message)")
        }
        // The ledger knows whatever is there: by a record, or by the intent that was written before.
        #expect(try farm.known() == Set(found.keys), "\(words): what the ledger knows")

        farm.observer.forget()
        let next = try await farm.run()
        #expect(next.stop == nil && next.failures.isEmpty && next.kept == 0, "\(words): the next run: \(next)")
        #expect(farm.outputs == farm.wanted, "\(words): the next run")
        #expect(farm.strays.isEmpty, "\(words): the next run leaves \(farm.strays)")
        #expect(try farm.known() == Set(farm.wanted.keys), "\(words): what the ledger knows after the next run")
        let last = try await farm.run()
        #expect(last.published == 0 && last.skipped == 1, "\(words): the run after it: \(last)")
    }

    @Test func `outputs of many frames are published together, and one that is in the way costs only itself`()
        async throws
    {
        var farm = try SmallFarm(pictures: 20, durability: .batch)
        let blocked = farm.place.file("out/007.png")
        farm.answer = { lease in
            // Somebody puts a file there while it is rendered.
            if case .frame = lease.spec, lease.task.frame.number == 7 { try? write("mine", to: blocked) }
            return nil
        }
        let summary = try await farm.run()
        #expect(summary.stop == nil)
        #expect(summary.published == 19)
        #expect(summary.failures.map(\.index) == [7])
        var wanted = farm.wanted
        wanted["007.png"] = "mine"
        #expect(farm.outputs == wanted)
        #expect(farm.strays.isEmpty)
    }
}
