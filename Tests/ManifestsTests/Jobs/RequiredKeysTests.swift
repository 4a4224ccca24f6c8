import Catalogs
import Testing

/// Keys that a job must have, and keys that it does not have.
@Suite struct RequiredKeysTests {
    @Test func `each missing key is named with an example`() {
        #expect(
            Reading("description: nothing else\n").messages
                == """
                job.yaml:1:1: error: the job has no 'job'
                1 | description: nothing else
                  | ^^^^^^^^^^^
                  = add 'job: nightly-blur'
                job.yaml:1:1: error: the job has no 'inputs'
                1 | description: nothing else
                  | ^^^^^^^^^^^
                  = add 'inputs: photos/**/*.jpg'
                job.yaml:1:1: error: the job has no 'filters'
                1 | description: nothing else
                  | ^^^^^^^^^^^
                  = add 'filters: [{gaussian: {radius: 12}}]', or 'filters: []' to change only the format
                job.yaml:1:1: error: the job has no 'output'
                1 | description: nothing else
                  | ^^^^^^^^^^^
                  = add 'output: out/{stem}.png'
                """)
    }

    @Test func `a required key that is almost spelt is meant, also if something else has this name`() {
        let filter = ParameterDescriptor("filter", .choice(["none", "up"]), summary: "Prediction")
        let png = FormatDescriptor(
            name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8], holdsAlpha: true,
            isLossless: true, largestSide: 65_535, options: [filter])
        let catalog = Catalog(versions: ["penumbra": "1.0.0"], filters: [.invert], formats: [png])
        #expect(
            Reading("job: a\ninputs: b\nfilter: [invert]\noutput: out/{stem}.png\n", catalog: catalog).messages
                == """
                job.yaml:3:1: error: the job has no key 'filter'
                3 | filter: [invert]
                  | ^^^^^^
                  = did you mean 'filters'?
                """)
        // Nothing is missing here.
        #expect(Reading.job("filter: up", catalog: catalog).messages.contains("'filter' is an option of 'save'"))
    }

    @Test func `a key that stands among the items of a list is not told to be missing, too`() {
        #expect(
            Reading("job: a\ninputs: b\nfilters:\n  - invert\n  output: out/{stem}.png\n").messages
                == """
                job.yaml:5:3: error: 'output: out/{stem}.png' among list items
                5 |   output: out/{stem}.png
                  |   ^^^^^^^^^^^^^^^^^^^^^^
                  = if 'output' is a key of the job, move it to the start of the line; if it belongs to the item above, \
                indent it deeper; if it is an item, begin it with '- '
                """)
    }

    @Test func `a list is no job`() {
        #expect(
            Reading("- invert\n").messages
                == """
                job.yaml:1:1: error: the job must be a mapping, not a list
                1 | - invert
                  | ^^^^^^^^
                  = write 'key: value' lines
                """)
    }

    @Test func `a misspelled key is suggested`() {
        #expect(
            Reading.job("exlude: drafts/**").messages
                == """
                job.yaml:1:1: error: the job has no key 'exlude'
                1 | exlude: drafts/**
                  | ^^^^^^
                  = did you mean 'exclude'?
                """)
    }

    @Test func `a key with another case is suggested`() {
        #expect(
            Reading.job("Max-Pixels: 10M").messages
                == """
                job.yaml:1:1: error: the job has no key 'Max-Pixels'
                1 | Max-Pixels: 10M
                  | ^^^^^^^^^^
                  = did you mean 'max_pixels'?
                """)
    }

    @Test func `another tool's key is suggested`() {
        #expect(
            Reading.job("tile_size: 512").messages
                == """
                job.yaml:1:1: error: the job has no key 'tile_size'
                1 | tile_size: 512
                  | ^^^^^^^^^
                  = did you mean 'tile'?
                """)
    }

    @Test func `a key that resembles none gets the list of keys`() {
        #expect(
            Reading.job("zzz: 1").messages
                == """
                job.yaml:1:1: error: the job has no key 'zzz'
                1 | zzz: 1
                  | ^^^
                  = its keys are job, description, inputs, exclude, opaque, layers, filters, animate, output, save, outputs, color, tile, shard, existing, retries, timeout, max_pixels, dpi, verify, compare, upgrade, durability, max_failures, expect, on_failure, min_age, index, receipts and slurm
                """)
    }

    @Test func `a save option at the top is sent to its place`() {
        #expect(
            Reading.job("quality: 80").messages
                == """
                job.yaml:1:1: error: 'quality' is an option of 'save'
                1 | quality: 80
                  | ^^^^^^^
                  = write it below 'save:', indented
                """)
    }

    @Test func `a filter at the top is sent to its place`() {
        #expect(
            Reading.job("gaussian: {radius: 3}").messages
                == """
                job.yaml:1:1: error: 'gaussian' is a filter
                1 | gaussian: {radius: 3}
                  | ^^^^^^^^
                  = write it as an item below 'filters:': - gaussian
                """)
    }

    @Test func `the number of workers is no part of a manifest`() {
        #expect(
            Reading.job("workers: 8").messages
                == """
                job.yaml:1:1: error: the job has no key 'workers'
                1 | workers: 8
                  | ^^^^^^^
                  = the number of workers is a flag: --workers
                """)
    }

    @Test func `overwriting has a key of its own`() {
        #expect(
            Reading.job("overwrite: true").messages
                == """
                job.yaml:1:1: error: the job has no key 'overwrite'
                1 | overwrite: true
                  | ^^^^^^^^^
                  = write 'existing: overwrite'
                """)
    }
}
