import Endpoints
import QueueStorage
import Queueing
import ServiceAPI
import Testing

@Suite struct MetricsTests {
    private func lines(_ successes: LastSuccesses) -> [Substring] {
        let status = ServiceStatus(
            version: "1", pid: 1, started: WallTime(seconds: 7), uptime: 1, isDrained: false, workers: 2, openRuns: 0,
            maxRuns: 4, serviceFolder: "/a", stateFolder: "/b", queue: QueueCounts([.waiting: 3]))
        return MetricsText(status, successes).text.split(separator: "\n")
    }

    @Test func `each name has its last success, and signs in names are escaped`() {
        let successes = [
            LastSuccesses.Success(job: "night", time: WallTime(seconds: 90)),
            .init(job: "a \"b\"\\\nc", time: WallTime(seconds: 80)),
        ]
        let found = lines(LastSuccesses(successes, names: 301))
        #expect(found.contains(#"penumbra_service_last_success_timestamp_seconds{job="night"} 90"#))
        #expect(found.contains(#"penumbra_service_last_success_timestamp_seconds{job="a \"b\"\\\nc"} 80"#))
        #expect(found.contains("penumbra_service_job_names 301"))
        #expect(found.contains(#"penumbra_service_jobs{state="waiting"} 3"#))
    }

    @Test func `a figure without samples is left out`() {
        let found = lines(LastSuccesses([], names: 0))
        #expect(!found.contains { $0.contains("last_success") })
        #expect(found.contains("penumbra_service_job_names 0"))
    }
}
