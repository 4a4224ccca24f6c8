import FoundationEssentials
import Glibc
package import JobStorage
import Planning
package import SafeFiles
import Scheduling

/// What the coordinators of a run that several machines see have done of it: `PLACE/history/NAME/EPOCH`, to which each
/// coordinator appends lines of JSON. From there it comes into the database of the machine that began the run.
package struct SharedHistory: Hashable, Sendable {
    package enum Line: Hashable, Sendable, Codable {
        /// It has ended. Its receipt is left out, which is for coordinators alone.
        case attempt(StoredAttempt)
        /// It has come to an end.
        case frame(StoredFrame)
        case publication(StoredPublication)
    }

    private static let pieceSize = 4 << 20

    package let place: String
    package let name: String

    private var folder: String { "\(place)/history/\(name)" }

    /// - Parameter epoch: the coordinator's.
    package func append(_ lines: [Line], epoch: Int) throws(FileTrouble) {
        try append(lines, to: "\(epoch)")
    }

    private func append(_ lines: [some Encodable], to name: String) throws(FileTrouble) {
        guard !lines.isEmpty else { return }
        let encoder = JSONEncoder()
        // Texts and numbers, which JSON always can.
        let bytes = lines.flatMap { line in (try? encoder.encode(line)).map { Array($0) + [UInt8(ascii: "\n")] } ?? [] }
        try FileSystem.retrying(ENOENT) { () throws(FileTrouble) in
            _ = try FileSystem.createFolders(folder)
            try FileSystem.append(bytes, to: "\(folder)/\(name)")
        }
    }

    /// All lines, some thousands at a time, those of earlier coordinators first. One that a kill has torn is left out.
    package func read(_ body: ([Line]) throws -> Void) throws {
        for epoch in FileSystem.names(in: folder).compactMap({ Int($0) }).sorted() {
            guard let file = try OpenFile("\(folder)/\(epoch)") else { continue }
            var rest: [UInt8] = []
            while case let piece = try file.next(Self.pieceSize), !piece.isEmpty {
                rest += piece
                let end = rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                try body(Self.lines(rest[..<end]))
                rest.removeFirst(end)
                // No line is that long. What follows is no history.
                if rest.count > 16 * Self.pieceSize { break }
            }
        }
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [Line] {
        let decoder = JSONDecoder()
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(Line.self, from: Data($0)) }
    }

    /// Pictures that need not be tried again while they are the same.
    package enum BrokenPictures: String, Sendable {
        /// When the run began: no coordinator tries them.
        case known
        /// When it had ended, for later runs.
        case found
    }

    package func broken(_ kind: BrokenPictures) -> [ToldBroken] {
        let bytes = (try? FileSystem.contents(of: "\(folder)/\(kind)")).flatMap(\.self) ?? []
        let decoder = JSONDecoder()
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(ToldBroken.self, from: Data($0))
        }
    }

    package func tell(_ kind: BrokenPictures, _ broken: [ToldBroken]) throws(FileTrouble) {
        try append(Set(broken).subtracting(self.broken(kind)).sorted { $0.input < $1.input }, to: "\(kind)")
    }

    /// All that was told, in memory.
    package struct Contents: Sendable {
        /// In the order in which they began.
        package var attempts: [StoredAttempt] = []
        /// Those that have come to an end, in the order in which they did.
        package var frames: [StoredFrame] = []
        package var publications: [StoredPublication] = []

        fileprivate mutating func take(_ line: Line) {
            switch line {
            case .attempt(let attempt): attempts.append(attempt)
            case .frame(let frame): frames.append(frame)
            case .publication(let publication): publications.append(publication)
            }
        }
    }

    /// Frames whose outputs are all in their places.
    package func publishedCount() throws -> Int {
        var frames: Set<FrameID> = []
        try read { lines in
            for case .frame(let frame) in lines where frame.state == .published {
                frames.insert(FrameID(frame.number, page: frame.page))
            }
        }
        return frames.count
    }

    package func contents() throws -> Contents {
        var contents = Contents()
        try read { lines in for line in lines { contents.take(line) } }
        contents.attempts.sort { ($0.epoch, $0.lease) < ($1.epoch, $1.lease) }
        return contents
    }

    /// Those of runs that were swept away before they had begun.
    static func sweep(_ place: String) {
        for name in FileSystem.names(in: "\(place)/history") {
            let run = SharedRun(place: place, name: name)
            if !FileSystem.exists(run.folder), run.end == nil { run.history.remove() }
        }
    }

    func remove() {
        FileSystem.removeTree(folder)
        FileSystem.removeIfEmpty("\(place)/history")
    }
}

extension SharedRun {
    package var history: SharedHistory { SharedHistory(place: place, name: name) }
}
