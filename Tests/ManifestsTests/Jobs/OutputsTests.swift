import Catalogs
import JobModel
import Testing

/// `outputs:`, several outputs of one decoding.
@Suite struct OutputsTests {
    private func read(_ outputs: String, filters: String = "filters: [invert]\n") -> Reading {
        Reading("job: a\ninputs: '*.jpg'\n\(filters)\(outputs)")
    }

    @Test func `each output continues the common chain and is written its own way`() throws {
        let job = try #require(
            read(
                """
                outputs:
                  - path: out/{stem}.png
                  - path: out/{stem}-s.jpg
                    filters:
                      - gaussian: {radius: 3}
                    save: {quality: 40}

                """
            ).job)
        #expect(job.chain.map(\.filter) == ["invert"])
        #expect(job.outputs.map(\.template.source) == ["out/{stem}.png", "out/{stem}-s.jpg"])
        #expect(job.outputs.map { $0.chain.map(\.filter) } == [[], ["gaussian"]])
        #expect(job.outputs[1].save.values["quality"] == .integer(40))
    }

    @Test func `outputs with filters of their own need none in common`() throws {
        let job = try #require(read("outputs:\n  - path: a/{stem}.png\n    filters: [invert]\n", filters: "").job)
        #expect(job.chain.isEmpty && job.outputs[0].chain.count == 1)
    }

    @Test func `a value in it can be set from the command line`() throws {
        let reading = Reading(
            "job: a\ninputs: '*.jpg'\nfilters: [invert]\noutputs:\n  - path: a/{stem}.jpg\n    save: {quality: 5}\n",
            set: "outputs[0].save.quality=90")
        #expect(try #require(reading.job).outputs[0].save.values["quality"] == .integer(90))
    }

    @Test(arguments: [
        (
            "output: a.png\noutputs:\n  - path: b/{stem}.png\n",
            """
            job.yaml:4:1: error: 'output' cannot stand beside 'outputs'
            4 | output: a.png
              | ^^^^^^
              = write it as an entry of 'outputs': - path: out/{stem}.png
            """
        ),
        (
            "save: {quality: 3}\noutputs:\n  - path: b/{stem}.jpg\n",
            """
            job.yaml:4:1: error: 'save' cannot stand beside 'outputs'
            4 | save: {quality: 3}
              | ^^^^
              = write it into the entries of 'outputs'
            """
        ),
        (
            "outputs: b/{stem}.png\n",
            """
            job.yaml:4:10: error: 'outputs' must be a list, and this is a single value
            4 | outputs: b/{stem}.png
              |          ^^^^^^^^^^^^
              = write each output as an item: - path: out/{stem}.png; a single one is 'output: out/{stem}.png'
            """
        ),
        (
            "outputs: []\n",
            """
            job.yaml:4:10: error: 'outputs' is an empty list
            4 | outputs: []
              |          ^^
              = write at least one item
            """
        ),
        (
            "outputs:\n  - b/{stem}.png\n",
            """
            job.yaml:5:5: error: 'outputs[0]' must be a mapping, not a single value
            5 |   - b/{stem}.png
              |     ^^^^^^^^^^^^
              = write 'path: out/{stem}.png', and 'filters' and 'save' if needed
            """
        ),
        (
            "outputs:\n  - path: b/{stem}.png\n  - path: b/{stem}.png\n",
            """
            job.yaml:6:11: error: two outputs have the path 'b/{stem}.png'
            6 |   - path: b/{stem}.png
              |           ^^^^^^^^^^^^
              = give each a path of its own
            """
        ),
        (
            "outputs:\n  - filters: [invert]\n",
            """
            job.yaml:5:5: error: 'outputs[0]' has no 'path'
            5 |   - filters: [invert]
              |     ^^^^^^^
              = add 'path: out/{stem}.png'
            """
        ),
        (
            "outputs:\n  - path: b/{stem}.png\n    file: x\n",
            """
            job.yaml:6:5: error: 'outputs[0]' has no key 'file'
            6 |     file: x
              |     ^^^^
              = did you mean 'path'?
            """
        ),
        (
            "outputs:\n  - path: b/{stem}.png\n    save: {quality: 4}\n",
            """
            job.yaml:6:12: error: png has no option 'quality'
            """
        ),
    ])
    func `what is wrong is told`(outputs: String, message: String) {
        let reading = read(outputs)
        #expect(reading.messages.hasPrefix(message), "\(reading.messages)")
    }

    @Test func `more outputs than a job can have are refused`() {
        let many = (0..<33).map { "  - path: b/{stem}-\($0).png\n" }.joined()
        #expect(
            read("outputs:\n" + many).messages.hasPrefix(
                "job.yaml:5:3: error: 33 outputs are more than the 32 that a job can have"))
    }

    @Test func `a page has a number in the name`() throws {
        let job = try #require(read("output: a/{stem}-{frame}-{frame:03}.png\n").job)
        #expect(job.rendersPages && job.needsProbe)
        #expect(job.outputs[0].template.pieces.contains(.field(.frame(digits: 3))))
        #expect(
            read("output: a/{stem}-{page}.png\n").messages.hasPrefix(
                "job.yaml:4:18: error: unknown field '{page}'"))
        #expect(
            read("output: a/{stem}-{frame:3}.png\n").messages.hasPrefix(
                "job.yaml:4:18: error: '{frame:3}' does not say how many digits"))
    }
}
