import Coordination
import Foundation
import Glibc
import JobModel
import JobStorage
import Scheduling
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

/// Runs whose database is busy, full, damaged or read-only. It is a real one.
@Suite struct DatabaseFaultTests {
    /// Another process that writes to the database, until it is told to end.
    private final class Writer: Sendable {
        private let store: JobStore
        private let begun = DispatchSemaphore(value: 0)
        private let end = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        init(_ path: String) throws { store = try JobStore(path: path) }

        /// Returns once the database is locked.
        func lock() {
            Thread.detachNewThread {
                // Whether it could be written is none of the test's business.
                _ = try? self.store.write { writer in
                    _ = try writer.job(manifest: "/other.yaml", name: "other")
                    self.begun.signal()
                    self.end.wait()
                }
                self.ended.signal()
            }
            begun.wait()
        }

        func unlock() {
            end.signal()
            ended.wait()
        }
    }

    private func words(_ summary: RunSummary) -> String {
        if case .some(.storage(let words)) = summary.stop { words } else { "" }
    }

    private func message(_ error: any Error) -> String { (error as? StoreError)?.message ?? "\(error)" }

    /// Whatever has happened: what is at a final path is an output as it was or as it should be, and the next run does the rest.
    private func checkNext(_ farm: SmallFarm, _ words: String = "") async throws {
        #expect(farm.outputs.allSatisfy { farm.wanted[$0.key] == $0.value }, "\(words)")
        let there = farm.outputs.count
        let next = try await farm.run()
        #expect(next.stop == nil && next.failures.isEmpty && next.kept == 0, "\(words): the next run: \(next)")
        #expect(next.published == farm.wanted.count - there, "\(words): the next run renders again what was published")
        #expect(farm.outputs == farm.wanted, "\(words)")
        #expect(farm.strays.isEmpty, "\(words)")
    }

    @Test func `a ledger that another process keeps locked stops the run, and the next one publishes`() async throws {
        var farm = try SmallFarm(pictures: 3)
        let store = try JobStore(path: farm.database, timeout: 0.05)
        let writer = try Writer(farm.database)
        farm.answer = { lease in
            if case .frame = lease.task.kind, lease.task.frame.number == 1 { writer.lock() }
            return nil
        }
        let summary = try await farm.run(store: store)
        writer.unlock()
        #expect(words(summary).contains("\(farm.database): the database cannot be used: database is locked"))
        #expect(RunOutcome(summary) == .storage)
        #expect(summary.published == 0)
        farm.answer = { _ in nil }
        try await checkNext(farm)
    }

    @Test func `a recorder that another process keeps locked out ends the run, and what was published stays known`()
        async throws
    {
        var farm = try SmallFarm(pictures: 3)
        let (store, run) = try farm.beginRun()
        let recorder = RunRecorder(store: store, run: run, epoch: 1) { 0 }
        let writer = try Writer(farm.database)
        farm.answer = { lease in
            // The last frame's publication is not in the database yet, nor is its ledger's.
            if case .frame = lease.task.kind, lease.task.frame.number == 3 { writer.lock() }
            return nil
        }
        let summary = try await farm.run(store: JobStore(path: farm.database, timeout: 0.05), recorder: recorder)
        writer.unlock()
        #expect(words(summary).contains("database is locked"))
        #expect(RunOutcome(summary) == .storage)
        #expect(try farm.known() == Set(farm.outputs.keys))
        farm.answer = { _ in nil }
        try await checkNext(farm)
    }

    @Test func `a recorder whose database is read-only ends the run, and costs no output`() async throws {
        let farm = try SmallFarm(pictures: 3)
        let (store, run) = try farm.beginRun(isReadOnly: true)
        let recorder = RunRecorder(store: store, run: run, epoch: 1) { 0 }
        let summary = try await farm.run(recorder: recorder)
        #expect(
            words(summary).contains(
                "\(farm.database): the database cannot be used: attempt to write a readonly database"))
        #expect(RunOutcome(summary) == .storage)
        #expect(try farm.known() == Set(farm.outputs.keys))
        try await checkNext(farm)
    }

    @Test func `a ledger that is read-only begins no run, and leaves the outputs alone`() async throws {
        let farm = try SmallFarm(pictures: 3)
        try await farm.run()
        let before = farm.outputs
        let store = try JobStore(readOnly: farm.database)
        await #expect(throws: StoreError.self) { try await farm.run(store: store) }
        #expect(farm.outputs == before)
        try await checkNext(farm)
    }

    @Test func `a database that is full stops the run with what to do, and no output is lost`() async throws {
        let farm = try SmallFarm(pictures: 60)
        // Made by an earlier program that was closed in good order: no page is left over.
        _ = try JobStore(path: farm.database)
        let store = try JobStore(path: farm.database, settings: "PRAGMA max_page_count = 1")
        var message = ""
        do {
            let summary = try await farm.run(store: store)
            message = words(summary)
            #expect(RunOutcome(summary) == .storage)
            #expect(try farm.known() == Set(farm.outputs.keys))
        } catch {
            // Where not even the job's own row finds a place.
            message = self.message(error)
        }
        #expect(message.contains("\(farm.database): the database cannot be used: database or disk is full"))
        #expect(message.contains("free some space or choose another place"))
        #expect(farm.outputs.count < 60)
        try await checkNext(farm)
    }

    @Test func `a damaged page is reported, and the remedy in the message helps`() async throws {
        var farm = try SmallFarm(pictures: 40)
        #expect(try await farm.run().published == 40)
        // All that was written is in the file itself then.
        _ = try JobStore(path: farm.database, settings: "PRAGMA wal_checkpoint(TRUNCATE)")
        let sound = try Data(contentsOf: URL(filePath: farm.database))
        let index = try Data(contentsOf: URL(filePath: farm.place.file("out/.penumbra-index")))
        let size = 4096
        var told = 0
        for page in 0..<sound.count / size {
            var damaged = sound
            damaged.replaceSubrange(page * size..<(page + 1) * size, with: Data(repeating: 0xa5, count: size))
            // Each one in a place of its own, as if the damaged one had been moved away.
            farm.state = farm.place.file("state-\(page)")
            try FileManager.default.createDirectory(atPath: farm.state, withIntermediateDirectories: true)
            try damaged.write(to: URL(filePath: farm.database))
            do {
                let summary = try await farm.run()
                if summary.stop != nil {
                    told += 1
                    #expect(words(summary).contains("\(farm.database): the database is damaged"), "page \(page)")
                }
            } catch {
                told += 1
                #expect(message(error).contains("\(farm.database): the database is damaged"), "page \(page)")
                #expect(message(error).contains("move it away and run again"), "page \(page)")
            }
            #expect(farm.outputs == farm.wanted, "page \(page)")
            farm.state = farm.place.file("state-\(page)-new")
            let next = try await farm.run()
            #expect(next.published == 0 && next.skipped == 40, "page \(page): \(next)")
            try index.write(to: URL(filePath: farm.place.file("out/.penumbra-index")))
        }
        #expect(told > 0)
    }
}
