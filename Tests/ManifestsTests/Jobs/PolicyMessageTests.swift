import JobModel
import Testing

/// Wrong values of a job's plain keys.
@Suite struct PolicyMessageTests {
    @Test func `a part of the failures has no blank before its sign`() {
        #expect(
            Reading.job("max_failures: 10 %").messages
                == """
                job.yaml:1:15: error: 'max_failures' cannot be '10 %'
                1 | max_failures: 10 %
                  |               ^^^^
                  = write 10%, without the blank
                """)
        #expect(
            Reading.job("max_failures: ten%").messages
                == """
                job.yaml:1:15: error: 'max_failures' needs a count, and 'ten%' is none
                1 | max_failures: ten%
                  |               ^^^^
                  = write it like off, 50 or 10%
                """)
    }

    @Test func `a job name with a blank is refused`() {
        #expect(
            Reading.job("job: nightly blur").messages
                == """
                job.yaml:1:6: error: 'nightly blur' is not a job's name
                1 | job: nightly blur
                  |      ^^^^^^^^^^^^
                  = use up to 100 letters (a-z, A-Z), digits, '.', '_' and '-', beginning with a letter or digit: 'nightly-blur'
                """)
    }

    @Test func `a job name with a letter of another alphabet is refused, and the letters are named`() {
        #expect(
            Reading.job("job: Hochzeit-Müller").messages
                == """
                job.yaml:1:6: error: 'Hochzeit-Müller' is not a job's name
                1 | job: Hochzeit-Müller
                  |      ^^^^^^^^^^^^^^^
                  = use up to 100 letters (a-z, A-Z), digits, '.', '_' and '-', beginning with a letter or digit: 'Hochzeit-M-ller'
                """)
    }

    @Test func `a job name that begins with a dash is refused`() {
        #expect(
            Reading.job("job: -nightly").messages
                == """
                job.yaml:1:6: error: '-nightly' is not a job's name
                1 | job: -nightly
                  |      ^^^^^^^^
                  = use up to 100 letters (a-z, A-Z), digits, '.', '_' and '-', beginning with a letter or digit: 'nightly'
                """)
    }

    @Test func `an empty job name is refused`() {
        #expect(
            Reading.job("job: ''").messages
                == """
                job.yaml:1:6: error: 'job' is empty
                1 | job: ''
                  |      ^^
                  = write a text
                """)
    }

    @Test func `a list is no job name`() {
        #expect(
            Reading.job("job: [a, b]").messages
                == """
                job.yaml:1:6: error: 'job' must be a text, not a list
                1 | job: [a, b]
                  |      ^^^^^^
                  = write a text
                """)
    }

    @Test func `inputs must not be an empty list`() {
        #expect(
            Reading.job("inputs: []").messages
                == """
                job.yaml:1:9: error: 'inputs' is an empty list
                1 | inputs: []
                  |         ^^
                  = write at least one item
                """)
    }

    @Test func `an empty pattern is refused with its place in the list`() {
        #expect(
            Reading.job("inputs: ['*.jpg', '']").messages
                == """
                job.yaml:1:19: error: 'inputs[1]' is empty
                1 | inputs: ['*.jpg', '']
                  |                   ^^
                  = write a text
                """)
    }

    @Test func `a mapping is no pattern`() {
        #expect(
            Reading.job("inputs: [{a: b}]").messages
                == """
                job.yaml:1:10: error: 'inputs[0]' must be a text, not a mapping
                1 | inputs: [{a: b}]
                  |          ^^^^^^
                  = write a text
                """)
    }

    @Test func `a nearly right word is suggested`() {
        #expect(
            Reading.job("shard: fram").messages
                == """
                job.yaml:1:8: error: 'shard' cannot be 'fram'
                1 | shard: fram
                  |        ^^^^
                  = did you mean 'frame'? it takes auto, frame or tile
                """)
    }

    @Test func `a word that resembles none gets the choices`() {
        #expect(
            Reading.job("verify: everything").messages
                == """
                job.yaml:1:9: error: 'verify' cannot be 'everything'
                1 | verify: everything
                  |         ^^^^^^^^^^
                  = it takes digest, audit or full
                """)
    }

    @Test func `yes and no do not go for a word`() {
        #expect(
            Reading.job("existing: yes").messages
                == """
                job.yaml:1:11: error: 'existing' cannot be 'yes'
                1 | existing: yes
                  |           ^^^
                  = it takes update, overwrite, skip or error
                """)
    }

    @Test func `retries out of range are refused`() {
        #expect(
            Reading.job("retries: 101").messages
                == """
                job.yaml:1:10: error: 'retries' cannot be 101
                1 | retries: 101
                  |          ^^^
                  = write a value from 0 to 100
                """)
    }

    @Test func `retries with a fraction are refused`() {
        #expect(
            Reading.job("retries: 2.5").messages
                == """
                job.yaml:1:10: error: 'retries' needs a whole number, and '2.5' is none
                1 | retries: 2.5
                  |          ^^^
                  = write 2 or 3: only whole numbers will do
                """)
    }

    @Test func `a tile that is too small is refused`() {
        #expect(
            Reading.job("tile: 0").messages
                == """
                job.yaml:1:7: error: 'tile' cannot be 0 px
                1 | tile: 0
                  |       ^
                  = write a value from 1 to 1000000 px
                """)
    }

    @Test func `a tile with a unit is refused`() {
        #expect(
            Reading.job("tile: 512px").messages
                == """
                job.yaml:1:7: error: 'tile' needs a number, and '512px' is none
                1 | tile: 512px
                  |       ^^^^^
                  = write 512, without a unit: it is in px
                """)
    }

    @Test func `a timeout without a time is refused`() {
        #expect(
            Reading.job("timeout: soon").messages
                == """
                job.yaml:1:10: error: 'timeout' needs a time, and 'soon' is none
                1 | timeout: soon
                  |          ^^^^
                  = write seconds, or 90s, 5m, 1h or 2d
                """)
    }

    @Test func `a timeout of more than a week is refused`() {
        #expect(
            Reading.job("timeout: 8d").messages
                == """
                job.yaml:1:10: error: 'timeout' cannot be 8d
                1 | timeout: 8d
                  |          ^^
                  = write a value from 1s to 7d
                """)
    }

    @Test func `a timeout of nothing is refused`() {
        #expect(
            Reading.job("timeout: 0").messages
                == """
                job.yaml:1:10: error: 'timeout' cannot be 0
                1 | timeout: 0
                  |          ^
                  = write a value from 1s to 7d
                """)
    }

    @Test func `a count without a number is refused`() {
        #expect(
            Reading.job("max_pixels: lots").messages
                == """
                job.yaml:1:13: error: 'max_pixels' needs a count, and 'lots' is none
                1 | max_pixels: lots
                  |             ^^^^
                  = write it like 2000M
                """)
    }

    @Test func `a count with an unknown suffix is refused`() {
        #expect(
            Reading.job("max_pixels: 2000m").messages
                == """
                job.yaml:1:13: error: 'max_pixels' needs a count, and '2000m' is none
                1 | max_pixels: 2000m
                  |             ^^^^^
                  = write it like 2000M
                """)
    }

    @Test func `a count of nothing is refused`() {
        #expect(
            Reading.job("max_pixels: 0").messages
                == """
                job.yaml:1:13: error: 'max_pixels' cannot be 0 px
                1 | max_pixels: 0
                  |             ^
                  = write a value of at least 1 px
                """)
    }

    @Test(arguments: ["0", "2401"]) func `a resolution that no printer has is refused`(dpi: String) {
        #expect(
            Reading.job("dpi: \(dpi)").messages
                == """
                job.yaml:1:6: error: 'dpi' cannot be \(dpi)
                1 | dpi: \(dpi)
                  |      \(String(repeating: "^", count: dpi.count))
                  = write a value from 1 to 2400
                """)
        #expect(Reading.job("dpi: 150").job?.dpi == 150)
        #expect(Reading.job("dpi: 72").job?.dpi == nil, "as without the key")
    }

    @Test func `a home folder is not expanded`() {
        #expect(
            Reading.job("inputs: ~/photos/*.jpg").messages
                == """
                job.yaml:1:9: warning: '~' in 'inputs' is an ordinary character, not the home folder
                1 | inputs: ~/photos/*.jpg
                  |         ^^^^^^^^^^^^^^
                  = write the whole path
                """)
    }

    @Test func `receipts are none or a sidecar`() {
        #expect(
            Reading.job("receipts: sidecars").messages
                == """
                job.yaml:1:11: error: 'receipts' cannot be 'sidecars'
                1 | receipts: sidecars
                  |           ^^^^^^^^
                  = did you mean 'sidecar'? it takes none or sidecar
                """)
    }
}
