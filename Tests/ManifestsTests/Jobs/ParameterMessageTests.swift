import Testing

/// Parameters that are not as a filter's descriptor has them.
@Suite struct ParameterMessageTests {
    @Test func `a parameter that must be given is missed`() {
        #expect(
            Reading.filter("place: {left: 3}").messages
                == """
                job.yaml:4:5: error: 'place' has no 'size'
                4 |   - place: {left: 3}
                  |     ^^^^^
                  = add 'size: 320x240'
                """)
        #expect(
            Reading.filter("place").messages
                == """
                job.yaml:4:5: error: 'place' has no 'size'
                4 |   - place
                  |     ^^^^^
                  = add 'size: 320x240'
                """)
    }

    @Test func `what is no size is told how to write one`() {
        #expect(
            Reading.filter("place: {size: 3x4x5}").messages
                == """
                job.yaml:4:19: error: 'size' needs a size, and '3x4x5' is none
                4 |   - place: {size: 3x4x5}
                  |                   ^^^^^
                  = write 320 (no side longer), 320x (a width), x240 (a height), 320x240 or 50%, up to 1000000 pixels and 10000 %
                """)
    }

    @Test func `a number or a word is neither`() {
        #expect(
            Reading.filter("place: {size: 9, angle: rigth}").messages
                == """
                job.yaml:4:29: error: 'angle' cannot be 'rigth'
                4 |   - place: {size: 9, angle: rigth}
                  |                             ^^^^^
                  = did you mean 'right'? it takes a number, left or right
                """)
    }

    @Test func `a misspelled parameter is suggested`() {
        #expect(
            Reading.filter("gaussian: {radios: 12}").messages
                == """
                job.yaml:4:16: error: 'gaussian' has no parameter 'radios'
                4 |   - gaussian: {radios: 12}
                  |                ^^^^^^
                  = did you mean 'radius'?
                """)
    }

    @Test func `another tool's parameter is suggested`() {
        #expect(
            Reading.filter("gaussian: {blur_radius: 12}").messages
                == """
                job.yaml:4:16: error: 'gaussian' has no parameter 'blur_radius'
                4 |   - gaussian: {blur_radius: 12}
                  |                ^^^^^^^^^^^
                  = did you mean 'radius'?
                """)
    }

    @Test func `a parameter that resembles none gets the list`() {
        #expect(
            Reading.filter("motion: {zzz: 12}").messages
                == """
                job.yaml:4:14: error: 'motion' has no parameter 'zzz'
                4 |   - motion: {zzz: 12}
                  |              ^^^
                  = its parameters are radius, length, angle, samples, edge, extent, light and within
                """)
    }

    @Test func `a parameter and its synonym exclude each other`() {
        #expect(
            Reading.filter("gaussian: {sigma: 3, radius: 12}").messages
                == """
                job.yaml:4:26: error: 'sigma' and 'radius' are the same parameter, 'radius'
                4 |   - gaussian: {sigma: 3, radius: 12}
                  |                          ^^^^^^
                  = remove one of them
                """)
    }

    @Test func `a number out of range names the range and the unit`() {
        #expect(
            Reading.filter("gaussian: {radius: 1200}").messages
                == """
                job.yaml:4:24: error: 'radius' cannot be 1200 px
                4 |   - gaussian: {radius: 1200}
                  |                        ^^^^
                  = write a value from 0 to 1000 px
                """)
    }

    @Test func `a synonym's range is scaled`() {
        #expect(
            Reading.filter("motion: {length: 2001}").messages
                == """
                job.yaml:4:22: error: 'length' cannot be 2001 px
                4 |   - motion: {length: 2001}
                  |                      ^^^^
                  = write a value from 0 to 2000 px
                """)
    }

    @Test func `an angle has no blank before its unit`() {
        #expect(
            Reading.filter("motion: {angle: 400}").messages
                == """
                job.yaml:4:21: error: 'angle' cannot be 400°
                4 |   - motion: {angle: 400}
                  |                     ^^^
                  = write a value from -360 to 360°
                """)
    }

    @Test func `a word instead of a number is refused`() {
        #expect(
            Reading.filter("gaussian: {radius: big}").messages
                == """
                job.yaml:4:24: error: 'radius' needs a number, and 'big' is none
                4 |   - gaussian: {radius: big}
                  |                        ^^^
                  = write it like 12, 0.5 or 1e3
                """)
    }

    @Test func `a list instead of a number or pair is refused`() {
        #expect(
            Reading.filter("gaussian: {radius: [12, 3]}").messages
                == """
                job.yaml:4:24: error: 'radius' must be a number or {x, y}, not a list
                4 |   - gaussian: {radius: [12, 3]}
                  |                        ^^^^^^^
                  = write a number or {x, y}
                """)
    }

    @Test func `a pair without its second axis is refused`() {
        #expect(
            Reading.filter("gaussian: {radius: {x: 12}}").messages
                == """
                job.yaml:4:24: error: 'radius' has no 'y'
                4 |   - gaussian: {radius: {x: 12}}
                  |                        ^^^^^^^
                  = add 'y: 12'
                """)
    }

    @Test func `a pair with a third axis is refused`() {
        #expect(
            Reading.filter("gaussian: {radius: {x: 12, y: 3, z: 1}}").messages
                == """
                job.yaml:4:38: error: 'radius' has no key 'z'
                4 |   - gaussian: {radius: {x: 12, y: 3, z: 1}}
                  |                                      ^
                  = its keys are x and y
                """)
    }

    @Test func `a misspelled choice is suggested`() {
        #expect(
            Reading.filter("gaussian: {edge: mirorr}").messages
                == """
                job.yaml:4:22: error: 'edge' cannot be 'mirorr'
                4 |   - gaussian: {edge: mirorr}
                  |                      ^^^^^^
                  = did you mean 'mirror'? it takes clamp, mirror, wrap or transparent
                """)
    }

    @Test func `a misspelled word in the place of a number is suggested`() {
        #expect(
            Reading.filter("motion: {samples: continuos}").messages
                == """
                job.yaml:4:23: error: 'samples' cannot be 'continuos'
                4 |   - motion: {samples: continuos}
                  |                       ^^^^^^^^^
                  = did you mean 'continuous'? it takes a whole number or continuous
                """)
    }

    @Test func `an integer out of range is refused`() {
        #expect(
            Reading.filter("motion: {samples: 0}").messages
                == """
                job.yaml:4:23: error: 'samples' cannot be 0
                4 |   - motion: {samples: 0}
                  |                       ^
                  = write a value from 1 to 10000
                """)
    }

    @Test func `a truth value is true or false`() {
        #expect(
            Reading.filter("fill: {opaque: yes}").messages
                == """
                job.yaml:4:20: error: 'opaque' needs true or false, not 'yes'
                4 |   - fill: {opaque: yes}
                  |                    ^^^
                  = write true
                """)
    }

    @Test func `a truth value is no other word`() {
        #expect(
            Reading.filter("fill: {opaque: maybe}").messages
                == """
                job.yaml:4:20: error: 'opaque' needs true or false, not 'maybe'
                4 |   - fill: {opaque: maybe}
                  |                    ^^^^^
                  = write true or false
                """)
    }

    @Test func `a color of two digits is refused`() {
        #expect(
            Reading.filter("fill: {color: '#ab'}").messages
                == """
                job.yaml:4:19: error: 'color' needs a colour, and '#ab' is none
                4 |   - fill: {color: '#ab'}
                  |                   ^^^^^
                  = write it like '#fff', '#1a2b3c' or '#1a2b3c80' (in quotes), or white, black or transparent
                """)
    }

    @Test func `a half step is refused`() {
        #expect(
            Reading.filter("fill: {half_steps: 3}").messages
                == """
                job.yaml:4:24: error: 'half_steps' needs a whole number, and '3' is none
                4 |   - fill: {half_steps: 3}
                  |                        ^
                  = write 2 or 4: only whole numbers will do
                """)
    }

    @Test func `a fraction of a whole number is refused with its neighbours`() {
        #expect(
            Reading.filter("fill: {steps: 2.5}").messages
                == """
                job.yaml:4:19: error: 'steps' needs a whole number, and '2.5' is none
                4 |   - fill: {steps: 2.5}
                  |                   ^^^
                  = write 2 or 3: only whole numbers will do
                """)
        #expect(Reading.filter("fill: {steps: 0.5}").remedies == ["write 1: only whole numbers will do"])
        #expect(Reading.filter("fill: {steps: 8.5}").remedies == ["write 8: only whole numbers will do"])
        #expect(Reading.filter("fill: {steps: 99.5}").remedies == ["only whole numbers will do"])
    }

    @Test func `expanding needs a transparent edge`() {
        #expect(
            Reading.filter("gaussian: {extent: expand, edge: mirror}").messages
                == """
                job.yaml:4:38: error: 'extent: expand' needs 'edge: transparent', not 'mirror'
                4 |   - gaussian: {extent: expand, edge: mirror}
                  |                                      ^^^^^^
                  = remove 'edge': it is 'transparent' then
                """)
    }

    @Test func `expanding excludes a region`() {
        #expect(
            Reading.filter("gaussian: {extent: expand, within: {x: 0, y: 0, width: 10, height: 10}}").messages
                == """
                job.yaml:4:32: error: 'within' does not go with 'extent: expand'
                4 |   - gaussian: {extent: expand, within: {x: 0, y: 0, width: 10, height: 10}}
                  |                                ^^^^^^
                  = remove one of them
                """)
    }

    @Test func `a region without its height is refused`() {
        #expect(
            Reading.filter("gaussian: {within: {x: 0, y: 0, width: 10}}").messages
                == """
                job.yaml:4:24: error: 'within' has no 'height'
                4 |   - gaussian: {within: {x: 0, y: 0, width: 10}}
                  |                        ^^^^^^^^^^^^^^^^^^^^^^^
                  = add 'height: 50%'
                """)
    }

    @Test func `a region of no width is refused`() {
        #expect(
            Reading.filter("gaussian: {within: {x: 0, y: 0, width: 0, height: 10%}}").messages
                == """
                job.yaml:4:44: error: the region's 'width' must be more than 0
                4 |   - gaussian: {within: {x: 0, y: 0, width: 0, height: 10%}}
                  |                                            ^
                  = write a length such as 200 or 50%
                """)
    }

    @Test func `a length with another unit is refused`() {
        #expect(
            Reading.filter("gaussian: {within: {x: 1cm, y: 0, width: 5, height: 10%}}").messages
                == """
                job.yaml:4:28: error: 'x' needs a length, and '1cm' is none
                4 |   - gaussian: {within: {x: 1cm, y: 0, width: 5, height: 10%}}
                  |                            ^^^
                  = write it like 12, 12px or 10%
                """)
    }

    @Test(arguments: [("100001", "100000 px"), ("-2000%", "1000%")])
    func `a length that leads too far is refused`(text: String, most: String) {
        #expect(
            Reading.filter("place: {size: 9, left: \(text)}").messages
                == """
                job.yaml:4:28: error: 'left' cannot be \(text)
                4 |   - place: {size: 9, left: \(text)}
                  |                            \(String(repeating: "^", count: text.count))
                  = write a value from -\(most.prefix { $0.isNumber }) to \(most)
                """)
    }

    @Test func `a length beyond every picture is refused`() {
        #expect(
            Reading.filter("gaussian: {within: {x: 10000000000, y: 0, width: 5, height: 10%}}").messages
                == """
                job.yaml:4:28: error: 'x' cannot be 10000000000
                4 |   - gaussian: {within: {x: 10000000000, y: 0, width: 5, height: 10%}}
                  |                            ^^^^^^^^^^^
                  = write a value from -1000000000 to 1000000000 px
                """)
    }

    @Test func `a negative corner radius is refused`() {
        #expect(
            Reading.filter("gaussian: {within: {x: 0, y: 0, width: 5, height: 5, corner_radius: -1}}").messages
                == """
                job.yaml:4:73: error: 'corner_radius' cannot be -1
                4 |   - gaussian: {within: {x: 0, y: 0, width: 5, height: 5, corner_radius: -1}}
                  |                                                                         ^^
                  = write a value from 0 to 1000000000 px
                """)
    }

    @Test func `a word is no region`() {
        #expect(
            Reading.filter("gaussian: {within: left}").messages
                == """
                job.yaml:4:24: error: 'within' takes a region, a list of regions, or a file, not 'left'
                4 |   - gaussian: {within: left}
                  |                        ^^^^
                  = write {x: 10%, y: 10%, width: 50%, height: 50%}, or {from: faces.json} for a file
                """)
    }

    @Test func `a radius of 0 is worth a warning`() {
        #expect(
            Reading.filter("gaussian: {radius: 0}").messages
                == """
                job.yaml:4:24: warning: 'gaussian' with a radius of 0 changes no pixel
                4 |   - gaussian: {radius: 0}
                  |                        ^
                  = remove it, or give it a radius
                """)
    }

    @Test func `few samples over a long radius are worth a warning`() {
        #expect(
            Reading.filter("motion: {radius: 200, samples: 5}").messages
                == """
                job.yaml:4:36: warning: 5 samples over so long a radius show as ghosts, 40 px apart
                4 |   - motion: {radius: 200, samples: 5}
                  |                                    ^
                  = `samples: continuous` is smooth
                """)
    }
}
