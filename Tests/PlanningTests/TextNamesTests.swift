import Catalogs
import JobModel
import Planning
import Testing

/// Names of pictures in texts.
@Suite struct TextNamesTests {
    private func filled(_ pieces: [TextTemplate.Piece], _ path: String, dir: String = "2026", page: Int = 0)
        -> [TextTemplate.Piece]
    {
        let naming = OutputNaming(
            JobSpec(
                name: "nightly", manifestPath: "/jobs/nightly.yaml", folder: "/jobs", inputs: ["*"], chain: [],
                outputs: []),
            date: "2026-11-30")
        let filter = FilterInvocation(filter: "text", values: ["text": .template(TextTemplate(pieces))])
        let input = InputFile(bytes: Array(path.utf8), dir: dir)
        return naming.filling([filter], for: input, index: 7, page: page).flatMap { $0.templates.flatMap(\.pieces) }
    }

    @Test func `fields become the words of the picture, and join the words around them`() {
        #expect(
            filled(
                [
                    .name(.dir), .literal("/"), .name(.stem), .literal("."), .name(.ext), .literal(" "),
                    .name(.index(digits: 3)), .literal(" p. "), .name(.frame(digits: 1)), .literal(" "), .name(.job),
                    .literal(" "), .name(.date),
                ], "/photos/2026/Cat one.JPG", page: 4) == [.literal("2026/Cat one.jpg 007 p. 5 nightly 2026-11-30")])
    }

    @Test func `braces of a name are no fields`() {
        #expect(filled([.name(.stem)], "/photos/{exif.iso}.jpg") == [.literal("{exif.iso}")])
    }

    @Test func `values of metadata are filled in by workers`() {
        let pieces = filled([.name(.stem), .literal(" "), .exif(.iso), .literal("!")], "/photos/cat.jpg")
        #expect(pieces == [.literal("cat "), .exif(.iso), .literal("!")])
        let chain = [FilterInvocation(filter: "text", values: ["text": .template(TextTemplate(pieces))])]
        #expect(chain.exifFields == [.iso])
        #expect(chain.filling { _ in "ISO 400" }.flatMap { $0.templates.map(\.text) } == ["cat ISO 400!"])
        let lacking = chain.filling { _ in nil }.flatMap { $0.templates.flatMap(\.pieces) }
        #expect(lacking == [.literal("cat "), .missing(.iso), .literal("!")])
    }
}
