/// A row of `squeue`: one element of a job array.
package struct ArrayElement: Hashable, Sendable {
    package let job: String
    package let index: Int
    /// The name of the submission. Numbers are used again when a controller has lost its state; names are not.
    package let submission: String
    package let state: String
    package let reason: String
    /// As `wait` has it: the exit code in the second byte, the signal in the first.
    package let status: Int
    package let restarts: Int
    package let node: String

    package init(
        job: String, index: Int, of submission: String, state: String, reason: String = "None", status: Int = 0,
        restarts: Int = 0, node: String = ""
    ) {
        self.job = job
        self.index = index
        self.submission = submission
        self.state = state
        self.reason = reason
        self.status = status
        self.restarts = restarts
        self.node = node
    }

    package enum Condition: Hashable, Sendable {
        /// Waits, or will be started again.
        case waiting
        case running
        /// Was begun, and stands still for another job's sake, say.
        case suspended
        /// Waits for somebody who may never come.
        case stuck
        /// Not necessarily well.
        case ended
    }

    package var condition: Condition {
        switch state {
        case "RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING": .running
        case "SUSPENDED", "STOPPED": .suspended
        case "PENDING", "REQUEUE_HOLD":
            // Slurm holds what it could not start, and releases it never. What a user holds he releases.
            reason == "launch failed requeued held" || reason == "JobHeldAdmin" ? .stuck : .waiting
        case "CONFIGURING", "REQUEUED", "REQUEUE_FED": .waiting
        default: .ended
        }
    }

    /// As messages name it.
    package var name: String { "element \(job)_\(index)" + (node.isEmpty ? "" : " on \(node)") }
}

/// What Slurm's commands print.
package enum SlurmTables {
    /// Of `squeue -O`: with `:|` a column is as wide as it must be and ends with a bar.
    package static let columns =
        "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,RestartCnt:|,NodeList:|,Name:|,Reason:"

    /// Rows that are no element's, and those of another form, are left out.
    package static func elements(_ text: String) -> [ArrayElement] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "|", maxSplits: 7, omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 8, let index = Int(fields[1]) else { return nil }
            return ArrayElement(
                job: fields[0], index: index, of: fields[6], state: fields[2], reason: fields[7],
                status: Int(fields[3]) ?? 0, restarts: Int(fields[4]) ?? 0, node: fields[5])
        }
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
