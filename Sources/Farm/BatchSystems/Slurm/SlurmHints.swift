import FoundationEssentials

/// What a person may do about words of Slurm's commands.
package enum SlurmHints {
    private static let advices = [
        ("configuration source", "Slurm's configuration is not found here; 'SLURM_CONF' names its file"),
        ("invalid partition", "say another one by 'partition' under 'slurm'; 'sinfo' lists them"),
        ("Invalid account", "say another one by 'account' under 'slurm'"),
        ("Invalid qos", "say another one by 'qos' under 'slurm'"),
        ("time limit", "say less by 'time' or 'coordinator_time' under 'slurm'"),
        ("Memory specification", "ask for less by 'memory' or 'coordinator_memory' under 'slurm'"),
        (
            "node configuration is not available",
            "no node has what is asked for; ask for less by 'cpus_per_task', 'memory' or 'arguments' under 'slurm'"
        ),
        ("More processors requested", "ask for less by 'cpus_per_task' under 'slurm'"),
        ("unrecognized option", "'arguments' under 'slurm' and --slurm-arg are options of sbatch"),
        ("invalid option", "'arguments' under 'slurm' and --slurm-arg are options of sbatch"),
    ]

    /// What to say of a configuration that is not there: Slurm's commands would look for it for a minute.
    package static func missingConfiguration(_ environment: [String: String]) -> String? {
        guard let file = environment["SLURM_CONF"], !file.isEmpty, !FileManager.default.fileExists(atPath: file) else {
            return nil
        }
        return "SLURM_CONF names \(file), where no file is\n   = name the configuration of the cluster that you mean"
    }

    /// On a line of its own; empty where nothing is known.
    static func remedy(_ errors: String) -> String {
        let words = errors.lowercased()
        return advices.first { words.contains($0.0.lowercased()) }.map { "\n   = \($0.1)" } ?? ""
    }
}
