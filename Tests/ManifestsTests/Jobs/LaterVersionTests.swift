import Testing

/// What is planned but not part of this version says so, and what to do instead.
@Suite struct LaterVersionTests {
    @Test func `layers is not part of this version`() {
        #expect(
            Reading.job("layers: x").messages
                == """
                job.yaml:1:1: error: 'layers' is not part of this version
                1 | layers: x
                  | ^^^^^^
                  = put the layers together in another program, and give the result as input
                """)
    }

    @Test func `animate is not part of this version`() {
        #expect(
            Reading.job("animate: x").messages
                == """
                job.yaml:1:1: error: 'animate' is not part of this version
                1 | animate: x
                  | ^^^^^^^
                  = remove it: GIF and WebP outputs keep the frames of an animation
                """)
    }

    @Test func `min_age is not part of this version`() {
        #expect(
            Reading.job("min_age: x").messages
                == """
                job.yaml:1:1: error: 'min_age' is not part of this version
                1 | min_age: x
                  | ^^^^^^^
                  = remove it, and run the job when the pictures are complete
                """)
    }

    @Test func `max_failures is not part of this version`() {
        #expect(
            Reading.job("max_failures: x").messages
                == """
                job.yaml:1:1: error: 'max_failures' is not part of this version
                1 | max_failures: x
                  | ^^^^^^^^^^^^
                  = remove it: a job goes on after a failure, and lists all of them at its end
                """)
    }

    @Test func `durability is not part of this version`() {
        #expect(
            Reading.job("durability: x").messages
                == """
                job.yaml:1:1: error: 'durability' is not part of this version
                1 | durability: x
                  | ^^^^^^^^^^
                  = remove it: every output is written aside, synced and then renamed
                """)
    }

    @Test func `receipts is not part of this version`() {
        #expect(
            Reading.job("receipts: x").messages
                == """
                job.yaml:1:1: error: 'receipts' is not part of this version
                1 | receipts: x
                  | ^^^^^^^^
                  = remove it
                """)
    }

    @Test func `compare is not part of this version`() {
        #expect(
            Reading.job("compare: x").messages
                == """
                job.yaml:1:1: error: 'compare' is not part of this version
                1 | compare: x
                  | ^^^^^^^
                  = remove it, and compare the outputs with another program
                """)
    }

    @Test func `upgrade is not part of this version`() {
        #expect(
            Reading.job("upgrade: x").messages
                == """
                job.yaml:1:1: error: 'upgrade' is not part of this version
                1 | upgrade: x
                  | ^^^^^^^
                  = remove it; `existing: overwrite` makes all outputs again
                """)
    }

    @Test func `slurm is not part of this version`() {
        #expect(
            Reading.job("slurm: x").messages
                == """
                job.yaml:1:1: error: 'slurm' is not part of this version
                1 | slurm: x
                  | ^^^^^
                  = remove it: jobs run on this machine
                """)
    }

    @Test func `plugins is not part of this version`() {
        #expect(
            Reading.job("plugins: x").messages
                == """
                job.yaml:1:1: error: 'plugins' is not part of this version
                1 | plugins: x
                  | ^^^^^^^
                  = name plugin folders in the configuration file: they belong to a machine, not to a job
                """)
    }

    @Test func `updating is not part of this version`() {
        #expect(
            Reading.job("existing: update").messages
                == """
                job.yaml:1:11: error: 'existing: update' is not part of this version
                1 | existing: update
                  |           ^^^^^^
                  = write overwrite to make outputs again, or skip to keep those that are there
                """)
    }
}
