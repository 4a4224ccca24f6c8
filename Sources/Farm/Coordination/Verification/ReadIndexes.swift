import FoundationEssentials
import JobModel
import JobStorage
import SafeFiles
import Synchronization

/// The indexes that were read, whatever jobs wrote them: many outputs are looked for in one.
final class ReadIndexes: Sendable {
    private let known = Mutex<[PathKey: [PathKey: RecordedOutput]]>([:])

    /// What the index in a folder says, by the outputs' paths; empty where there is none.
    func outputs(in folder: String) throws -> [PathKey: RecordedOutput] {
        if let outputs = known.withLock({ $0[PathKey(folder)] }) { return outputs }
        let outputs = try Self.read(folder)
        known.withLock { $0[PathKey(folder)] = outputs }
        return outputs
    }

    /// They may have changed.
    func forget() { known.withLock { $0 = [:] } }

    private static func read(_ folder: String) throws(FileTrouble) -> [PathKey: RecordedOutput] {
        // Whoever's it is: outputs are compared with what it says, and none is changed.
        guard let lines = try FileSystem.lines(of: PathNames.joined(folder, OutputIndex.name)) else { return [:] }
        let contents = IndexContents(Data(lines.bytes), of: nil)
        let outputs = contents.outputs.map { key, output in
            let record = output.record(
                in: folder, recipe: RecipeID(place: output.recipe), encodings: contents.encodings)
            return RecordedOutput(record, job: contents.jobs[key]?.name ?? "", recipe: contents.recipes[output.recipe])
        }
        return Dictionary(outputs.map { (PathKey($0.record.path), $0) }) { $1 }
    }
}
