import Testing

/// What is planned but not part of this version says so, and what to do instead.
@Suite struct LaterVersionTests {
    @Test func `plugins is not part of this version`() {
        #expect(
            Reading.job("plugins: x").messages
                == """
                job.yaml:1:1: error: 'plugins' is not part of this version
                1 | plugins: x
                  | ^^^^^^^
                  = name plugin folders in the config file: they belong to a machine, not to a job
                """)
    }
}
