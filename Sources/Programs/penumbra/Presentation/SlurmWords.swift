import Dispatching
import JobModel
import Reports

/// What is wanted of a cluster's jobs, as `penumbra config` prints it.
enum SlurmWords {
    /// Those that are set, under the names that they have in the config file.
    static func fields(_ wishes: SlurmWishes) -> [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("partition", wishes.partition), ("account", wishes.account), ("qos", wishes.qos),
            ("time", wishes.time.map(duration)), ("memory", wishes.memory.map(Figures.bytes)),
            ("coordinator_time", wishes.coordinatorTime.map(duration)),
            ("coordinator_memory", wishes.coordinatorMemory.map(Figures.bytes)),
            ("cpus_per_task", wishes.cpusPerTask.map(String.init)), ("throttle", wishes.throttle.map(String.init)),
            ("shard_seconds", wishes.shardSeconds.map(duration)), ("grace", wishes.grace.map(duration)),
            ("folder", wishes.folder), ("arguments", wishes.arguments?.joined(separator: " ")),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// What holds where nothing is said, and is not left to Slurm.
    static var defaults: SlurmWishes {
        let options = SlurmOptions()
        var wishes = SlurmWishes()
        wishes.cpusPerTask = options.cpusPerTask
        wishes.throttle = options.throttle
        wishes.shardSeconds = options.shardSeconds
        wishes.grace = options.grace
        return wishes
    }

    private static func duration(_ seconds: Double) -> String { Figures.duration(.seconds(seconds)) }
}
