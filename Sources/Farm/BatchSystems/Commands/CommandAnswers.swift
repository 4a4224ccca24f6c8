package import Cluster
import JobModel

/// Reads the output and exit codes of a site's commands, see docs/reference/cluster-commands.md.
package enum CommandAnswers {
    /// The output of `submit`: a job's number.
    package static func job(_ text: String) -> Result<String, CommandAnswerError> {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, JobNumber.isPlain(String(words[0])) else {
            return .failure(CommandAnswerError("printed no job's id", text))
        }
        return .success(String(words[0]))
    }

    /// The output of `status`: `ID NAME STATE [REASON]`.
    package static func elements(_ text: String) -> Result<[ArrayElement], CommandAnswerError> {
        var elements: [ArrayElement] = []
        for line in text.split(whereSeparator: \.isNewline) {
            guard let element = element(line) else {
                return .failure(CommandAnswerError("printed a line that is not ID NAME STATE [REASON]", line))
            }
            elements.append(element)
        }
        return .success(elements)
    }

    private static let longestReason = 500

    private static func element(_ line: Substring) -> ArrayElement? {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count >= 3, JobNumber.isPlain(words[0]), JobNumber.isPlain(words[1]) else { return nil }
        let reason = words.count > 3 ? words[3] : ""
        guard reason.utf8.count <= longestReason, !reason.unicodeScalars.contains(where: VisibleText.isUnsafe),
            let condition = condition(words[2], reason)
        else { return nil }
        let obstacle =
            words[2] == "blocked" ? (reason.isEmpty ? "it waits for what does not pass by itself" : reason) : nil
        // An id that ends with an index belongs to an element. Other ids belong to jobs without elements.
        let parts = words[0].split(separator: "_", omittingEmptySubsequences: false)
        let index = parts.count > 1 ? parts.last.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } : nil
        return ArrayElement(
            job: index == nil ? words[0] : parts.dropLast().joined(separator: "_"), index: index ?? 0, of: words[1],
            condition, reason: obstacle == nil ? reason : "", obstacle: obstacle)
    }

    private static func condition(_ state: String, _ reason: String) -> ArrayElement.Condition? {
        switch state {
        case "waiting", "blocked": .waiting
        case "running": .running
        case "suspended": .suspended
        case "stuck": .stuck
        case "done": .ended(.done)
        case "timeout": .ended(.outOfTime)
        case "memory": .ended(.outOfMemory)
        case "node": .ended(.nodeLost)
        case "cancelled": .ended(.cancelled)
        case "preempted": .ended(.preempted)
        case "failed": .ended(.failed(reason.isEmpty ? "failed" : "failed (\(reason))"))
        case "stopped": .ended(.stopped(reason.isEmpty ? "was stopped from outside" : "was stopped (\(reason))"))
        default: nil
        }
    }

    private static let arrays = 1...100_000_000

    /// The output of `describe`: `max_array N`, and `queue NAME` for each queue.
    package static func description(_ text: String) -> Result<BatchDescription, CommandAnswerError> {
        var (largest, queues): (Int?, [String]) = (nil, [])
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 2, words[0] == "max_array", largest == nil, let number = Int(words[1]),
                arrays.contains(number)
            {
                largest = number
            } else if words.count == 2, words[0] == "queue" {
                queues.append(words[1])
            } else {
                return .failure(
                    CommandAnswerError("printed a line that is neither 'max_array N' nor 'queue NAME'", line))
            }
        }
        guard let largest else { return .failure(CommandAnswerError("printed no line 'max_array N'", text)) }
        return .success(BatchDescription(largestArray: largest, queues: queues.isEmpty ? nil : queues))
    }

    /// The meaning of an exit code other than 0, after sysexits.h; nil for a signal.
    package static func error(_ exitCode: Int32?, _ message: String) -> BatchError {
        switch exitCode {
        case 73: .full(message)
        case 75: .unanswered(message)
        default: .refused(message)
        }
    }
}

/// A command printed a text that its contract does not allow.
package struct CommandAnswerError: Error, Hashable, Sendable {
    /// The rest of a sentence that begins with the command's name.
    package let message: String

    init(_ what: String, _ line: some StringProtocol) {
        let shown = line.unicodeScalars.prefix(80).map { VisibleText.isUnsafe($0) ? "?" : String($0) }
        message = "\(what): '\(shown.joined())'"
    }
}
