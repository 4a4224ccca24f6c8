import Testing

/// Overrides that cannot be applied, or that set a wrong value.
@Suite struct OverrideMessageTests {
    @Test func `an override without a value is refused`() {
        #expect(
            Reading.job("", set: "retries").messages
                == """
                --set retries: error: no '=' and value
                  | retries
                  |        ^
                  = write path=value, such as filters[0].gaussian.radius=14
                """)
    }

    @Test func `a filter that is set by its name is sent to its place`() {
        #expect(
            Reading.filter("gaussian: {radius: 2}", set: "gaussian.radius=3").messages
                == """
                --set gaussian.radius=3: error: 'gaussian' is a filter, and filters are set by their place
                  | gaussian.radius=3
                  | ^^^^^^^^
                  = did you mean filters[0].gaussian.radius?
                """)
        #expect(
            Reading.filter("invert", set: "gaussian.radius=3").messages
                == """
                --set gaussian.radius=3: error: 'gaussian' is a filter, and the job has none of that name
                  | gaussian.radius=3
                  | ^^^^^^^^
                  = its filters are invert
                """)
    }

    @Test func `a filter of one output is found by its name, and by a name near to it`() {
        let manifest = """
            job: test
            inputs: a.png
            filters: [invert]
            outputs:
              - path: a/{stem}.png
                filters: [invert, {gaussian: {radius: 2}}]
              - path: b/{stem}.png

            """
        for (name, problem) in [
            ("gaussian", "'gaussian' is a filter"), ("gausian", "the job has no key 'gausian'"),
        ] {
            #expect(
                Reading(manifest, set: "\(name).radius=3").messages
                    == """
                    --set \(name).radius=3: error: \(problem), and filters are set by their place
                      | \(name).radius=3
                      | \(String(repeating: "^", count: name.count))
                      = did you mean outputs[0].filters[1].gaussian.radius?
                    """)
        }
    }

    @Test func `an option of save is sent to its place`() {
        #expect(
            Reading.job("", set: "quality=90").messages
                == """
                --set quality=90: error: 'quality' is an option of 'save'
                  | quality=90
                  | ^^^^^^^
                  = did you mean save.quality?
                """)
    }

    @Test func `a key that is looked for in a list is sent to the items that have it`() {
        #expect(
            Reading.job("filters: [invert, gaussian]", set: "filters.gaussian.radius=3").messages
                == """
                --set filters.gaussian.radius=3: error: 'filters' is a list and has no key 'gaussian'
                  | filters.gaussian.radius=3
                  |         ^^^^^^^^
                  = name an item first: filters[1].gaussian
                """)
    }

    @Test func `a list by another name is sent to its own`() {
        #expect(
            Reading.job("filters: [invert, gaussian]", set: "filter[0]=invert").messages
                == """
                --set filter[0]=invert: error: the job has no list 'filter'
                  | filter[0]=invert
                  |        ^
                  = did you mean 'filters'?
                """)
    }

    @Test func `an override with an empty value is refused`() {
        #expect(
            Reading.job("", set: "retries=").messages
                == """
                --set retries=: error: no value after '='
                  | retries=
                  |         ^
                  = write one; '' is empty text
                """)
    }

    @Test func `an override without a key is refused`() {
        #expect(
            Reading.job("", set: "=3").messages
                == """
                --set =3: error: expected a key
                  | =3
                  | ^
                  = write keys with dots between them: save.quality=80
                """)
    }

    @Test func `a path with a doubled dot is refused`() {
        #expect(
            Reading.job("", set: "save..quality=3").messages
                == """
                --set save..quality=3: error: expected a key
                  | save..quality=3
                  |      ^
                  = write keys with dots between them: save.quality=80
                """)
    }

    @Test func `a path with a blank is refused`() {
        #expect(
            Reading.job("", set: "save quality=3").messages
                == """
                --set save quality=3: error: expected a key
                  | save quality=3
                  |     ^
                  = write keys with dots between them: save.quality=80
                """)
    }

    @Test func `an index without digits is refused`() {
        #expect(
            Reading.job("", set: "filters[]=invert").messages
                == """
                --set filters[]=invert: error: expected an index and ']'
                  | filters[]=invert
                  |         ^
                  = write it like filters[0]
                """)
    }

    @Test func `an index that is not closed is refused`() {
        #expect(
            Reading.job("", set: "filters[0=invert").messages
                == """
                --set filters[0=invert: error: expected an index and ']'
                  | filters[0=invert
                  |          ^
                  = write it like filters[0]
                """)
    }

    @Test func `a path that is too long is refused`() {
        #expect(
            Reading.job("", set: "a.a.a.a.a.a.a.a.a.a.a.a.a=1").messages
                == """
                --set a.a.a.a.a.a.a.a.a.a.a.a.a=1: error: a path of more than 12 steps
                  | a.a.a.a.a.a.a.a.a.a.a.a.a=1
                  |                        ^
                  = no key lies that deep
                """)
    }

    @Test func `an index out of range says how many there are`() {
        #expect(
            Reading.job("filters: [invert, gaussian]", set: "filters[2]=invert").messages
                == """
                --set filters[2]=invert: error: 'filters' has no item 2
                  | filters[2]=invert
                  |         ^
                  = it has 2 items: filters[0] to filters[1]
                """)
    }

    @Test func `an index into one item says which there is`() {
        #expect(
            Reading.job("", set: "filters[99999999999999999999]=invert").messages
                == """
                --set filters[99999999999999999999]=invert: error: 'filters' has no item 99999999999999999999
                  | filters[99999999999999999999]=invert
                  |         ^^^^^^^^^^^^^^^^^^^^
                  = it has 1 item: filters[0]
                """)
    }

    @Test func `an index into nothing says so`() {
        #expect(
            Reading.job("", set: "exclude[0]=a").messages
                == """
                --set exclude[0]=a: error: 'exclude' has no item 0
                  | exclude[0]=a
                  |         ^
                  = it has no items: set the whole list
                """)
    }

    @Test func `an index into a text is refused`() {
        #expect(
            Reading.job("", set: "inputs[0]=a").messages
                == """
                --set inputs[0]=a: error: 'inputs' is a single value, not a list
                  | inputs[0]=a
                  |        ^
                  = leave out the index
                """)
    }

    @Test func `a key of a list is refused`() {
        #expect(
            Reading.job("", set: "filters.gaussian.radius=14").messages
                == """
                --set filters.gaussian.radius=14: error: 'filters' is a list and has no key 'gaussian'
                  | filters.gaussian.radius=14
                  |         ^^^^^^^^
                  = name an item first: filters[0].gaussian
                """)
    }

    @Test func `a key of a text is refused`() {
        #expect(
            Reading.job("retries: 3", set: "retries.x=14").messages
                == """
                --set retries.x=14: error: 'retries' is '3' and has no key 'x'
                  | retries.x=14
                  |         ^
                  = set 'retries' to another value
                """)
    }

    @Test func `a misspelled filter is suggested`() {
        #expect(
            Reading.filter("gaussian: {radius: 3}", set: "filters[0].gausian.radius=14").messages
                == """
                --set filters[0].gausian.radius=14: error: the filter here is 'gaussian', not 'gausian'
                  | filters[0].gausian.radius=14
                  |            ^^^^^^^
                  = did you mean 'gaussian'?
                """)
    }

    @Test func `a misspelled filter without parameters is suggested`() {
        #expect(
            Reading.filter("gaussian", set: "filters[0].gausian.radius=14").messages
                == """
                --set filters[0].gausian.radius=14: error: 'filters[0]' is 'gaussian' and has no key 'gausian'
                  | filters[0].gausian.radius=14
                  |            ^^^^^^^
                  = did you mean 'gaussian'?
                """)
    }

    @Test func `another filter in the place of one is refused`() {
        #expect(
            Reading.filter("gaussian: {radius: 3}", set: "filters[0].motion.radius=14").messages
                == """
                --set filters[0].motion.radius=14: error: the filter here is 'gaussian', not 'motion'
                  | filters[0].motion.radius=14
                  |            ^^^^^^
                  = name 'gaussian', or set the whole filter to another one
                """)
    }

    @Test func `a misspelled parameter is suggested`() {
        #expect(
            Reading.filter("gaussian: {radius: 3}", set: "filters[0].gaussian.radus=14").messages
                == """
                --set filters[0].gaussian.radus=14: error: 'gaussian' has no parameter 'radus'
                  | filters[0].gaussian.radus=14
                  |                     ^^^^^
                  = did you mean 'radius'?
                """)
    }

    @Test func `a misspelled key is suggested`() {
        #expect(
            Reading.job("", set: "retires=3").messages
                == """
                --set retires=3: error: the job has no key 'retires'
                  | retires=3
                  | ^^^^^^^
                  = did you mean 'retries'?
                """)
    }

    @Test func `a value out of range points into the argument`() {
        #expect(
            Reading.job("", set: "retries=300").messages
                == """
                --set retries=300: error: 'retries' cannot be 300
                  | retries=300
                  |         ^^^
                  = write a value from 0 to 100
                """)
    }

    @Test func `a value that is no value is refused`() {
        #expect(
            Reading.job("", set: "output={stem}.png").messages
                == """
                --set output={stem}.png: error: '{' at the start makes this a mapping, and text follows it
                  | output={stem}.png
                  |        ^^^^^^^^^^
                  = quote it: '{stem}.png'
                """)
    }

    @Test func `a value with an unclosed bracket is refused`() {
        #expect(
            Reading.job("", set: "save={quality: 3").messages
                == """
                --set save={quality: 3: error: no closing '}' on this line
                  | save={quality: 3
                  |      ^
                  = close it on the line where it begins, or write one entry per line, indented, without brackets
                """)
    }

    @Test func `a line break in a value is refused`() {
        #expect(
            Reading.job("", set: "description=a\nb").messages
                == #"""
                --set description=a\u{a}b: error: the value has a line break
                  | description=a
                  |              ^
                  = write \n inside double quotes
                """#)
    }

    @Test func `problems of the file come first, then those of the overrides in their order`() {
        #expect(
            Reading.job("retries: x", set: "tile=x", "shard=x").messages
                == """
                job.yaml:1:10: error: 'retries' needs a whole number, and 'x' is none
                1 | retries: x
                  |          ^
                  = write one from 0 to 100
                --set tile=x: error: 'tile' needs a whole number, and 'x' is none
                  | tile=x
                  |      ^
                  = write one from 1 to 1000000 px
                --set shard=x: error: 'shard' cannot be 'x'
                  | shard=x
                  |       ^
                  = it takes auto, frame or tile
                """)
    }
}
