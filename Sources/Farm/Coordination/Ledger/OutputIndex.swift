import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import Synchronization

/// The file beside a job's outputs that says what was published: the database is rebuilt from it when it is lost.
///
/// Lines are appended; a run that was killed leaves whole lines and at worst a torn last one.
final class OutputIndex: Sendable {
    static let name = ".penumbra-index"

    private struct State {
        /// Recipes that were written since the file was opened, and their numbers.
        var recipes: [RecipeID: Int] = [:]
        /// Of what was written last; nil before that.
        var end: IndexMark?
    }

    /// The folder that all paths in it are below.
    let folder: String
    let path: String
    private let job: JobSpec
    private let state = Mutex(State())

    init(folder: String, job: JobSpec) {
        self.folder = folder
        self.job = job
        path = folder == "/" ? "/\(Self.name)" : "\(folder)/\(Self.name)"
    }

    /// Nil when there is none.
    var mark: IndexMark? {
        FileSystem.stamp(path).map { IndexMark(inode: $0.inode, size: $0.size) }
    }

    func contents() throws(FileTrouble) -> IndexContents {
        guard FileSystem.exists(path) else { return IndexContents(Data(), of: job) }
        do {
            return IndexContents(try Data(contentsOf: URL(filePath: path)), of: job)
        } catch {
            throw FileTrouble(path: path, code: EIO, action: "read the index of the outputs")
        }
    }

    /// Adds outputs that were published and paths that are gone.
    func append(
        _ records: [OutputRecord], gone: [String] = [], texts: (RecipeID) -> String
    ) throws(FileTrouble) {
        try state.withLock { (state) throws(FileTrouble) in
            let mark = mark
            // Others may have written since, or a run that was killed a torn line: then it is said again whose lines these are.
            if state.end != mark { state = State() }
            var lines: [IndexLine] = state.end == nil ? [.job(name: job.name, manifest: job.manifestPath)] : []
            for record in records { lines += self.lines(for: record, &state.recipes, texts) }
            lines += gone.map { .gone(path: relative($0)) }
            let begin = state.end == nil && mark.map { $0.size > 0 } == true ? Data([UInt8(ascii: "\n")]) : Data()
            try write(begin + encoded(lines))
            state.end = self.mark
        }
    }

    private func lines(
        for record: OutputRecord, _ recipes: inout [RecipeID: Int], _ texts: (RecipeID) -> String
    ) -> [IndexLine] {
        var lines: [IndexLine] = []
        if recipes[record.recipe] == nil {
            recipes[record.recipe] = recipes.count
            lines.append(.recipe(number: recipes.count - 1, text: texts(record.recipe)))
        }
        return lines + [.output(.init(record, path: relative(record.path), recipe: recipes[record.recipe] ?? 0))]
    }

    private func relative(_ path: String) -> String {
        let prefix = folder == "/" ? "/" : folder + "/"
        return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    }

    private func encoded(_ lines: [IndexLine]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return lines.reduce(into: Data()) { data, line in
            // Lines hold text and whole numbers, which JSON always can.
            guard let json = try? encoder.encode(line) else { return }
            data += json + [UInt8(ascii: "\n")]
        }
    }

    private func write(_ data: Data) throws(FileTrouble) {
        try FileSystem.append(Array(data), to: path)
    }

    /// Writes the file anew with what is known, and what other jobs wrote; by way of `temporary`, in the same folder.
    func rewrite(
        _ records: [OutputRecord], by temporary: String, texts: (RecipeID) -> String
    ) throws(FileTrouble) {
        var data = try contents().others.reduce(into: Data()) { $0 += $1 + [UInt8(ascii: "\n")] }
        var recipes: [RecipeID: Int] = [:]
        var lines: [IndexLine] = [.job(name: job.name, manifest: job.manifestPath)]
        for record in records { lines += self.lines(for: record, &recipes, texts) }
        data += encoded(lines)
        FileSystem.remove(temporary)
        try FileSystem.append(Array(data), to: temporary, syncs: true)
        try FileSystem.rename(temporary, to: path)
        state.withLock { $0 = State() }
    }
}
