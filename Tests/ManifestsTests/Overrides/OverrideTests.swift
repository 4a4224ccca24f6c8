import Catalogs
import JobModel
import Manifests
import Testing

/// Values set from the command line.
@Suite struct OverrideTests {
    @Test func `a value is replaced`() {
        #expect(Reading.job("retries: 3", set: "retries=7").job?.retries == 7)
        #expect(
            Reading.filter("gaussian: {radius: 3}", set: "filters[0].gaussian.radius=14").values?["radius"]
                == .number(14))
    }

    @Test func `a missing key is added, and the mappings around it`() {
        #expect(Reading.job("", set: "save.compression=3").job?.save.values == ["compression": .integer(3)])
        #expect(
            Reading.filter(
                "gaussian: {edge: wrap}", set: "filters[0].gaussian.radius.x=1",
                "filters[0].gaussian.radius.y=2"
            ).values?["radius"] == .pair(x: 1, y: 2))
    }

    @Test func `a filter without parameters gets one`() {
        #expect(Reading.filter("gaussian", set: "filters[0].gaussian.radius=14").values?["radius"] == .number(14))
    }

    @Test func `a whole list or filter is replaced`() {
        #expect(Reading.job("", set: "inputs=[a.jpg, 'b.jpg']").job?.inputs == ["a.jpg", "b.jpg"])
        #expect(Reading.job("", set: "filters[0]={gaussian: {radius: 3}}").job?.chain.first?.filter == "gaussian")
        #expect(Reading.job("", set: "filters=[invert, gaussian]").job?.chain.count == 2)
    }

    @Test func `a value is written as behind a key`() {
        #expect(Reading.job("", set: "output=a/{stem}=b.png").job?.output.source == "a/{stem}=b.png")
        #expect(Reading.job("", set: "description='it''s: #1'").job?.summary == "it's: #1")
        #expect(Reading.job("", set: "description= a b ").job?.summary == "a b")
        #expect(Reading.job("", set: "description=''").job?.summary == "")
    }

    @Test func `of several overrides of one value the last one counts`() {
        #expect(Reading.job("", set: "retries=3", "retries=4").job?.retries == 4)
    }

    @Test func `an override repairs a value that is wrong`() {
        #expect(Reading.job("retries: many", set: "retries=3").job?.retries == 3)
    }

    @Test func `a manifest that is no mapping leaves overrides alone`() {
        #expect(Reading("- a\n", set: "retries=3").problems.count == 1)
        #expect(Reading("", set: "retries=3").problems.count == 1)
    }
}
