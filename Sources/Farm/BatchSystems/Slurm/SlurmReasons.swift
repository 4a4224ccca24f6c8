/// Reasons for which Slurm does not start a job that do not pass by themselves, in words for the person who may do something.
/// They are those of `squeue`'s manual.
enum SlurmReasons {
    /// Nil where a job only waits for its turn.
    static func obstacle(_ reason: String, job: String) -> String? {
        switch reason {
        case "PartitionTimeLimit": "it wants more time than its partition gives; say less by 'time' under 'slurm'"
        case "PartitionNodeLimit", "PartitionConfig": "its partition takes no such job; name another one by 'partition'"
        case "PartitionDown", "PartitionInactive":
            "its partition starts no jobs now; name another one by 'partition', or wait"
        case "BadConstraints":
            "no node has what it asks for; ask for less by 'cpus_per_task', 'memory' or 'arguments' under 'slurm'"
        case "JobHeldUser": "it is held; 'scontrol release \(job)' lets it go"
        case "AccountNotAllowed", "InvalidAccount": "its account may not use the partition; say another by 'account'"
        case "QOSNotAllowed", "InvalidQOS": "its quality of service is not allowed; say another by 'qos'"
        case _ where isOfNodes(reason): "the nodes that it could have are down, drained or reserved"
        case _ where isBeyondLimit(reason): "it asks for more than the site allows one job; ask for less under 'slurm'"
        default: nil
        }
    }

    private static func isOfNodes(_ reason: String) -> Bool {
        let plain = reason.replacing("_", with: " ")
        return plain.hasPrefix("ReqNodeNotAvail") || plain.hasPrefix("Nodes required for job are DOWN")
    }

    /// `QOSMaxWallDurationPerJobLimit`, `AssocMaxCpuPerJobLimit`, `QOSMaxMemoryPerNode`: no job that ends makes room.
    private static func isBeyondLimit(_ reason: String) -> Bool {
        ["QOS", "Assoc", "Max"].contains { reason.hasPrefix($0) }
            && ["PerJob", "PerNode"].contains { reason.contains($0) }
    }
}
