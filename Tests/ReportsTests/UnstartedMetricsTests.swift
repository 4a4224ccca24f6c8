import Reports
import Testing

/// Metrics of runs that ended before they began.
@Suite struct UnstartedMetricsTests {
    @Test func `a file that is not there yet gets the families that are known`() {
        let text = PrometheusText.text("", afterUnstarted: ["a", "b"], exitCode: 66, ended: 1000.5)
        #expect(
            text == """
                # HELP penumbra_exit_code The exit code of the last run. It is 0 if all is well.
                # TYPE penumbra_exit_code gauge
                penumbra_exit_code{job="a"} 66
                penumbra_exit_code{job="b"} 66
                # HELP penumbra_last_run_timestamp_seconds The time when the last run ended, in seconds since 1970.
                # TYPE penumbra_last_run_timestamp_seconds gauge
                penumbra_last_run_timestamp_seconds{job="a"} 1000.5
                penumbra_last_run_timestamp_seconds{job="b"} 1000.5

                """)
        #expect(PrometheusText.lastRun(of: "b", in: text) == 1000.5)
        #expect(PrometheusText.lastRun(of: "c", in: text) == nil)
    }

    @Test func `a job's own samples are replaced, and its last success only by a success`() {
        let before = PrometheusText.text("", afterUnstarted: ["a", "b"], exitCode: 0, ended: 1000)
        let after = PrometheusText.text(before, afterUnstarted: ["a"], exitCode: 75, ended: 2000)
        #expect(
            after
                == before.replacing("penumbra_exit_code{job=\"a\"} 0", with: "penumbra_exit_code{job=\"a\"} 75")
                .replacing(
                    "penumbra_last_run_timestamp_seconds{job=\"a\"} 1000",
                    with: "penumbra_last_run_timestamp_seconds{job=\"a\"} 2000"))
        #expect(PrometheusText.lastSuccess(of: "a", in: after) == 1000)
    }
}
