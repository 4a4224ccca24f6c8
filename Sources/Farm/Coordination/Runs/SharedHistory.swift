import FoundationEssentials
package import JobStorage
import Planning

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

    /// Those of so many runs are kept in a place, as the database keeps attempts of the latest ten alone.
    private static let mostRuns = 10
    private static let pieceSize = 4 << 20

    package let place: String
    package let name: String

    private var folder: String { "\(place)/history/\(name)" }

    /// - Parameter epoch: the coordinator's.
    package func append(_ lines: [Line], epoch: Int) throws(FileTrouble) {
        guard !lines.isEmpty else { return }
        _ = try FileSystem.createFolders(folder)
        let encoder = JSONEncoder()
        // Texts and numbers, which JSON always can.
        let bytes = lines.flatMap { line in (try? encoder.encode(line)).map { Array($0) + [UInt8(ascii: "\n")] } ?? [] }
        try FileSystem.append(bytes, to: "\(folder)/\(epoch)")
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
            }
        }
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [Line] {
        let decoder = JSONDecoder()
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(Line.self, from: Data($0)) }
    }

    /// In the order in which attempts began.
    package var attempts: [StoredAttempt] {
        all { line in if case .attempt(let attempt) = line { attempt } else { nil } }
            .sorted { ($0.epoch, $0.lease) < ($1.epoch, $1.lease) }
    }

    /// Those that have come to an end, in the order in which they did.
    package var frames: [StoredFrame] { all { line in if case .frame(let frame) = line { frame } else { nil } } }

    package var publications: [StoredPublication] {
        all { line in if case .publication(let publication) = line { publication } else { nil } }
    }

    private func all<Item>(_ item: (Line) -> Item?) -> [Item] {
        var found: [Item] = []
        // What cannot be read is not told.
        try? read { found += $0.compactMap(item) }
        return found
    }

    /// Of runs that have ended the latest ones are remembered.
    func sweep() {
        let ended = FileSystem.names(in: "\(place)/history").sorted().filter {
            !FileSystem.exists("\(place)/runs/\($0)")
        }
        for old in ended.dropLast(Self.mostRuns) { FileSystem.removeTree("\(place)/history/\(old)") }
    }

    func remove() {
        FileSystem.removeTree(folder)
        FileSystem.removeIfEmpty("\(place)/history")
    }
}

extension SharedRun {
    package var history: SharedHistory { SharedHistory(place: place, name: name) }
}
