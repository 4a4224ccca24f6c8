import FoundationEssentials
package import JobModel
import JobStorage
package import Scheduling

/// The state of every frame of a run, one byte each, for programs that show them all: the file `map` in the run's folder.
///
///     {"version":1,"frames":[[1,5000],[5003,0,4]]}
///     pppppp>>.pf…
///
/// The first line lists the frames: `[first, count]` for inputs, and `[input, first page, count]` for pages of one input. Inputs
/// count from 1, pages from 0. A letter for each frame follows, in the same order.
package struct FrameMap: Hashable, Sendable {
    /// Raw values are stored.
    package enum Cell: UInt8, CaseIterable, Sendable {
        /// `.`
        case waiting = 46
        /// `>`: a worker has or had one of its tasks.
        case running = 62
        /// `p`
        case published = 112
        /// `s`: its outputs were up to date.
        case skipped = 115
        /// `k`
        case kept = 107
        /// `b`
        case stillBroken = 98
        /// `f`
        case failed = 102
        /// `l`
        case left = 108

        package init(_ kind: FrameResult.Kind) {
            switch kind {
            case .open: self = .waiting
            case .published: self = .published
            case .skipped: self = .skipped
            case .kept: self = .kept
            case .stillBroken: self = .stillBroken
            case .failed: self = .failed
            case .left: self = .left
            }
        }
    }

    /// Frames that follow each other.
    private struct Span: Hashable, Sendable {
        let first: FrameID
        var count: Int
        let isPages: Bool
        /// The number of frames before it.
        let offset: Int

        func offset(of frame: FrameID) -> Int? {
            let isHere = isPages ? frame.number == first.number : frame.page == 0
            let distance = isPages ? frame.page - first.page : frame.number - first.number
            return isHere && (0..<count).contains(distance) ? offset + distance : nil
        }

        subscript(index: Int) -> FrameID {
            isPages ? FrameID(first.number, page: first.page + index) : FrameID(first.number + index)
        }
    }

    private let spans: [Span]
    private var bytes: [UInt8]

    /// The largest file, in bytes.
    package static let largestSize = 1 << 28

    /// All frames wait.
    ///
    /// - Parameter frames: in any order.
    package init(_ frames: [FrameID]) {
        let frames = Set(frames).sorted()
        var spans: [Span] = []
        for (offset, frame) in frames.enumerated() {
            if let last = spans.last {
                let isNextPage = frame.number == last.first.number && frame.page == last.first.page + last.count
                let isNextInput =
                    frame.page == 0 && last.first.page == 0 && frame.number == last.first.number + last.count
                if isNextPage && (last.isPages || last.count == 1) || isNextInput && !last.isPages {
                    spans[spans.count - 1] = Span(
                        first: last.first, count: last.count + 1, isPages: isNextPage, offset: last.offset)
                    continue
                }
            }
            spans.append(Span(first: frame, count: 1, isPages: frame.page > 0, offset: offset))
        }
        self.spans = spans
        bytes = [UInt8](repeating: Cell.waiting.rawValue, count: frames.count)
    }

    package var count: Int { bytes.count }

    /// All frames with their states, in order.
    package var cells: [(frame: FrameID, cell: Cell)] {
        spans.flatMap { span in
            (0..<span.count).map { (span[$0], Cell(rawValue: bytes[span.offset + $0]) ?? .waiting) }
        }
    }

    /// Nil for a frame that the run does not have. Takes time that grows with the logarithm of the number of spans.
    package func offset(of frame: FrameID) -> Int? {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].first <= frame { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : spans[low - 1].offset(of: frame)
    }

    /// Whether there is a frame of this input, or of one of its pages.
    package func has(inputNumber number: Int) -> Bool {
        spans.contains { span in
            span.isPages
                ? span.first.number == number : (0..<span.count).contains(number - span.first.number)
        }
    }

    package subscript(frame: FrameID) -> Cell? { offset(of: frame).flatMap { Cell(rawValue: bytes[$0]) } }

    /// - Returns: the offset of the frame's letter; nil if nothing has changed.
    package mutating func set(_ frame: FrameID, _ cell: Cell) -> Int? {
        guard let offset = offset(of: frame), bytes[offset] != cell.rawValue else { return nil }
        bytes[offset] = cell.rawValue
        return offset
    }

    /// The letters of these frames.
    package func letters(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The frames as the first line lists them.
    package var frames: [[Int]] {
        spans.map { span in
            span.isPages ? [span.first.number, span.first.page, span.count] : [span.first.number, span.count]
        }
    }

    /// The first line, with its end.
    package var header: [UInt8] { Self.header(frames) }

    private static func header(_ frames: [[Int]]) -> [UInt8] {
        let list = frames.map { "[\($0.map(String.init).joined(separator: ","))]" }
        return Array("{\"version\":1,\"frames\":[\(list.joined(separator: ","))]}\n".utf8)
    }

    package var file: [UInt8] { header + bytes }

    /// The same with a count before each letter that follows itself, for a map that changes no more: `6p2f1p`.
    package var text: String {
        var (text, rest) = (String(decoding: header, as: UTF8.self), bytes[...])
        while let letter = rest.first {
            let length = rest.prefix { $0 == letter }.count
            text += "\(length)\(Character(Unicode.Scalar(letter)))"
            rest = rest.dropFirst(length)
        }
        return text
    }

    private struct Header: Decodable {
        let version: Int
        let frames: [[Int]]
    }
}

extension FrameMap {
    /// Reads a ``text``. Nil if it is damaged, or of a later version.
    package init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        var (bytes, count) = ([UInt8](), 0)
        for byte in parts[1] {
            if let digit = Int(exactly: byte)?.advanced(by: -48), (0...9).contains(digit) {
                count = 10 * count + digit
                guard count <= Self.largestSize else { return nil }
            } else {
                guard count > 0, bytes.count + count <= Self.largestSize else { return nil }
                bytes += repeatElement(byte, count: count)
                count = 0
            }
        }
        guard count == 0 else { return nil }
        self.init(file: Array(parts[0]) + [UInt8(ascii: "\n")] + bytes)
    }

    /// Reads a map that a service has sent. Nil if it is damaged.
    package init?(_ line: MapLine) { self.init(file: Self.header(line.frames) + line.states.utf8) }

    /// Reads a file. Nil if it is damaged, or of a later version.
    package init?(file: [UInt8]) {
        guard let end = file.firstIndex(of: UInt8(ascii: "\n")),
            let header = try? JSONDecoder().decode(Header.self, from: Data(file[..<end])), header.version == 1
        else { return nil }
        var (spans, offset) = ([Span](), 0)
        for entry in header.frames {
            guard entry.count == 2 || entry.count == 3, entry.allSatisfy(StoredNumbers.counts.contains),
                let number = entry.first, let count = entry.last, number > 0, count > 0
            else { return nil }
            let isPages = entry.count == 3
            let span = Span(
                first: FrameID(number, page: isPages ? entry[1] : 0), count: count, isPages: isPages, offset: offset)
            if let last = spans.last, span.first <= last[last.count - 1] { return nil }
            spans.append(span)
            offset += count
            guard offset <= Self.largestSize else { return nil }
        }
        bytes = Array(file[(end + 1)...])
        guard bytes.count == offset, bytes.allSatisfy({ Cell(rawValue: $0) != nil }) else { return nil }
        self.spans = spans
    }
}
