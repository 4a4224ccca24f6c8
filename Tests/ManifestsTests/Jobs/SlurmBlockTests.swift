import Foundation
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
        var wishes = ClusterOptions()
        wishes.partition = "fast"
        wishes.time = 5400
        wishes.memory = 4 << 30
        wishes.arguments = ["--exclude=n2"]
        #expect(Reading.job(known).job?.slurm == wishes)
        #expect(Reading.job("").job?.slurm == nil)
    }

    @Test func `a manifest goes before the config file, and arguments of both count`() {
        var (manifest, config) = (ClusterOptions(), ClusterOptions())
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
        for source in [SlurmReader.ArgumentSource.manifest, .user] {
            #expect(SlurmReader.problem(ofArgument: argument, from: source) == problem)
            #expect(SlurmReader.problem(ofArgument: "--constraint=fast", from: source) == nil)
        }
    }

    @Test(arguments: [
        "--export-file=/tmp/environment", "--prolog=/tmp/p", "--bb=stage", "--site-plugin=x", "-C", "--", "-",
    ])
    func `a manifest may ask for nodes and times alone`(argument: String) {
        #expect(
            SlurmReader.problem(ofArgument: argument, from: .manifest)
                == "a manifest may ask for nodes and times alone (the page 'Slurm' of the documentation lists the options); "
                + "give others by --slurm-arg, or in your config file")
    }

    @Test func `the page about Slurm lists the options that a manifest may use`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reference/slurm.md"), encoding: .utf8)
        let listed = page.matches(of: /^`--[^\n]+$/.anchorsMatchLineEndings())
            .flatMap { $0.output.matches(of: /`(--[a-z-]+)`/).map { String($0.output.1) } }
        #expect(listed == SlurmReader.allowed)
    }

    @Test func `an option that is cut short is refused, whatever sbatch would take it for`() {
        #expect(
            SlurmReader.problem(ofArgument: "--constr=fast", from: .manifest)
                == "write the option's full name: --constraint")
        #expect(
            SlurmReader.problem(ofArgument: "--outpu=/home/x", from: .user)
                == "sbatch may take it for --output, which Penumbra gives itself")
        #expect(SlurmReader.problem(ofArgument: "--outpu=/home/x", from: .manifest) != nil)
    }

    @Test func `a control character is refused`() {
        #expect(
            SlurmReader.problem(ofArgument: "--constraint=a\n--wrap=b", from: .user) == "it holds a control character")
    }

    @Test(arguments: ["--nodelist=/etc/hosts", "--exclude=./nodes", "--nodelist=n1,nodes/2"])
    func `a manifest has sbatch read no file of nodes`(argument: String) {
        #expect(
            SlurmReader.problem(ofArgument: argument, from: .manifest)
                == "sbatch would read the nodes from a file; write their names, or give the option by --slurm-arg")
        #expect(SlurmReader.problem(ofArgument: argument, from: .user) == nil)
        #expect(SlurmReader.problem(ofArgument: "--nodelist=n[1-3],m4", from: .manifest) == nil)
    }

    @Test(arguments: ["partition", "account", "qos"])
    func `a name of the cluster's holds no control character`(key: String) {
        let text = #"slurm: {\#(key): "fast\n#SBATCH --wrap=x"}"#
        #expect(Reading.job(text).messages.contains("error: '\(key)' cannot be "))
        #expect(Reading.job(text).messages.contains("= it holds a control character"))
    }

    @Test func `what the user gives may be an option of the site`() {
        #expect(SlurmReader.problem(ofArgument: "--site-plugin=x", from: .user) == nil)
    }

    @Test func `another name for a key is understood`() {
        #expect(Reading.job("slurm: {queue: fast}").messages.contains("did you mean 'partition'?"))
    }
}
