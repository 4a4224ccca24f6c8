import FoundationEssentials
import Glibc
import JobModel
package import JobStorage
import Planning
package import SafeFiles
import Scheduling

/// The log of a run that several machines see: `STATE/history/NAME/EPOCH`. Each coordinator appends lines of JSON. They are
/// copied to the database of the machine that began the run.
package struct RunLog: Hashable, Sendable {
    package enum Line: Hashable, Sendable, Codable {
        /// An ended attempt, without its receipt, which only coordinators need.
        case attempt(StoredAttempt)
        /// A concluded frame.
        case frame(StoredFrame)
        case publication(StoredPublication)
    }

    private static let pieceSize = 4 << 20
    /// No attempt has a longer line.
    private static let longestLine = 64 << 20
    /// The largest list of broken pictures.
    private static let largestList = 1 << 30

    package let state: String
    package let name: String

    /// - Parameter epoch: the epoch of the coordinator.
    package func append(_ lines: [Line], epoch: Int) throws(FileError) {
        try append(lines, to: "\(epoch)")
    }

    private func append(_ lines: [some Encodable], to name: String) throws(FileError) {
        guard !lines.isEmpty else { return }
        let encoder = JSONEncoder()
        // Texts and numbers can always be encoded.
        let bytes = lines.flatMap { line in (try? encoder.encode(line)).map { Array($0) + [UInt8(ascii: "\n")] } ?? [] }
        try FileSystem.retrying(ENOENT) { () throws(FileError) in
            _ = try FileSystem.createFolders(state)
            // A link in place of one of these folders would lead to foreign files.
            let own = try SafeFolder(state, trusting: .everybody).makingFolder("history").makingFolder(self.name)
            try own.withDescriptor { (folder) throws(FileError) in
                // The coordinator that resumes the run trusts the file.
                try FileSystem.append(bytes, to: "\(own.path)/\(name)", in: folder, mode: 0o600)
            }
        }
    }

    /// All lines, some thousands at a time, in the order of the coordinators. Torn lines are left out.
    package func read(_ body: ([Line]) throws -> Void) throws {
        // Links, pipes and foreign files are ignored.
        guard let folder = try? ownFolder(), let names = try? folder.names() else { return }
        for epoch in names.compactMap({ Int($0) }).sorted() {
            guard let file = try? folder.file("\(epoch)") else { continue }
            try Self.read(file, body)
        }
    }

    /// Nil if the run has no log.
    private func ownFolder() throws(FileError) -> SafeFolder? {
        try SafeFolder(state).folder(at: "history/\(name)")
    }

    private static func read(_ file: borrowing SafeFile, _ body: ([Line]) throws -> Void) throws {
        var rest: [UInt8] = []
        while case let piece = try file.next(pieceSize), !piece.isEmpty {
            rest += piece
            let end = rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            try body(lines(rest[..<end]))
            rest.removeFirst(end)
            // No coordinator writes longer lines.
            guard rest.count <= longestLine else { return }
        }
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [Line] {
        let decoder = JSONDecoder()
        // A kill may tear a line, and other versions write other ones.
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(Line.self, from: Data($0)) }
            .filter(\.isPlausible)
    }

    /// Pictures that are not tried again while they stay the same.
    package enum BrokenPictures: String, Sendable {
        /// Broken when the run began. No coordinator tries them.
        case known
        /// Broken when the run ended, for later runs.
        case found
    }

    package func broken(_ kind: BrokenPictures) -> [BrokenTransfer] {
        // Pictures of a list that cannot be read are tried again.
        let found = try? ownFolder()?.contents(of: "\(kind)", limit: Self.largestList)
        let decoder = JSONDecoder()
        return (found ?? []).split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(BrokenTransfer.self, from: Data($0))
        }.filter(\.isPlausible)
    }

    package func append(_ broken: [BrokenTransfer], as kind: BrokenPictures) throws(FileError) {
        try append(Set(broken).subtracting(self.broken(kind)).sorted { $0.input < $1.input }, to: "\(kind)")
    }

    /// All lines, in memory.
    package struct Contents: Sendable {
        /// In the order of their begin.
        package var attempts: [StoredAttempt] = []
        /// Concluded frames, in the order of their end.
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

    /// The number of frames whose outputs are all published.
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

    /// Removes the logs of runs that were swept before they began.
    package static func sweep(_ state: String) {
        for name in FileSystem.names(in: "\(state)/history") {
            let run = RunFolder(state: state, name: name)
            if !FileSystem.exists(run.path), run.end == nil { run.log.remove() }
        }
    }

    package func remove() {
        // Logs that cannot be removed stay.
        guard let folder = try? SafeFolder(state, trusting: .everybody), let histories = try? folder.folder("history")
        else { return }
        histories.removeTree(name)
        folder.removeIfEmpty("history")
    }
}

extension RunLog.Line {
    fileprivate var isPlausible: Bool {
        switch self {
        case .attempt(let attempt): attempt.isPlausible
        case .frame(let frame): frame.isPlausible
        case .publication(let publication): publication.isPlausible
        }
    }
}
