import Catalogs
import Manifests
import Testing

/// Parameters that name a picture, as `mask` of `shade` does.
@Suite struct PictureParameterTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "shade", kind: .area, summary: "Shades", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor("mask", .picture, summary: "Where"),
                    ParameterDescriptor("shape", .choice(["disc", "band"]), fallback: .word("disc"), summary: "Shape"),
                    ParameterDescriptor("size", .number(minimum: 0, maximum: 9), fallback: .number(4), summary: "Size"),
                ], rules: [.replaces(parameter: "mask", others: ["shape", "size"])])
        ], formats: [.png])

    private func reading(_ parameters: String) -> Reading {
        .filter("shade: \(parameters)", catalog: Self.catalog)
    }

    @Test func `a relative path starts from the manifest's folder`() {
        let mask = { (path: String) in ParameterValue.picture(PictureReference(path: path)) }
        #expect(reading("{mask: a/b.png}").values == ["mask": mask("/home/ann/jobs/a/b.png")])
        #expect(reading("{mask: /b.png}").values == ["mask": mask("/b.png")])
    }

    @Test func `a path with fields names a picture for each input`() {
        let masks = { (path: String) in ParameterValue.pictureTemplate(PictureTemplate(path: path)) }
        #expect(
            reading("{mask: 'm/{dir}/{stem}.{ext}'}").values == ["mask": masks("/home/ann/jobs/m/{dir}/{stem}.{ext}")])
        #expect(reading("{mask: '/m/{stem}.png'}").values == ["mask": masks("/m/{stem}.png")])
    }

    @Test func `other braces are a part of a name`() {
        #expect(
            reading("{mask: 'a{1}.png'}").values
                == ["mask": .picture(PictureReference(path: "/home/ann/jobs/a{1}.png"))])
    }

    @Test func `a field that no mask has is refused`() {
        let found = reading("{mask: 'm/{stem}-{date}.png'}")
        #expect(
            found.problems == ["4:19: the path of 'mask' has the fields {dir}, {stem} and {ext}, and no others"])
        #expect(found.remedies == ["write mask: masks/{stem}.png, or the path of one picture for all inputs"])
    }

    @Test(arguments: [("'m/{stem}.png'", true), ("'/m/{stem}.png'", false), ("m.png", false)])
    func `a folder of the manifest that is called like a field is refused, where the field would be filled in`(
        mask: String, isRefused: Bool
    ) {
        let text = "job: a\ninputs: '*.jpg'\nfilters: [{shade: {mask: \(mask)}}]\noutput: out/{stem}.png\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "job.yaml", realPath: "/home/{stem}/job.yaml", catalog: Self.catalog)
        #expect(
            result.diagnostics.map(\.problem.words.message)
                == (isRefused
                    ? [
                        "the folder of the manifest, '/home/{stem}', has a field in its name, which 'mask' would fill in"
                    ]
                    : []))
        #expect((result.job == nil) == isRefused)
    }

    @Test func `what a picture takes the place of has no value beside it`() {
        #expect(reading("{}").values == ["shape": .word("disc"), "size": .number(4)])
        #expect(reading("{mask: m.png}").values?.keys.sorted() == ["mask"])
    }

    @Test func `the second of two that exclude each other is pointed at`() {
        let words = "'size' does not go with 'mask'"
        #expect(reading("{mask: m.png, size: 3}").problems == ["4:26: \(words)"])
        #expect(reading("{size: 3, mask: m.png}").problems == ["4:22: \(words)"])
        #expect(reading("{size: 3, mask: m.png}").remedies == ["remove one of them"])
    }

    @Test func `an empty path and a list are none`() {
        #expect(reading("{mask: ''}").problems == ["4:19: 'mask' is empty"])
        #expect(reading("{mask: [a, b]}").problems == ["4:19: 'mask' must be a text, not a list"])
    }

    @Test func `what is wrong with the file is told where it is named`() {
        let text = "job: a\ninputs: b.png\nfilters: [{shade: {mask: m.png}}]\noutput: c.png\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "a.yaml", realPath: "/x/a.yaml", catalog: Self.catalog
        ) { path, folder in ("\(folder)/\(path)", "no such file") }
        #expect(result.job == nil)
        #expect(
            result.messages == [
                """
                a.yaml:3:26: error: the picture of 'mask', 'm.png': no such file
                3 | filters: [{shade: {mask: m.png}}]
                  |                          ^^^^^
                  = write the path of a picture that Penumbra can read; this one leads to /x/m.png
                """
            ])
    }

    @Test func `the schema knows pictures, and what goes with them`() throws {
        let texts = ["{mask: a.png}", "{mask: 12}", "{size: 3}", "{mask: ''}", "{mask: a.png, size: 3}", "{mask: [a]}"]
            .map { "job: a\ninputs: b.png\nfilters: [{shade: \($0)}]\noutput: c.png\n" }
        #expect(
            try SchemaChecker.accepts(texts, catalog: Self.catalog) == [true, true, true, false, false, false])
    }
}
