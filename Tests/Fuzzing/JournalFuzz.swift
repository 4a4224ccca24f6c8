import FoundationEssentials
import Glibc
import JobModel
import JobStorage
@testable import Runs

/// Reads the files of a run: its record, its state, its journal, its log, its broken pictures and its map.
@c(LLVMFuzzerTestOneInput)
public func fuzzJournal(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let folder = RunFolder(state: RunFiles.state, name: "night")
    switch input.choice(7) {
    case 0:
        RunFiles.put(input.bytes, at: "runs/night/run.json")
        _ = folder.record.map { ($0.isPlausible, RunLine.time($0.started)) }
    case 1:
        RunFiles.put(input.bytes, at: "runs/night/live")
        _ = LiveRun(in: folder).map { ($0.megapixelsPerSecond, $0.file) }
    case 2:
        RunFiles.put(input.bytes, at: "history/night/1")
        // A log that cannot be read is a failure of the file system.
        guard let contents = try? folder.log.contents() else { break }
        for attempt in contents.attempts { _ = (AttemptLine(attempt), attempt.task) }
        for frame in contents.frames { _ = StoredFrameLine(frame, published: nil).name }
    case 3:
        RunFiles.put(input.bytes, at: "history/night/known")
        _ = folder.log.broken(.known)
    case 4:
        RunFiles.put(input.bytes, at: "journal")
        _ = Journal.read("\(RunFiles.state)/journal")
    case 5:
        if let map = FrameMap(file: input.bytes) { check(map) }
        if let map = FrameMap(text: input.text) { check(map) }
    default: _ = RunCounts(json: input.text).json
    }
    return 0
}

private func check(_ map: FrameMap) {
    precondition(FrameMap(text: map.text) == map && FrameMap(MapLine(map)) == map, "a map that is sent is the same")
}

/// A state folder for this process.
private enum RunFiles {
    static let state: String = {
        let folder = FileManager.default.currentDirectoryPath + "/scratch/journal-\(getpid())"
        for name in ["runs/night", "history/night"] {
            // Without the folders every input would be read as missing.
            try? FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        return folder
    }()

    static func put(_ bytes: [UInt8], at path: String) {
        let file = open("\(state)/\(path)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(file >= 0, "the state folder is there")
        defer { close(file) }
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        precondition(written == bytes.count, "the disk has room")
    }
}
