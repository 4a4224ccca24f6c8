/// As options of `sbatch`, each a word.
extension SlurmOptions {
    /// Of a job that does shards.
    package var requests: [String] { placement + needs + arguments }

    /// Where any job of a run goes, and for how long.
    var placement: [String] {
        var words = ["--nodes=1", "--ntasks=1"]
        if let partition { words.append("--partition=\(partition)") }
        if let account { words.append("--account=\(account)") }
        if let qos { words.append("--qos=\(qos)") }
        if let time { words.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        return words
    }

    /// Those of a job that goes on with the run: it waits for others most of the time, for as long as the run lasts.
    var ofCoordinator: SlurmOptions {
        var options = self
        (options.time, options.memory, options.cpusPerTask) = (coordinatorTime, coordinatorMemory, 1)
        return options
    }

    /// What a job has of its node.
    var needs: [String] {
        ["--cpus-per-task=\(cpusPerTask)"] + (memory.map { ["--mem=\(max(1, $0 >> 20))M"] } ?? [])
    }
}
