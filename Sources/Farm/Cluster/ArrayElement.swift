/// One element of a job array, as the system knows it.
package struct ArrayElement: Hashable, Sendable {
    package let job: String
    package let index: Int
    /// The name of the submission. Numbers are used again when a controller has lost its state; names are not.
    package let submission: String
    package let condition: Condition
    /// Why it waits, in the system's words.
    package let reason: String
    /// What is in its way and does not pass by itself, and what to do, in words for a person. Nil for one that only waits for its
    /// turn.
    package let obstacle: String?
    package let restarts: Int
    package let node: String

    package init(
        job: String, index: Int, of submission: String, _ condition: Condition, reason: String = "",
        obstacle: String? = nil, restarts: Int = 0, node: String = ""
    ) {
        self.job = job
        self.index = index
        self.submission = submission
        self.condition = condition
        self.reason = reason
        self.obstacle = obstacle
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
        case ended(Ending)

        package var isOver: Bool { if case .ended = self { true } else { false } }
    }

    package enum Ending: Hashable, Sendable {
        case done
        case outOfTime
        case outOfMemory
        case nodeLost
        case cancelled
        case preempted
        /// By what it did, perhaps; in words that follow its name: `left with exit code 3`.
        case failed(String)
        /// From outside; in the same form.
        case stopped(String)
    }

    package var id: String { "\(job)_\(index)" }

    /// As messages name it.
    package var name: String { "element \(id)" + (node.isEmpty ? "" : " on \(node)") }

    /// Why it is not started, for a person who may do something; nil where nobody has to.
    package var pendingWords: String? {
        obstacle.map { "\(name) is not started\(reason.isEmpty ? "" : " (\(reason))"): \($0)" }
    }
}

/// Tells why elements wait for what may never come: of each reason one element.
package struct PendingReasons: Sendable {
    private var told: Set<Substring> = []

    package init() {}

    package mutating func news(of elements: [ArrayElement]) -> [String] {
        elements.compactMap { element in
            guard let words = element.pendingWords else { return nil }
            // What follows a comma changes with every node.
            let kind = (element.reason.isEmpty ? element.obstacle ?? "" : element.reason).prefix { $0 != "," }
            return told.insert(kind).inserted ? words : nil
        }
    }
}
