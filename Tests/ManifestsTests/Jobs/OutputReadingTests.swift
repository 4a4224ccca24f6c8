import Catalogs
import JobModel
import Testing

/// Output templates and save options that are right.
@Suite struct OutputReadingTests {
    @Test func `every field is known`() {
        let fields: [(String, OutputTemplate.Field)] = [
            ("{dir}", .dir), ("{stem}", .stem), ("{ext}", .ext), ("{job}", .job), ("{width}", .width),
            ("{height}", .height), ("{index}", .index(digits: 1)), ("{index:04}", .index(digits: 4)), ("{date}", .date),
            ("{hash8}", .hash8),
        ]
        for (text, field) in fields {
            #expect(Reading.job("output: x/\(text)-{stem}.png").job?.output.pieces[1] == .field(field))
        }
    }

    @Test(arguments: ["../out/{stem}.png", "/abs/{stem}.png", "{stem}.png", "a b/{stem} (1).png", "x{index}.PNG"])
    func `a template is any path to a file`(template: String) {
        let reading = Reading.job("output: '\(template)'")
        #expect(reading.messages.isEmpty)
        #expect(reading.job?.output.source == template)
    }

    @Test func `a template may begin with a field in quotes`() {
        #expect(
            Reading.job("output: '{dir}/{stem}.{ext}'").job?.output.pieces
                == [.field(.dir), .literal("/"), .field(.stem), .literal("."), .field(.ext)])
    }

    @Test(arguments: ["out/{hash8}.png", "out/{index}.png", "out/{stem}.png"])
    func `names that tell inputs apart need no warning`(template: String) {
        #expect(Reading.job("output: \(template)").messages.isEmpty)
    }

    @Test func `one name for one input needs no warning`() {
        #expect(Reading.job("inputs: a.jpg\noutput: out/x.png").messages.isEmpty)
    }

    @Test(arguments: [
        ("filters: [invert]", ChainPrecision.input), ("filters: [invert, gaussian]", .auto),
        ("filters: [invert, gaussian]\nsave: {depth: 8}", .auto),
        ("filters: [invert, gaussian]\nsave: {precision: input}", .input),
        ("filters: [invert]\nsave: {precision: auto}", .input), ("filters: [invert]\nsave: {precision: 8}", .u8),
        ("filters: [invert, gaussian]\nsave: {precision: float}", .f32),
    ])
    func `the precision of an output with several filters is decided for each picture`(
        keys: String, precision: ChainPrecision
    ) throws {
        #expect(try #require(Reading.job(keys).job).outputs[0].save.precision == precision)
    }

    @Test func `in a list of outputs, each has the samples of its input, unless it names others`() throws {
        let text = """
            job: a
            inputs: '*.jpg'
            filters: [invert]
            outputs:
              - {path: 'a-{stem}.png', filters: [gaussian]}
              - {path: 'b-{stem}.png', filters: [gaussian], save: {compression: 3}}
              - {path: 'c-{stem}.png', filters: [gaussian], save: {precision: auto}}

            """
        let job = try #require(Reading(text).job)
        #expect(job.outputs.map(\.save.precision) == [.input, .input, .auto])
    }

    @Test func `options are those of the output's format`() {
        let save = Reading.job("output: x/{stem}.tif\nsave: {compression: lzw, metadata: strip}").job?.save
        #expect(save == SaveOptions(metadata: .strip, values: ["compression": .word("lzw")]))
        #expect(Reading.job("save: {compression: 9}").job?.save.values == ["compression": .integer(9)])
        #expect(Reading.job("save: {background: '#102030'}").job?.save.background == [16, 32, 48])
    }

    @Test func `an open extension takes the options of every format that can be written`() {
        let reading = Reading.job("output: x/{stem}.{ext}\nsave: {compression: lzw, quality: 80, lossless: true}")
        #expect(reading.messages.isEmpty)
        #expect(
            reading.job?.save.values
                == ["compression": .word("lzw"), "quality": .integer(80), "lossless": .boolean(true)])
        #expect(
            Reading.job("output: x/{stem}.{ext}\nsave: {compression: 3}").job?.save.values == [
                "compression": .integer(3)
            ])
    }
}
