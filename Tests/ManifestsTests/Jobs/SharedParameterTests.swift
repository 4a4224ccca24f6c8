import Catalogs
import JobModel
import Testing

/// Parameters that a job can say for all its filters; `opaque` of `fill` is one here.
@Suite struct SharedParameterTests {
    private func opaque(
        job: String = "", filter: String = "fill", setting: Bool? = nil, set overrides: String...
    ) -> [ParameterValue?] {
        let text = "job: a\ninputs: a.jpg\n\(job)\nfilters: [\(filter), invert]\noutput: out/{stem}.png\n"
        let shared = setting.map { ["opaque": ParameterValue.boolean($0)] } ?? [:]
        let reading = Reading(bytes: Array(text.utf8), overrides: overrides, shared: shared)
        #expect(reading.messages == "")
        return reading.job?.chain.map { $0.values["opaque"] } ?? []
    }

    @Test func `a filter's own value wins over the job's, that over a setting, and that over the fallback`() {
        #expect(opaque() == [.boolean(true), nil])
        #expect(opaque(setting: false) == [.boolean(false), nil])
        #expect(opaque(job: "opaque: true", setting: false) == [.boolean(true), nil])
        #expect(
            opaque(job: "opaque: true", filter: "{fill: {opaque: false}}", setting: true) == [.boolean(false), nil])
    }

    @Test func `an override sets it for the job`() {
        #expect(opaque(setting: true, set: "opaque=false") == [.boolean(false), nil])
    }

    @Test func `the filters of each of several outputs have it`() {
        let reading = Reading(
            "job: a\ninputs: a.jpg\nfilters: [fill]\noutputs: [{path: 'a.png', filters: [fill]}]\nopaque: false\n")
        let chains = [reading.job?.chain, reading.job?.outputs.first?.chain]
        #expect(chains.map { $0?.first?.values["opaque"] } == [.boolean(false), .boolean(false)])
    }

    @Test func `what it takes is told as with a filter's parameter`() {
        #expect(
            Reading.job("opaque: yes").messages
                == """
                job.yaml:1:9: error: 'opaque' needs true or false, not 'yes'
                1 | opaque: yes
                  |         ^^^
                  = write true
                """)
    }

    @Test func `a parameter that is not shared stays with its filter`() {
        #expect(Reading.job("label: a").problems == ["1:1: the job has no key 'label'"])
    }
}
