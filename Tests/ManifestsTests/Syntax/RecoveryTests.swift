import Testing

/// After a problem the reading goes on, and one slip gives one message.
@Suite struct RecoveryTests {
    @Test func `all problems of a manifest are reported at once, in order`() {
        #expect(
            Reading(
                """
                job: nightly blur
                inputs:
                  - *.jpg
                filters:
                  - gausian: {radius: 12}
                  - gaussian: {radius: 1200}
                  - gaussian:
                    radius: 3
                output: {dir}/x.png
                tyle: auto
                retries: many
                """
            ).messages
                == """
                job.yaml:1:6: error: 'nightly blur' is not a job's name
                1 | job: nightly blur
                  |      ^^^^^^^^^^^^
                  = use up to 100 letters (a-z, A-Z), digits, '.', '_' and '-', beginning with a letter or digit: 'nightly-blur'
                job.yaml:3:5: error: '*' at the start makes this a YAML alias, which is not read
                3 |   - *.jpg
                  |     ^^^^^
                  = quote it: '*.jpg'
                job.yaml:5:5: error: unknown filter 'gausian'
                5 |   - gausian: {radius: 12}
                  |     ^^^^^^^
                  = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer
                job.yaml:6:24: error: 'radius' cannot be 1200 px
                6 |   - gaussian: {radius: 1200}
                  |                        ^^^^
                  = write a value from 0 to 1000 px
                job.yaml:7:5: error: 'gaussian' has no value
                7 |   - gaussian:
                  |     ^^^^^^^^
                  = write it after the colon ('' is empty text), or indent the lines that belong to it deeper than 'gaussian'
                job.yaml:9:9: error: '{' at the start makes this a mapping, and text follows it
                9 | output: {dir}/x.png
                  |         ^^^^^^^^^^^
                  = quote it: '{dir}/x.png'
                job.yaml:10:1: error: the job has no key 'tyle'
                10 | tyle: auto
                   | ^^^^
                   = did you mean 'tile'?
                job.yaml:11:10: error: 'retries' needs a whole number, and 'many' is none
                11 | retries: many
                   |          ^^^^
                   = write one from 0 to 100
                """)
    }

    @Test func `what is indented below a refused line is passed over`() {
        #expect(
            ParsedText("my key:\n  - a\n  -b\n    c:d\njob a\nlast: x\n").messages
                == """
                text.yaml:1:1: error: 'my key' is not a key
                1 | my key:
                  | ^^^^^^
                  = a key is a letter or '_', then letters, digits, '_' and '-'; if this is text with a colon, quote it
                text.yaml:5:1: error: expected 'key: value', found 'job a'
                5 | job a
                  | ^^^^^
                  = write a key, a colon, a blank and a value
                """)
    }

    @Test func `several lines with tabs give one message`() {
        #expect(
            ParsedText("save:\n\ta: 1\n\tb: 2\n  c: 3\njob: a\n").messages
                == """
                text.yaml:2:1: error: a tab in the indentation
                2 | →a: 1
                  | ^
                  = indent with spaces
                """)
    }

    @Test func `a refused line may have been the key that is missing`() {
        #expect(
            Reading("job: a\ninputs: b\nfilters: [invert]\noutput {stem}.png\n").messages
                == """
                job.yaml:4:1: error: expected 'key: value', found 'output {stem}.png'
                4 | output {stem}.png
                  | ^^^^^^^^^^^^^^^^^
                  = write a key, a colon, a blank and a value
                """)
    }

    @Test func `a misspelled key is not missing as well`() {
        #expect(
            Reading("job: a\ninput: b\nfilters: [invert]\noutput: x.png\n").messages
                == """
                job.yaml:2:1: error: the job has no key 'input'
                2 | input: b
                  | ^^^^^
                  = did you mean 'inputs'?
                """)
    }

    @Test func `a list with a refused item is not empty as well`() {
        #expect(
            Reading("job: a\ninputs:\n  - *.png\nfilters: [invert]\noutput: x.png\n").messages
                == """
                job.yaml:3:5: error: '*' at the start makes this a YAML alias, which is not read
                3 |   - *.png
                  |     ^^^^^
                  = quote it: '*.png'
                """)
    }
}
