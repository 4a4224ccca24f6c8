import JobModel
import Manifests
import Testing

/// What a manifest wants of a cluster.
@Suite struct SlurmBlockTests {
    @Test func `what is not given is left to the cluster`() {
        let known = """
            slurm:
              partition: fast
              time: 90m
              memory: 4GiB
              arguments: [--exclude=n2]
            """
        var wishes = SlurmWishes()
        wishes.partition = "fast"
        wishes.time = 5400
        wishes.memory = 4 << 30
        wishes.arguments = ["--exclude=n2"]
        #expect(Reading.job(known).job?.slurm == wishes)
        #expect(Reading.job("").job?.slurm == nil)
    }

    @Test func `a manifest goes before the config file, and arguments of both count`() {
        var (manifest, config) = (SlurmWishes(), SlurmWishes())
        (config.partition, config.throttle, config.arguments) = ("slow", 4, ["--a"])
        (manifest.partition, manifest.arguments) = ("fast", ["--b"])
        let both = manifest.over(config)
        #expect(both.partition == "fast")
        #expect(both.throttle == 4)
        #expect(both.arguments == ["--a", "--b"])
    }

    @Test func `an argument that the engine gives itself is refused`() {
        #expect(
            Reading.job("slurm: {arguments: [--array=0-5]}").messages
                == """
                job.yaml:1:21: error: 'arguments[0]' cannot be '--array=0-5'
                1 | slurm: {arguments: [--array=0-5]}
                  |                     ^^^^^^^^^^^
                  = Penumbra gives --array itself
                """)
    }

    @Test(arguments: [
        ("-a5", "Penumbra gives -a itself"), ("--wait", "Penumbra gives --wait itself"),
        ("fast", "write it in one word with its option: --constraint=fast"),
    ]) func `so is one that sbatch would take for something else`(argument: String, problem: String) {
        #expect(SlurmReader.problem(ofArgument: argument) == problem)
        #expect(SlurmReader.problem(ofArgument: "--constraint=fast") == nil)
    }

    @Test func `another name for a key is understood`() {
        #expect(Reading.job("slurm: {queue: fast}").messages.contains("did you mean 'partition'?"))
    }
}
