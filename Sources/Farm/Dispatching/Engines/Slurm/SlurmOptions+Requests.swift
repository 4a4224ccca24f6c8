extension SlurmOptions {
    /// What an element is to have, as options of `sbatch`, each a word.
    package var requests: [String] {
        var requests = ["--nodes=1", "--ntasks=1", "--cpus-per-task=\(cpusPerTask)"]
        if let partition { requests.append("--partition=\(partition)") }
        if let account { requests.append("--account=\(account)") }
        if let qos { requests.append("--qos=\(qos)") }
        if let time { requests.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        if let memory { requests.append("--mem=\(max(1, memory >> 20))M") }
        return requests + arguments
    }
}
