import Catalogs
import JobModel
import Manifests
import Testing

/// What a manifest gives when nothing is wrong with it.
@Suite struct JobReaderTests {
    @Test func `a manifest with every key gives the job it describes`() {
        let reading = Reading(
            """
            job: nightly-blur
            description: 'Blurred backgrounds: the gallery'
            inputs:
              - photos/**/*.jpg
              - 'scans/*.tif'
            exclude: photos/drafts/**
            filters:
              - gaussian:
                  radius: 12
                  edge: clamp
              - motion: {radius: 40, angle: 45, samples: continuous}
              - invert
            output: out/{dir}/{stem}.webp
            save:
              quality: 82
              metadata: public
              background: black
            color: srgb
            tile: 512
            shard: tile
            existing: skip
            retries: 5
            timeout: 90s
            max_pixels: 500M
            verify: audit
            """)
        #expect(reading.messages.isEmpty)
        #expect(
            reading.job
                == JobSpec(
                    name: "nightly-blur", summary: "Blurred backgrounds: the gallery",
                    manifestPath: "/home/ann/jobs/job.yaml", folder: "/home/ann/jobs",
                    inputs: ["photos/**/*.jpg", "scans/*.tif"], exclude: ["photos/drafts/**"],
                    chain: [
                        FilterInvocation(
                            filter: "gaussian",
                            values: [
                                "radius": .number(12), "edge": .word("clamp"), "extent": .word("crop"),
                                "light": .word("encoded"),
                            ]),
                        FilterInvocation(
                            filter: "motion",
                            values: [
                                "radius": .number(40), "angle": .number(45), "samples": .word("continuous"),
                                "edge": .word("clamp"), "extent": .word("crop"), "light": .word("encoded"),
                            ]),
                        FilterInvocation(filter: "invert", values: [:]),
                    ],
                    outputs: [
                        JobOutput(
                            template: OutputTemplate(
                                source: "out/{dir}/{stem}.webp",
                                pieces: [
                                    .literal("out/"), .field(.dir), .literal("/"), .field(.stem), .literal(".webp"),
                                ]),
                            save: SaveOptions(
                                metadata: .public, background: [0, 0, 0], precision: .auto,
                                values: ["quality": .integer(82)]))
                    ],
                    color: .srgb, tile: .pixels(512), shard: .tile, existing: .skip, retries: 5,
                    timeout: .seconds(90), maxPixels: 500_000_000, verify: .audit))
    }

    @Test func `a manifest with the required keys alone has the defaults`() throws {
        let job = try #require(Reading("job: a\ninputs: '*.jpg'\nfilters: [invert]\noutput: out/{stem}.png\n").job)
        #expect(
            job
                == JobSpec(
                    name: "a", manifestPath: "/home/ann/jobs/job.yaml", folder: "/home/ann/jobs", inputs: ["*.jpg"],
                    chain: [FilterInvocation(filter: "invert", values: [:])],
                    outputs: [
                        JobOutput(
                            template: OutputTemplate(
                                source: "out/{stem}.png", pieces: [.literal("out/"), .field(.stem), .literal(".png")]))
                    ]))
        #expect(job.maxPixels == 2_000_000_000)
        #expect(job.retries == 2)
        #expect(job.existing == .update)
    }

    @Test(arguments: [("/a/b/c.yaml", "/a/b"), ("/c.yaml", "/"), ("c.yaml", "."), ("/ä/ö.yaml", "/ä")])
    func `relative paths start from the manifest's folder`(path: String, folder: String) {
        let bytes = Array("job: a\ninputs: '*.jpg'\nfilters: [invert]\noutput: out/{stem}.png\n".utf8)
        let result = JobReader.read(bytes: bytes, path: "x", realPath: path, catalog: .example)
        #expect(result.job?.folder == folder)
        #expect(result.job?.manifestPath == path)
    }

    @Test(arguments: ["a", "A1", "nightly-blur", "2026.v1_b", String(repeating: "x", count: 100)])
    func `a job's name has letters, digits, dots, dashes and underscores`(name: String) {
        #expect(Reading.job("job: \(name)").job?.name == name)
    }

    @Test(arguments: ["-a", ".a", "_a", "a b", "ä", "a/b", String(repeating: "x", count: 101)])
    func `a job's name has nothing else`(name: String) {
        #expect(Reading.job("job: \(name)").job == nil)
    }

    @Test func `policies take their words`() {
        for mode in ShardMode.allCases { #expect(Reading.job("shard: \(mode)").job?.shard == mode) }
        for policy in ExistingPolicy.allCases { #expect(Reading.job("existing: \(policy)").job?.existing == policy) }
        for level in VerifyLevel.allCases { #expect(Reading.job("verify: \(level)").job?.verify == level) }
        for policy in ColorPolicy.allCases { #expect(Reading.job("color: \(policy)").job?.color == policy) }
        #expect(Reading.job("tile: auto").job?.tile == .auto)
        #expect(Reading.job("timeout: auto").job?.timeout == .auto)
        #expect(Reading.job("timeout: 7d").job?.timeout == .seconds(604_800))
        #expect(Reading.job("retries: 0").job?.retries == 0)
        #expect(Reading.job("max_pixels: 1").job?.maxPixels == 1)
    }

    @Test func `an exclude may be an empty list`() {
        #expect(Reading.job("exclude: []").job?.exclude == [])
    }

    @Test func `CRLF files are read`() {
        let text = "job: a\r\ninputs: '*.jpg'\r\nfilters:\r\n  - invert\r\noutput: out/{stem}.png\r\n"
        #expect(Reading(text).job?.output.source == "out/{stem}.png")
    }
}
