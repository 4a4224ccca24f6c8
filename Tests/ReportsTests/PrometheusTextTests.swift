import JobModel
import Reports
import Testing

@Suite struct PrometheusTextTests {
    private let well = RunReport.make(
        job: "photos", counts: .init(frames: 5, published: 3, skipped: 2), bytesWritten: 1_234, megapixels: 72.5,
        orphans: ["a", "b"])
    private let bad = RunReport.make(
        job: "scans", counts: .init(frames: 4, kept: 1, failed: 1, stillBroken: 1, left: 1), workersReplaced: 2,
        causes: ["plugin fault": 1, "worker silent": 0], retiredSlots: 1)

    @Test func `every family appears once, with the samples of all jobs`() throws {
        let exposition = try Exposition(PrometheusText.text(of: [well, bad], lastSuccess: ["scans": 1_795_000_000]))
        #expect(
            exposition.families.map(\.name) == [
                "penumbra_frames", "penumbra_failed_frames", "penumbra_written_bytes", "penumbra_megapixels",
                "penumbra_run_seconds",
                "penumbra_exit_code", "penumbra_last_run_timestamp_seconds",
                "penumbra_last_success_timestamp_seconds", "penumbra_workers_replaced", "penumbra_slots_retired",
                "penumbra_orphans",
            ])
        #expect(exposition.families.map(\.name) == PrometheusText.described.map(\.name))
        let values = exposition.values
        #expect(values[#"penumbra_frames{job="photos",state="published"}"#] == 3)
        #expect(values[#"penumbra_frames{job="photos",state="failed"}"#] == 0)
        for state in ["kept", "failed", "still_broken", "left"] {
            #expect(values[#"penumbra_frames{job="scans",state="\#(state)"}"#] == 1)
        }
        #expect(values[#"penumbra_written_bytes{job="photos"}"#] == 1_234)
        #expect(values[#"penumbra_megapixels{job="photos"}"#] == 72.5)
        #expect(values[#"penumbra_run_seconds{job="photos"}"#] == 12.4)
        #expect(values[#"penumbra_exit_code{job="scans"}"#] == 1)
        #expect(values[#"penumbra_last_run_timestamp_seconds{job="scans"}"#] == 1_795_296_612)
        #expect(values[#"penumbra_last_success_timestamp_seconds{job="photos"}"#] == 1_795_296_612)
        #expect(values[#"penumbra_last_success_timestamp_seconds{job="scans"}"#] == 1_795_000_000)
        #expect(values[#"penumbra_failed_frames{job="scans",cause="plugin fault"}"#] == 1)
        #expect(values[#"penumbra_failed_frames{job="scans",cause="worker silent"}"#] == 0)
        #expect(values[#"penumbra_slots_retired{job="scans"}"#] == 1)
        #expect(values[#"penumbra_workers_replaced{job="scans"}"#] == 2)
        #expect(values[#"penumbra_orphans{job="photos"}"#] == 2)
    }

    @Test func `a family is laid out as node_exporter reads it`() {
        #expect(
            PrometheusText.text(of: [well]).contains(
                """
                # HELP penumbra_run_seconds The time that the last run took, in seconds.
                # TYPE penumbra_run_seconds gauge
                penumbra_run_seconds{job="photos"} 12.4
                # HELP penumbra_exit_code The exit code of the last run. It is 0 if all is well.
                # TYPE penumbra_exit_code gauge
                penumbra_exit_code{job="photos"} 0

                """))
    }

    @Test func `a job that was never well has no last success`() throws {
        let text = PrometheusText.text(of: [bad])
        #expect(!text.contains("penumbra_last_success"))
        #expect(PrometheusText.lastSuccess(of: "scans", in: text) == nil)
        _ = try Exposition(text)
    }

    @Test(arguments: ["photos", #"back\slash"#, #"a "quoted" one"#, "two\nlines", "cr\r\nlf", "é{}=,# 写真", ""])
    func `a job's last success survives failed runs, whatever its name`(job: String) throws {
        let first = PrometheusText.text(of: [.make(job: "photo"), .make(job: job)])
        _ = try Exposition(first)
        let kept = try #require(PrometheusText.lastSuccess(of: job, in: first))
        #expect(kept == 1_795_296_612)
        let second = PrometheusText.text(of: [.make(job: job, exitCode: 1)], lastSuccess: [job: 1_700_000_000.25])
        #expect(try Exposition(second).values.count == 15)
        #expect(PrometheusText.lastSuccess(of: job, in: second) == 1_700_000_000.25)
        #expect(PrometheusText.lastSuccess(of: job + "s", in: second) == nil)
    }

    @Test(arguments: [
        "", "no metrics", "penumbra_last_success_timestamp_seconds 5",
        #"penumbra_last_success_timestamp_seconds{job="a"}"#, #"penumbra_last_success_timestamp_seconds{job="a"} soon"#,
        #"penumbra_last_success_timestamp_seconds{job="a"} nan"#,
        #"# penumbra_last_success_timestamp_seconds{job="a"} 5"#,
    ])
    func `a file of something else tells no last success`(text: String) {
        #expect(PrometheusText.lastSuccess(of: "a", in: text) == nil)
    }

    @Test func `runs of one name are told as one, because a sample may appear once`() throws {
        let values = try Exposition(PrometheusText.text(of: [well, .make(job: "photos", exitCode: 74), well])).values
        #expect(values[#"penumbra_frames{job="photos",state="published"}"#] == 6)
        #expect(values[#"penumbra_exit_code{job="photos"}"#] == 74)
        #expect(values[#"penumbra_last_success_timestamp_seconds{job="photos"}"#] == nil)
    }

    @Test func `no runs make an empty file`() { #expect(PrometheusText.text(of: []).isEmpty) }
}
