import Foundation
import JobModel
import Reports
import TestSupport
import Testing

/// Names and messages of others, in what programs and people read of a run.
@Suite struct HostileTextTests {
    @Test(arguments: HostileText.all) func `labels of Prometheus keep one line, and show what is invisible`(
        text: String
    ) throws {
        let run = RunReport.make(job: text, causes: ["plugin fault": 1], orphans: [text])
        let metrics = PrometheusText.text(of: [run], lastSuccess: [text: 5])
        #expect(HostileText.remains(in: metrics, lines: true) == [])
        // Each sample is still a sample, and the job is still found.
        let values = try Exposition(metrics).values
        #expect(values.keys.contains { $0.hasPrefix("penumbra_failed_frames{") })
        #expect(PrometheusText.lastRun(of: text, in: metrics) != nil)
    }

    @Test(arguments: HostileText.all) func `an index keeps its meaning, and has no such character`(text: String) throws
    {
        let index = AssetIndex(
            job: text, entries: [.init(source: text, outputs: [.make(text, format: text)])])
        let json = index.json
        #expect(HostileText.remains(in: String(decoding: json, as: UTF8.self), lines: true) == [])
        let object = try #require(JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect((object["job"] as? String)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        #expect(AssetIndex.job(in: json) == text)
    }

    @Test(arguments: HostileText.all) func `the page of a run shows it by its number`(text: String) {
        let states: [FrameResult] = [
            .skipped(reason: text), .kept(reason: text), .failed(cause: text, message: text),
            .stillBroken(since: 0, message: text),
        ]
        let run = RunReport.make(
            job: text, stopped: text, frames: states.map { FrameRecord.make(text, output: text, state: $0) },
            orphans: [text], settings: [.init(text, text)])
        #expect(HostileText.remains(in: ReportPage.html([run]), lines: true) == [])
    }
}
