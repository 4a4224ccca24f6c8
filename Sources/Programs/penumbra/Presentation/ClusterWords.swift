import JobModel
import Reports

/// What is wanted of a cluster's jobs, as `penumbra config` prints it.
enum ClusterWords {
    /// Those that are set, under the names that they have in the config file.
    static func fields(_ options: ClusterOptions) -> [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("partition", options.partition), ("account", options.account), ("qos", options.qos),
            ("time", options.time.map(duration)), ("memory", options.memory.map(Figures.bytes)),
            ("coordinator_time", options.coordinatorTime.map(duration)),
            ("coordinator_memory", options.coordinatorMemory.map(Figures.bytes)),
            ("cpus_per_task", options.cpusPerTask.map(String.init)), ("throttle", options.throttle.map(String.init)),
            ("shard_seconds", options.shardSeconds.map(duration)), ("grace", options.grace.map(duration)),
            ("folder", options.folder), ("arguments", options.arguments?.joined(separator: " ")),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func duration(_ seconds: Double) -> String { Figures.duration(.seconds(seconds)) }
}
