/// As options of `sbatch`, each a word.
extension SlurmOptions {
    /// Of an element.
    package var requests: [String] { requests(cores: cpusPerTask, memory: memory) }

    /// Of a job that does something else.
    func requests(cores: Int, memory: Int? = nil) -> [String] {
        var words = ["--nodes=1", "--ntasks=1", "--cpus-per-task=\(cores)"]
        if let partition { words.append("--partition=\(partition)") }
        if let account { words.append("--account=\(account)") }
        if let qos { words.append("--qos=\(qos)") }
        if let time { words.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        if let memory { words.append("--mem=\(max(1, memory >> 20))M") }
        return words + arguments
    }
}
