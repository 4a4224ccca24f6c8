import JobModel
import RenderFarm
import TestSupport
import Testing

/// What workers and plugins say of themselves, in the notices of a run.
@Suite struct HostileTextTests {
    @Test(arguments: HostileText.all) func `a notice with words of a worker is one line`(text: String) {
        for notice in [RunNotice.pluginUnusable(text), .sandboxIncomplete([text, text])] {
            #expect(HostileText.remains(in: notice.text(from: "/").message) == [])
        }
    }
}
