import HTTPService
import JobModel
import Scheduling

/// A frame that failed, as far as a list of errors tells of it.
package struct FailedFrame: Hashable, Sendable {
    package let run: String
    package let number: Int
    package let page: Int
    package let input: String
    package let cause: String
    package let message: String
    /// A later run of the job has published it.
    package let isRepaired: Bool

    package init(
        run: String, number: Int, page: Int, input: String, cause: String, message: String, isRepaired: Bool = false
    ) {
        (self.run, self.number, self.page) = (run, number, page)
        (self.input, self.cause, self.message) = (input, cause, message)
        self.isRepaired = isRepaired
    }

    /// What is the same for all frames of a group.
    fileprivate var key: String { "\(cause)\n\(MessageShape.text(message, of: input))" }
}

/// Failed frames that failed in the same way: their causes are equal, and their messages but for numbers and names.
///
/// The names of properties are names of the API.
package struct FailureGroup: Hashable, Sendable, Encodable {
    package struct Frame: Hashable, Sendable, Encodable {
        package let run: String
        package let frame: Int
        package let page: Int
        package let input: String
        /// A later run of the job has published it.
        package let repaired: Bool

        init(_ failure: FailedFrame) {
            (run, frame, page, input) = (failure.run, failure.number, failure.page, failure.input)
            repaired = failure.isRepaired
        }
    }

    /// The frames of one run.
    package struct Part: Hashable, Sendable, Encodable {
        package let run: String
        package fileprivate(set) var count: Int
        package fileprivate(set) var repaired: Int
    }

    /// The same for all lists, so that a client can ask for more about a group.
    package let id: String
    package let cause: String
    /// What the cause means, and what to do first. Nil for a cause of another version.
    package let explanation: String?
    /// Of the first frame.
    package let message: String
    package private(set) var count: Int
    /// How many of them a later run has published.
    package private(set) var repaired: Int
    package let first: Frame
    package private(set) var last: Frame
    /// The first frames with different inputs. A frame that is still broken is preferred to a repaired one.
    package private(set) var samples: [Frame]
    /// The runs that the frames are of, the earliest first.
    package private(set) var runs: [Part]

    private static let mostSamples = 3

    fileprivate init(_ failure: FailedFrame, id: String) {
        self.id = id
        (cause, message) = (failure.cause, failure.message)
        explanation = FrameFailure.Cause(rawValue: failure.cause)?.explanation
        (count, repaired, runs, samples) = (0, 0, [], [])
        (first, last) = (Frame(failure), Frame(failure))
        add(failure)
    }

    /// - Parameter failure: Of the last run, or of another one than all so far.
    fileprivate mutating func add(_ failure: FailedFrame) {
        count += 1
        last = Frame(failure)
        show(failure)
        if runs.last?.run != failure.run { runs.append(Part(run: failure.run, count: 0, repaired: 0)) }
        runs[runs.count - 1].count += 1
        guard failure.isRepaired else { return }
        repaired += 1
        runs[runs.count - 1].repaired += 1
    }

    /// Adds a frame to the samples, if there is a place for it. A frame that is still broken replaces a repaired one of the same input. If
    /// the samples are full, it replaces any repaired one.
    private mutating func show(_ failure: FailedFrame) {
        if let place = samples.firstIndex(where: { PathKey($0.input) == PathKey(failure.input) }) {
            if samples[place].repaired, !failure.isRepaired { samples[place] = Frame(failure) }
            return
        }
        if samples.count == Self.mostSamples {
            guard !failure.isRepaired, let place = samples.lastIndex(where: \.repaired) else { return }
            samples.remove(at: place)
        }
        samples.append(Frame(failure))
    }

    /// - Parameter failures: In the order in which `first` and `last` are meant. The frames of a run follow each other.
    /// - Returns: the groups, those with the most frames first.
    package static func groups(of failures: some Sequence<FailedFrame>) throws -> [FailureGroup] {
        var groups: [FailureGroup] = []
        var places: [String: Int] = [:]
        for failure in failures {
            let key = failure.key
            if let place = places[key] {
                groups[place].add(failure)
            } else {
                places[key] = groups.count
                groups.append(FailureGroup(failure, id: try id(of: key)))
            }
        }
        // Sorting by the place, too, keeps groups of one size in the order of their first frames.
        return groups.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(
            \.element)
    }
}

extension FailureGroup {
    private static func id(of key: String) throws -> String {
        String(try EntityTag(of: Array(key.utf8)).value.prefix(16))
    }

    /// The inputs of a group that are still broken: each once, in the order of the frames.
    ///
    /// - Parameter group: ``id``
    package static func inputs(of group: String, in failures: some Sequence<FailedFrame>) throws -> [String] {
        var ids: [String: String] = [:]
        var (inputs, known): ([String], Set<PathKey>) = ([], [])
        for failure in failures where !failure.isRepaired {
            let key = failure.key
            let id = try ids[key] ?? id(of: key)
            ids[key] = id
            if id == group, known.insert(PathKey(failure.input)).inserted { inputs.append(failure.input) }
        }
        return inputs
    }
}

/// What messages about different frames have in common.
package enum MessageShape {
    /// The first line, without the input's path or name, without quoted texts, and with `#` for each number.
    package static func text(_ message: String, of input: String) -> String {
        var text = Array((message.split(separator: "\n").first ?? "").utf8)
        let name = input.split(separator: "/").last.map { Array($0.utf8) } ?? []
        for word in [Array(input.utf8), name] where word.count > 2 { text = replacing(word, in: text) }
        return String(decoding: withoutNumbers(withoutQuotes(text)), as: UTF8.self)
    }

    private static let gap = Array("…".utf8)

    private static func replacing(_ word: [UInt8], in text: [UInt8]) -> [UInt8] {
        var (result, rest) = ([UInt8](), text[...])
        while let byte = rest.first {
            if rest.starts(with: word) {
                result += gap
                rest = rest.dropFirst(word.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func withoutQuotes(_ text: [UInt8]) -> [UInt8] {
        var (result, rest) = ([UInt8](), text[...])
        while let byte = rest.first {
            rest = rest.dropFirst()
            result.append(byte)
            // An apostrophe within a word begins no quotation.
            let isQuote = byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")
            let isInWord = result.dropLast().last.map(isLetter) ?? false
            guard isQuote, !isInWord, let end = rest.firstIndex(of: byte) else { continue }
            result += gap + [byte]
            rest = rest[(end + 1)...]
        }
        return result
    }

    private static func withoutNumbers(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
                result.append(byte)
                continue
            }
            if result.last != UInt8(ascii: "#") { result.append(UInt8(ascii: "#")) }
        }
        return result
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
    }
}
