import Engines
import Scheduling
import Testing
import WorkerProtocol

/// What a worker that sends without end may cost its coordinator.
@Suite struct ReportBudgetTests {
    private func at(_ seconds: Double) -> Timestamp { Timestamp(.seconds(seconds)) }

    @Test func `a sign of life each second never ends a worker`() {
        var budget = ReportBudget()
        for second in 0..<100_000 { #expect(budget.objection(toNeedless: 24, at: at(Double(second))) == nil) }
    }

    @Test func `signs of life that waited in a pipe come at once`() {
        var budget = ReportBudget()
        for _ in 0..<ReportBudget.burst { #expect(budget.objection(toNeedless: 24, at: at(3600)) == nil) }
        #expect(budget.objection(toNeedless: 24, at: at(3600)) == "more than 10000 reports that answer nothing")
        // A hundred more are for each second.
        for _ in 0..<200 where budget.objection(toNeedless: 24, at: at(3603)) != nil { Issue.record("too early") }
    }

    @Test func `large reports that answer nothing end a worker before they are many`() {
        var budget = ReportBudget()
        for _ in 0..<4 { #expect(budget.objection(toNeedless: 16 << 20, at: at(1)) == nil) }
        #expect(budget.objection(toNeedless: 1, at: at(1_000_000)) == "more than 64 MiB of reports that answer nothing")
    }

    @Test func `a reader that is too fast waits until the second is over`() {
        var pace = ReadingPace(perSecond: 100)
        #expect(pace.pause(after: 100, at: at(5)) == nil)
        #expect(pace.pause(after: 1, at: at(5.25)) == .milliseconds(750))
        #expect(pace.pause(after: 100, at: at(6)) == nil)
        #expect(pace.pause(after: 1000, at: at(6.5)) == .milliseconds(500))
        #expect(pace.pause(after: 100, at: at(60)) == nil)
    }

    @Test func `a report that comes again is known by its bytes`() throws {
        var decoder = ReportDecoder()
        let reports: [Report] = [.inPlugins(LeaseID(7), ["invert"]), .inPlugins(LeaseID(7), [])]
        let bodies = try reports.map { try FrameCodec.json($0)[...] }
        var units: [Int] = []
        for index in 0..<10 {
            let decoded = try decoder.decode(bodies[index % 2])
            #expect(decoded.report == reports[index % 2])
            units.append(decoded.units)
        }
        #expect(units == [10, 10] + Array(repeating: 1, count: 8))
        // Only the latest few are kept.
        for number in 1...4 { _ = try decoder.decode(try FrameCodec.json(Report.worn(LeaseID(number)))[...]) }
        #expect(try decoder.decode(bodies[0]).units == 10)
    }

    @Test func `a long report costs more, whatever it is long of`() throws {
        var decoder = ReportDecoder()
        let body = try FrameCodec.json(Report.inPlugins(LeaseID(7), ["invert"]))
        let padded = body.dropLast() + Array(repeating: UInt8(ascii: " "), count: 1_000_000) + body.suffix(1)
        #expect(try decoder.decode(padded[...]).units == padded.count / 100)
        #expect(try decoder.decode(padded[...]).units == padded.count / 100)
    }

    @Test func `a report is measured before it is decoded`() {
        var decoder = ReportDecoder()
        #expect(throws: FrameCodecError.tooDeep(limit: 64)) {
            try decoder.decode(Array(String(repeating: "[", count: 65).utf8)[...])
        }
    }
}
