import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import SafeFiles
import Synchronization

/// The file `.penumbra-index` beside a job's outputs. It lists what was published. If the database is lost,
/// Penumbra rebuilds it from this file.
///
/// Lines are appended. A killed run leaves complete lines and perhaps a torn last one.
final class OutputIndex: Sendable {
    static let name = ".penumbra-index"
    /// Plausible sizes of files, in bytes. The sum of 250,000 of the largest does not overflow.
    static let sizes = 0...1 << 45

    /// The rights are independent of the umask, because an index that others may write is not trusted.
    private static let mode: mode_t = 0o644

    /// The numbers of recipes and encodings that were written since the file was opened.
    private struct Numbers {
        var recipes: [RecipeID: Int] = [:]
        var encodings: [OutputEncoding: Int] = [:]
    }

    private struct State {
        var numbers = Numbers()
        /// The mark of the file after the last write; nil before it.
        var end: IndexMark?
    }

    /// The folder to which all paths in the index are relative.
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

    /// Nil if there is no regular file. Links and pipes do not count.
    var mark: IndexMark? {
        guard FileSystem.isRegular(path), let stamp = FileSystem.stamp(path) else { return nil }
        return IndexMark(inode: stamp.inode, size: stamp.size)
    }

    /// The contents, and why they are not trusted; nil if they are. The lines decide which files a run replaces
    /// and removes.
    func contents() throws(FileError) -> (contents: IndexContents, distrust: FileError?) {
        let lines = try lines()
        let distrust = lines?.distrustReason.map { reason in
            FileError(
                path: path, code: FileError.refusal, action: "trust the index of the outputs", reason: reason,
                remedy: "if it is right, give it to the user who runs the job, and let only that user write to it "
                    + "(chown, chmod 644); 'penumbra adopt' accepts the outputs one by one")
        }
        return (IndexContents(Data(lines?.bytes ?? []), of: job), distrust)
    }

    /// - Parameter folder: the open folder of the index; nil to use its path.
    private func lines(in folder: Int32? = nil) throws(FileError) -> (bytes: [UInt8], distrustReason: String?)? {
        do {
            return try FileSystem.lines(of: path, in: folder)
        } catch {
            // There may be no index at all.
            if folder == nil, error.isForbidden, access(self.folder, X_OK) != 0 {
                throw FileError(path: self.folder, code: errno, action: "enter the folder")
            }
            throw error.reason == nil ? self.error(error.code, "read the index of the outputs") : error
        }
    }

    private func error(_ code: Int32, _ action: String) -> FileError {
        let remedy: String? =
            switch code {
            case EACCES, EPERM:
                "remove this file, or give it and its folder to the user who runs the job: the database has its records"
            case EISDIR: "a folder that is not empty, or cannot be removed, has this name: move it away, and run again"
            default: nil
            }
        return FileError(path: path, code: code, action: action, remedy: remedy)
    }

    /// Throws if a folder with files has the name of the index. An empty one is replaced when the index is written.
    func refuseFullFolder() throws(FileError) {
        guard FileSystem.isOwnFolder(path), !FileSystem.isEmptyFolder(path) else { return }
        throw error(EISDIR, "write the index of the outputs")
    }

    /// Appends published outputs and missing paths. Waits until the disk has them: after a power failure the
    /// database must not know more than this file.
    ///
    /// - Parameters:
    ///   - areIntents: whether the outputs are still to be renamed to their paths.
    ///   - folder: the open folder of the index.
    /// - Returns: whether the lines that were written before are still in the file.
    func append(
        _ records: [OutputRecord], areIntents: Bool = false, gone: [String] = [], in folder: Int32,
        texts: (RecipeID) -> String
    ) throws(FileError) -> Bool {
        try state.withLock { (state) throws(FileError) in
            let mark = mark
            // Another job may have written since, or a killed run may have left a torn line. Then the line of
            // the job is written again.
            if state.end != mark { state = State() }
            var lines: [IndexLine] = state.end == nil ? [.job(name: job.name, manifest: job.manifestPath)] : []
            for record in records { lines += self.lines(for: record, isIntent: areIntents, &state.numbers, texts) }
            lines += gone.map { .gone(path: relative($0)) }
            let begin = state.end == nil && mark.map { $0.size > 0 } == true ? Data([UInt8(ascii: "\n")]) : Data()
            let isWhole = try add(Array(begin + encoded(lines)), in: folder)
            state.end = self.mark
            return isWhole
        }
    }

    /// Appends that outputs do not belong to another job any more.
    func append(gone: [String], of publisher: IndexContents.Publisher, in folder: Int32) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            let lines =
                [.job(name: publisher.name, manifest: publisher.manifest)]
                + gone.map { IndexLine.gone(path: relative($0)) }
            // The next lines begin with the line of their job.
            state = State()
            _ = try add([UInt8(ascii: "\n")] + Array(encoded(lines)), in: folder)
        }
    }

    private func lines(
        for record: OutputRecord, isIntent: Bool = false, _ numbers: inout Numbers, _ texts: (RecipeID) -> String
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
        return lines + [isIntent ? .intent(output) : .output(output)]
    }

    private func relative(_ path: String) -> String { PathNames.relative(path, to: folder) ?? path }

    private func encoded(_ lines: [IndexLine]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return lines.reduce(into: Data()) { data, line in
            // Lines hold only texts and integers, which can always be encoded.
            guard let json = try? encoder.encode(line) else { return }
            data += json + [UInt8(ascii: "\n")]
        }
    }

    /// Appends bytes. If the file may not be written but the folder may, the file is replaced: a run by root
    /// leaves an index that only root may write. A link is replaced and not read, because another user may have
    /// chosen its target. An empty folder in place of the file is replaced, too.
    private func add(_ bytes: [UInt8], in folder: Int32) throws(FileError) -> Bool {
        do {
            try FileSystem.append(
                bytes, to: path, in: folder, mode: Self.mode, syncs: true, refusesOtherNames: true, calls: calls)
            return true
        } catch {
            guard [EACCES, EPERM, ELOOP, ENXIO, EISDIR, EMLINK].contains(error.code) else { throw error }
            // Lines that other users may have written are not copied.
            let old = try lines(in: folder).flatMap { $0.distrustReason == nil ? $0.bytes : nil }
            try replace(with: (old ?? []) + bytes, in: folder)
            return old != nil
        }
    }

    /// Replaces the file. Runs that write here exclude each other. The next run removes the temporary file of a
    /// killed one.
    private func replace(with bytes: [UInt8], in descriptor: Int32) throws(FileError) {
        let temporary = Self.name + "-aside"
        do throws(FileError) {
            // The open folder is used, because another folder may have taken its path.
            let folder = try SafeFolder(reopening: descriptor, self.folder, calls: calls)
            try folder.remove(temporary)
            try folder.create(temporary, bytes, mode: Self.mode, syncs: true)
            folder.removeIfEmpty(Self.name)
            do throws(FileError) {
                try folder.rename(temporary, as: Self.name)
            } catch {
                folder.removeTree(temporary)
                throw error
            }
        } catch {
            throw self.error(error.code, "write the index of the outputs")
        }
    }

    private func write(_ bytes: [UInt8], by temporary: String) throws(FileError) {
        FileSystem.removeIfEmpty(path)
        do {
            try AtomicFile.write(bytes, to: path, by: temporary, mode: Self.mode)
        } catch {
            throw self.error(error.code, "write the index of the outputs")
        }
    }

    /// Replaces the file by the known records and the lines of other jobs. `temporary` is a path in the same
    /// folder.
    func rewrite(
        _ records: [OutputRecord], by temporary: String, texts: (RecipeID) -> String
    ) throws(FileError) {
        let (old, distrust) = try contents()
        let others = distrust == nil ? old.others : []
        var data = others.reduce(into: Data()) { $0 += $1 + [UInt8(ascii: "\n")] }
        var numbers = Numbers()
        var lines: [IndexLine] = [.job(name: job.name, manifest: job.manifestPath)]
        for record in records { lines += self.lines(for: record, &numbers, texts) }
        data += encoded(lines)
        try write(Array(data), by: temporary)
        state.withLock { $0 = State() }
    }
}

/// One line of a `.penumbra-index`. It is JSON, so that other programs can read it.
///
/// A line of a job says to which job the following lines belong. Lines of recipes and encodings define the
/// numbers in the following lines.
enum IndexLine: Hashable, Sendable, Codable {
    case job(name: String, manifest: String)
    case recipe(number: Int, text: String)
    case encoding(number: Int, made: OutputEncoding)
    case output(Output)
    /// An output that a run was about to rename to its path. The file at the path shows whether it did.
    case intent(Output)
    case gone(path: String)

    struct Output: Hashable, Sendable, Codable {
        /// The path relative to the folder of the index.
        let path: String
        /// The absolute path of the input.
        let input: String
        let page: Int
        let part: Int
        let source: File
        let recipe: Int
        let file: File
        let width: Int
        let height: Int
        let adopted: Bool
        /// As in ``EncodedPixels``. Both are nil if they are not known.
        let pixels: Digest?
        let encoding: Int?
    }

    struct File: Hashable, Sendable, Codable {
        let inode: UInt64
        let size: Int
        let modified: Int64
        let digest: Digest
    }
}

extension IndexLine.File {
    init(_ facts: FileFacts) {
        self.init(
            inode: facts.stamp.inode, size: facts.stamp.size, modified: facts.stamp.modified, digest: facts.digest)
    }

    var facts: FileFacts {
        FileFacts(
            stamp: FileStamp(device: 0, inode: inode, size: size, modified: modified, changed: 0), digest: digest)
    }
}

extension IndexLine.Output {
    init(_ record: OutputRecord, path: String, recipe: Int, encoding: Int?) {
        self.init(
            path: path, input: record.input, page: record.page, part: record.part, source: .init(record.source),
            recipe: recipe, file: .init(record.file), width: record.width, height: record.height,
            adopted: record.isAdopted, pixels: record.pixels?.digest, encoding: encoding)
    }

    /// - Parameter encodings: the list in which ``encoding`` is an index.
    func record(in folder: String, recipe: RecipeID, encodings: [OutputEncoding]) -> OutputRecord {
        let encoded = pixels.flatMap { digest in
            encoding.map { EncodedPixels(digest: digest, encoding: encodings[$0]) }
        }
        return OutputRecord(
            path: PathNames.joined(folder, path), input: input, page: page, part: part,
            source: source.facts, recipe: recipe, file: file.facts, width: width, height: height, isAdopted: adopted,
            pixels: encoded)
    }
}

/// The contents of a `.penumbra-index` for one job.
struct IndexContents {
    /// The outputs by path relative to the index's folder. Later lines replace earlier ones.
    private(set) var outputs: [PathKey: IndexLine.Output] = [:]
    /// The texts of recipes. The outputs have indexes in this list.
    private(set) var recipes: [String] = []
    /// The encodings. The outputs have indexes in this list.
    private(set) var encodings: [OutputEncoding] = []
    /// The jobs that published the outputs.
    private(set) var jobs: [PathKey: Publisher] = [:]
    /// By path, too: outputs that were about to be renamed to their paths; see ``settled(below:by:)``.
    private var intents: [PathKey: (output: IndexLine.Output, job: Publisher)] = [:]
    /// Whether the job has lines of intents, even if lines of their outputs follow.
    private(set) var hasIntents = false
    /// The lines of other jobs, unchanged.
    private(set) var others: [Data] = []

    private var recipeIndexes: [String: Int] = [:]
    private var encodingIndexes: [OutputEncoding: Int] = [:]
    /// The indexes by the numbers in the file.
    private var numbers: [Int: Int] = [:]
    private var encodingNumbers: [Int: Int] = [:]
    private var isOurs = false
    private var job = Publisher(name: "", manifest: "")

    /// A job as an index names it.
    struct Publisher: Hashable {
        let name: String
        let manifest: String
    }

    /// Lines that cannot be decoded are left out: a killed run may have torn the last one.
    ///
    /// - Parameter job: nil for all jobs.
    init(_ data: Data, of job: JobSpec?) {
        let decoder = JSONDecoder()
        for line in data.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? decoder.decode(IndexLine.self, from: line) else {
                // A newer version may have written the line.
                if !isOurs { others.append(Data(line)) }
                continue
            }
            if case .job(let name, let manifest) = entry {
                self.job = Publisher(name: name, manifest: manifest)
                isOurs = job.map { name == $0.name && PathKey(manifest) == PathKey($0.manifestPath) } ?? true
                (numbers, encodingNumbers) = ([:], [:])
            }
            if isOurs { add(entry) } else { others.append(Data(line)) }
        }
    }

    private mutating func add(_ line: IndexLine) {
        switch line {
        case .job: break
        case .recipe(let number, let text): numbers[number] = index(of: text)
        case .encoding(let number, let encoding): encodingNumbers[number] = index(of: encoding)
        case .output(let output):
            guard let output = readable(output) else { return }
            let key = PathKey(output.path)
            (outputs[key], jobs[key], intents[key]) = (output, job, nil)
        case .intent(let output):
            hasIntents = true
            guard let output = readable(output) else { return }
            intents[PathKey(output.path)] = (output, job)
        case .gone(let path):
            let key = PathKey(path)
            // Another job may have published this path since.
            if jobs[key] == job { outputs[key] = nil }
            if intents[key]?.job == job { intents[key] = nil }
        }
    }

    /// The output with indexes in ``recipes`` and ``encodings``; nil if it is left out.
    private func readable(_ output: IndexLine.Output) -> IndexLine.Output? {
        guard output.isPlausible, let recipe = numbers[output.recipe] else { return nil }
        return output.with(recipe: recipe, encoding: output.encoding.flatMap { encodingNumbers[$0] })
    }

    /// The contents with each intent as an output if its file is at the path. The run was killed before it wrote the line
    /// of the output.
    ///
    /// - Parameter folder: the folder of the index.
    func settled(below folder: String, by compare: ComparePolicy = .stamp) -> IndexContents {
        var contents = self
        for (key, intent) in intents {
            let record = intent.output.record(in: folder, recipe: RecipeID(index: 0), encodings: encodings)
            if record.isInPlace(by: compare) {
                (contents.outputs[key], contents.jobs[key]) = (intent.output, intent.job)
            }
        }
        return contents
    }

    private mutating func index(of text: String) -> Int {
        if let index = recipeIndexes[text] { return index }
        recipes.append(text)
        recipeIndexes[text] = recipes.count - 1
        return recipes.count - 1
    }

    private mutating func index(of encoding: OutputEncoding) -> Int {
        if let index = encodingIndexes[encoding] { return index }
        encodings.append(encoding)
        encodingIndexes[encoding] = encodings.count - 1
        return encodings.count - 1
    }
}

extension IndexLine.Output {
    /// Whether the paths lead to files below the folder, and the numbers are possible for files and pictures.
    /// Other lines are left out, because other users may write to the folder.
    fileprivate var isPlausible: Bool {
        let parts = path.utf8.split(separator: PathNames.slash, omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        let pixels = 0...Int(UInt32.max)
        return isBelow && !path.utf8.contains(0) && PathNames.isAbsolute(input)
            && OutputIndex.sizes.contains(source.size)
            && OutputIndex.sizes.contains(file.size)
            && pixels.contains(page) && pixels.contains(part) && pixels.contains(width) && pixels.contains(height)
    }

    fileprivate func with(recipe: Int, encoding: Int?) -> IndexLine.Output {
        IndexLine.Output(
            path: path, input: input, page: page, part: part, source: source, recipe: recipe, file: file,
            width: width, height: height, adopted: adopted, pixels: pixels, encoding: encoding)
    }
}
