package import Cluster

extension ArrayElement {
    /// Reads an element from Slurm's words.
    ///
    /// - Parameter status: a status as returned by `wait`: the exit code in the second byte, the signal in the first.
    package init(
        job: String, index: Int, of submission: String, state: String, reason: String = "None", status: Int = 0,
        restarts: Int = 0, node: String = ""
    ) {
        let condition = Self.condition(state, reason: reason, status: status)
        self.init(
            job: job, index: index, of: submission, condition, reason: reason,
            obstacle: condition == .waiting ? SlurmReasons.obstacle(reason, job: job) : nil, restarts: restarts,
            node: node)
    }

    private static func condition(_ state: String, reason: String, status: Int) -> Condition {
        switch state {
        case "RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING": .running
        case "SUSPENDED", "STOPPED": .suspended
        case "PENDING", "REQUEUE_HOLD":
            // Slurm never releases a job that it holds because it could not start it. A job that a user holds is released
            // by the user.
            reason == "launch failed requeued held" || reason == "JobHeldAdmin" ? .stuck : .waiting
        case "CONFIGURING", "REQUEUED", "REQUEUE_FED": .waiting
        case "TIMEOUT", "DEADLINE": .ended(.outOfTime)
        case "OUT_OF_MEMORY": .ended(.outOfMemory)
        case "NODE_FAIL", "BOOT_FAIL": .ended(.nodeLost)
        case "CANCELLED": .ended(.cancelled)
        case "PREEMPTED", "REVOKED": .ended(.preempted)
        case "COMPLETED": .ended(.done)
        default: .ended(ending(status))
        }
    }

    private static func ending(_ status: Int) -> Ending {
        // The code of slurmstepd if it could not open the output file.
        if status == 4021 { return .stopped("could not be started: its log folder does not show on the node") }
        let (code, signal) = (status >> 8, status & 0x7f)
        if signal == 9 { return .failed("was killed, perhaps for want of memory") }
        if signal == 15 || code == 143 { return .stopped("was told to end") }
        return .failed(signal > 0 ? "crashed with signal \(signal)" : "left with exit code \(code)")
    }
}

/// Reads the output of Slurm's commands.
package enum SlurmTables {
    /// The columns of `squeue -O`. With `:|` a column is as wide as needed and ends with a bar.
    package static let columns =
        "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,RestartCnt:|,NodeList:|,Name:|,Reason:"

    /// In bytes. A reason may be a site's own sentence.
    private static let longestField = 4000

    /// Rows of another form are left out. A job without elements has no index.
    package static func elements(_ text: String) -> [ArrayElement] {
        text.split(separator: "\n").compactMap(element)
    }

    private static func element(_ line: Substring) -> ArrayElement? {
        let fields = line.split(separator: "|", maxSplits: 7, omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8, fields.allSatisfy({ $0.utf8.count <= longestField }), JobNumber.isDecimal(fields[0]),
            let index = fields[1] == "N/A" ? 0 : Int(fields[1]), index >= 0
        else { return nil }
        return ArrayElement(
            job: fields[0], index: index, of: fields[6], state: fields[2], reason: fields[7],
            status: Int(fields[3]) ?? 0, restarts: Int(fields[4]) ?? 0, node: fields[5])
    }

    /// The number of a job, as `sbatch --parsable` prints it: `12`, or `12;cluster`.
    package static func job(_ text: String) -> String? {
        let number = text.split(whereSeparator: \.isWhitespace).last?.split(separator: ";").first
        return number.flatMap { $0.allSatisfy(\.isNumber) ? String($0) : nil }
    }

    /// A number of `scontrol show config`.
    package static func setting(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "=" })
            if words.first.map(String.init) == name { return words.dropFirst().first.flatMap { Int($0) } }
        }
        return nil
    }
}
