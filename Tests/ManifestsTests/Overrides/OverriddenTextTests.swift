import Manifests
import Testing

/// A manifest that is kept with what was set on the command line.
@Suite struct OverriddenTextTests {
    private static let manifest = """
        job: apply
        inputs:
          - "photos/a b.png"
        filters:
          - gaussian: {radius: 3, edge: wrap}
          - invert
        output: "out/{stem}.png"

        """

    private func text(_ overrides: String..., whole: ((String) -> String)? = nil) -> String {
        OverriddenText(bytes: Array(Self.manifest.utf8), overrides: overrides.map { Override($0) }, whole: whole).text
    }

    @Test func `values that were set are in the text`() {
        #expect(
            text("filters[0].gaussian.radius=4.5", "save.quality=80", "description='a: b'")
                == """
                job: apply
                inputs:
                  - "photos/a b.png"
                filters:
                  - gaussian: {radius: 4.5, edge: wrap}
                  - invert
                output: "out/{stem}.png"
                save: {quality: 80}
                description: "a: b"

                """)
    }

    @Test func `the text is read as the manifest and its overrides are`() {
        let overrides = ["filters[1]={gaussian: {radius: {x: 1, y: 2}}}", "inputs=[a.jpg, 'b, {c}.jpg']", "retries=7"]
        let kept = OverriddenText(bytes: Array(Self.manifest.utf8), overrides: overrides.map { Override($0) }).text
        let before = Reading(bytes: Array(Self.manifest.utf8), overrides: overrides)
        #expect(before.job != nil)
        #expect(Reading(kept).job == before.job)
    }

    @Test func `paths that were set become whole where the manifest goes to another folder`() {
        let kept = text("output=thumbs/{stem}.png", "inputs[0]=b.png") { "/here/\($0)" }
        #expect(kept.contains("\noutput: \"/here/thumbs/{stem}.png\"\n"))
        #expect(kept.contains("\n  - \"/here/b.png\"\n"))
        #expect(!text("retries=3") { "/here/\($0)" }.contains("/here/"))
    }
}
