import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import SafeFiles
import Synchronization

/// The file beside a job's outputs that says what was published: the database is rebuilt from it when it is lost.
///
/// Lines are appended; a run that was killed leaves whole lines and at worst a torn last one.
final class OutputIndex: Sendable {
    static let name = ".penumbra-index"
    /// Of files that have to do with pictures, in bytes: a quarter of a million of the largest can be added up.
    static let sizes = 0...1 << 45

    /// Whatever the umask allows: what others may write to is not believed.
    private static let mode: mode_t = 0o644

    /// What was written since the file was opened, and the numbers that it got.
    private struct Numbers {
        var recipes: [RecipeID: Int] = [:]
        var encodings: [OutputEncoding: Int] = [:]
    }

    private struct State {
        var numbers = Numbers()
        /// Of what was written last; nil before that.
        var end: IndexMark?
    }

    /// The folder that all paths in it are below.
    let folder: String
    let path: String
    private let job: JobSpec
    private let calls: FileCalls
    private let state = Mutex(State())

    init(folder: String, job: JobSpec, calls: FileCalls = .kernel) {
        self.folder = folder
        self.job = job
        self.calls = calls
        path = PathNames.joined(folder, Self.name)
    }

    /// Nil when there is none. A link is none, whatever it leads to, nor is a pipe.
    var mark: IndexMark? {
        guard FileSystem.isRegular(path), let stamp = FileSystem.stamp(path) else { return nil }
        return IndexMark(inode: stamp.inode, size: stamp.size)
    }

    /// What it says, and why that is not believed; nil where it is. Its lines decide what is replaced and removed.
    func contents() throws(FileTrouble) -> (said: IndexContents, doubt: FileTrouble?) {
        let lines = try lines()
        let doubt = lines?.doubt.map { reason in
            FileTrouble(
                path: path, code: FileTrouble.refusal, action: "believe the index of the outputs", reason: reason,
                remedy: "if it is right, give it to the user who runs the job, and let only that user write to it "
                    + "(chown, chmod 644); 'penumbra adopt' accepts the outputs one by one")
        }
        return (IndexContents(Data(lines?.bytes ?? []), of: job), doubt)
    }

    /// - Parameter folder: the index's folder, open; nil where its path counts.
    private func lines(in folder: Int32? = nil) throws(FileTrouble) -> (bytes: [UInt8], doubt: String?)? {
        do {
            return try FileSystem.lines(of: path, in: folder)
        } catch {
            throw error.reason == nil ? trouble(error.code, "read the index of the outputs") : error
        }
    }

    private func trouble(_ code: Int32, _ action: String) -> FileTrouble {
        FileTrouble(
            path: path, code: code, action: action,
            remedy: [EACCES, EPERM].contains(code)
                ? "remove this file, or give it and its folder to the user who runs the job: the database knows what is "
                    + "in it" : nil)
    }

    /// Adds outputs that were published and paths that are gone. Waits for the disk: the database must not know more of
    /// this file than a power failure leaves of it.
    ///
    /// - Parameter folder: the index's folder, open.
    /// - Returns: false when what was written before is not in the file any more.
    func append(
        _ records: [OutputRecord], gone: [String] = [], in folder: Int32, texts: (RecipeID) -> String
    ) throws(FileTrouble) -> Bool {
        try state.withLock { (state) throws(FileTrouble) in
            let mark = mark
            // Others may have written since, or a run that was killed a torn line: then it is said again whose lines these are.
            if state.end != mark { state = State() }
            var lines: [IndexLine] = state.end == nil ? [.job(name: job.name, manifest: job.manifestPath)] : []
            for record in records { lines += self.lines(for: record, &state.numbers, texts) }
            lines += gone.map { .gone(path: relative($0)) }
            let begin = state.end == nil && mark.map { $0.size > 0 } == true ? Data([UInt8(ascii: "\n")]) : Data()
            let isWhole = try add(Array(begin + encoded(lines)), in: folder)
            state.end = self.mark
            return isWhole
        }
    }

    /// Says that outputs are another job's no more.
    func append(gone: [String], of publisher: IndexContents.Publisher, in folder: Int32) throws(FileTrouble) {
        try state.withLock { (state) throws(FileTrouble) in
            let lines =
                [.job(name: publisher.name, manifest: publisher.manifest)]
                + gone.map { IndexLine.gone(path: relative($0)) }
            // Whose lines follow is said again.
            state = State()
            _ = try add([UInt8(ascii: "\n")] + Array(encoded(lines)), in: folder)
        }
    }

    private func lines(
        for record: OutputRecord, _ numbers: inout Numbers, _ texts: (RecipeID) -> String
    ) -> [IndexLine] {
        var lines: [IndexLine] = []
        if numbers.recipes[record.recipe] == nil {
            numbers.recipes[record.recipe] = numbers.recipes.count
            lines.append(.recipe(number: numbers.recipes.count - 1, text: texts(record.recipe)))
        }
        if let encoding = record.pixels?.encoding, numbers.encodings[encoding] == nil {
            numbers.encodings[encoding] = numbers.encodings.count
            lines.append(.encoding(number: numbers.encodings.count - 1, made: encoding))
        }
        let output = IndexLine.Output(
            record, path: relative(record.path), recipe: numbers.recipes[record.recipe] ?? 0,
            encoding: record.pixels.flatMap { numbers.encodings[$0.encoding] })
        return lines + [.output(output)]
    }

    private func relative(_ path: String) -> String { PathNames.relative(path, to: folder) ?? path }

    private func encoded(_ lines: [IndexLine]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return lines.reduce(into: Data()) { data, line in
            // Lines hold text and whole numbers, which JSON always can.
            guard let json = try? encoder.encode(line) else { return }
            data += json + [UInt8(ascii: "\n")]
        }
    }

    /// Appends. Where that is not allowed, but the folder is ours, the file is replaced: a run by root leaves an index
    /// that only root may write to. A link is replaced, and not read: whoever put it there chose what it leads to.
    private func add(_ bytes: [UInt8], in folder: Int32) throws(FileTrouble) -> Bool {
        do {
            try FileSystem.append(bytes, to: path, in: folder, mode: Self.mode, syncs: true, calls: calls)
            return true
        } catch {
            guard [EACCES, EPERM, ELOOP, ENXIO].contains(error.code) else { throw error }
            // What others may have written does not become this user's word.
            let old = try lines(in: folder).flatMap { $0.doubt == nil ? $0.bytes : nil }
            try replace(with: (old ?? []) + bytes, in: folder)
            return old != nil
        }
    }

    /// Runs that write here exclude each other; what a killed one has left aside is removed by the next.
    private func replace(with bytes: [UInt8], in folder: Int32) throws(FileTrouble) {
        let aside = Self.name + "-aside"
        do throws(FileTrouble) {
            // By the open folder: another one may have taken its path meanwhile.
            let place = try SafeFolder(reopening: folder, self.folder, calls: calls)
            try place.remove(aside)
            try place.create(aside, bytes, mode: Self.mode, syncs: true)
            do throws(FileTrouble) {
                try place.rename(aside, as: Self.name)
            } catch {
                place.removeTree(aside)
                throw error
            }
        } catch {
            throw trouble(error.code, "write the index of the outputs")
        }
    }

    private func write(_ bytes: [UInt8], by temporary: String) throws(FileTrouble) {
        do {
            try AtomicFile.write(bytes, to: path, by: temporary, mode: Self.mode)
        } catch {
            throw trouble(error.code, "write the index of the outputs")
        }
    }

    /// Writes the file anew with what is known, and what other jobs wrote; by way of `temporary`, in the same folder.
    func rewrite(
        _ records: [OutputRecord], by temporary: String, texts: (RecipeID) -> String
    ) throws(FileTrouble) {
        let (said, doubt) = try contents()
        let others = doubt == nil ? said.others : []
        var data = others.reduce(into: Data()) { $0 += $1 + [UInt8(ascii: "\n")] }
        var numbers = Numbers()
        var lines: [IndexLine] = [.job(name: job.name, manifest: job.manifestPath)]
        for record in records { lines += self.lines(for: record, &numbers, texts) }
        data += encoded(lines)
        try write(Array(data), by: temporary)
        state.withLock { $0 = State() }
    }
}
