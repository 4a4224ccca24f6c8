import Catalogs
import JobModel
import Manifests
import Testing

/// Words with fields, and their font, as `text` has them.
@Suite struct TextParameterTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "label", kind: .point, summary: "Writes", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor("text", .template, summary: "Words", requiredLike: "© Ann"),
                    ParameterDescriptor("font", .font, summary: "Font", requiredLike: "a.ttf"),
                ])
        ], formats: [.png])

    private func reading(_ text: String) -> Reading {
        .filter("label: {font: a.ttf, text: \(text)}", catalog: Self.catalog)
    }

    private func words(_ text: String) -> [TextTemplate.Piece]? {
        guard case .template(let template)? = reading(text).values?["text"] else { return nil }
        return template.pieces
    }

    @Test func `words stand as they are written, with several lines and signs of markup`() {
        #expect(words("© Ann") == [.literal("© Ann")])
        #expect(words(#""<b>one</b> & more\ntwo""#) == [.literal("<b>one</b> & more\ntwo")])
        #expect(reading("a").job?.color == .keep)
    }

    @Test func `fields are those of names and of metadata`() {
        #expect(
            words("'{stem}.{ext} no. {index:04} of {job}, {date}'") == [
                .name(.stem), .literal("."), .name(.ext), .literal(" no. "), .name(.index(digits: 4)), .literal(" of "),
                .name(.job), .literal(", "), .name(.date),
            ])
        for field in ExifField.allCases { #expect(words("'{\(field.rawValue)}'") == [.exif(field)]) }
        for field in ["dir", "frame", "frame:03"] { #expect(words("'{\(field)}'") != nil, "\(field)") }
    }

    @Test func `a template is written as it was read`() {
        let text = "{dir}/{stem}.{ext} {index} {index:03} {frame} {frame:02} {job} {date} {exif.focal_length}"
        guard case .template(let template)? = reading("'\(text)'").values?["text"] else {
            Issue.record("no template")
            return
        }
        #expect(template.written == text)
        #expect(template.hasNames && template.exifFields == [.focalLength])
    }

    @Test(arguments: [
        ("'{stm}'", "unknown field '{stm}'", "did you mean {stem}?"),
        ("'{name}'", "unknown field '{name}'", "did you mean {stem}?"),
        ("'{exif.DateTimeOriginal}'", "unknown field '{exif.DateTimeOriginal}'", "did you mean {exif.date}?"),
        ("'{FNumber}'", "unknown field '{FNumber}'", "did you mean {exif.aperture}?"),
        ("'{iso}'", "unknown field '{iso}'", "did you mean {exif.iso}?"),
        (
            "'{zzzzzz}'", "unknown field '{zzzzzz}'",
            "the fields are {dir}, {stem}, {ext}, {job}, {index}, {frame}, {date}, {exif.date}, {exif.time}, {exif.camera}, "
                + "{exif.lens}, {exif.focal_length}, {exif.exposure}, {exif.aperture} and {exif.iso}"
        ),
        (
            "'{width}'", "'{width}' is known only when all filters are, and is no field of a text",
            "remove it; names of outputs can have it"
        ),
        (
            "'{hash8}'", "'{hash8}' is known only when all filters are, and is no field of a text",
            "remove it; names of outputs can have it"
        ),
        ("'a}'", "no '{' opens this '}'", "write a field like {stem}; a text cannot have braces of its own"),
        ("'{a'", "no '}' closes this '{'", "write a field like {stem}; a text cannot have braces of its own"),
        (
            "'{{a}}'", "doubled braces have no meaning here",
            "write a field in single braces, {stem}; a text cannot have braces of its own"
        ),
        ("'{}'", "a field without a name", "write a field like {stem}"),
        ("'{index:4}'", "'{index:4}' does not say how many digits", "write {index}, or {index:04} for 0001, 0002, …"),
        ("''", "'text' is empty", ""),
        ("[a, b]", "'text' must be a text, not a list", ""),
    ])
    func `a wrong field is told where it is`(text: String, message: String, remedy: String) {
        let reading = reading(text)
        #expect(reading.job == nil)
        #expect(reading.problems.first?.hasSuffix(": \(message)") == true, "\(reading.problems)")
        if !remedy.isEmpty { #expect(reading.remedies == [remedy]) }
    }

    @Test func `a field of metadata is none of output names`() {
        #expect(
            Reading.job("output: out/{exif.iso}.png", catalog: Self.catalog.adding(.invert)).problems
                == ["1:13: unknown field '{exif.iso}'"])
    }

    @Test func `both must be there`() {
        #expect(
            Reading.filter("label", catalog: Self.catalog).remedies == ["add 'text: © Ann'", "add 'font: a.ttf'"])
    }

    @Test func `a font that is not there is told with the place of Debian's fonts`() {
        let text = "job: a\ninputs: b.png\nfilters: [{label: {text: a, font: m.ttf}}]\noutput: c.png\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "a.yaml", realPath: "/x/a.yaml", catalog: Self.catalog
        ) { path, folder in ("\(folder)/\(path)", "no such file") }
        #expect(result.job == nil)
        #expect(
            result.messages == [
                """
                a.yaml:3:35: error: the font of 'font', 'm.ttf': no such file
                3 | filters: [{label: {text: a, font: m.ttf}}]
                  |                                   ^^^^^
                  = write the path of a .ttf or .otf file that Penumbra can read; Debian has its fonts in /usr/share/fonts; this one \
                leads to /x/m.ttf
                """
            ])
    }

    @Test func `a file that is no font is told where it is named`() throws {
        var result = reading("a").result
        let font = try #require(result.pictures.first)
        #expect(font.kind == .font)
        result.add("is no TrueType or OpenType font", of: font)
        #expect(
            result.messages.first?.hasSuffix(
                "= write the path of another .ttf or .otf file; this one leads to /home/ann/jobs/a.ttf") == true)
    }

    @Test func `the schema takes any words`() throws {
        let texts = ["{text: a, font: b}", "{text: '{stem}', font: b}", "{text: '', font: b}", "{text: a}"]
            .map { "job: a\ninputs: b.png\nfilters: [{label: \($0)}]\noutput: c.png\n" }
        #expect(try SchemaChecker.accepts(texts, catalog: Self.catalog) == [true, true, false, false])
    }
}

extension Catalog {
    fileprivate func adding(_ filter: FilterDescriptor) -> Catalog {
        Catalog(versions: versions, filters: filters + [filter], formats: formats)
    }
}
