package import Catalogs
package import Coordination
package import Engines
import FoundationEssentials
import Glibc
package import JobModel
package import Manifests
package import Planning
package import Runs
import SafeFiles
package import Scheduling
package import Settings
import Synchronization
import WorkerProtocol

/// Reads all manifests of a request before anything starts.
package struct ManifestFiles: Sendable {
    package let manifests: [RunRequest.Manifest]
    package let overrides: [String]
    /// The folder where relative paths start.
    package let folder: String
    package let catalog: Catalog
    package let settings: Settings
    /// A stop ends the wait for a pipe.
    package let control: RunControl?

    package struct Outcome {
        /// The jobs in the order of the command line, without those that have errors.
        package var jobs: [JobSpec] = []
        /// The filters of each job, in their order.
        package var filters: [[FilterMention]] = []
        package var problems: [ManifestProblem] = []
        /// The problems as text for a person.
        package var texts: [String] = []
        /// The outcome of the command if a manifest could not be read at all.
        package var unread: RunOutcome?
        package var hasErrors: Bool { problems.contains { $0.isError } }

        package init() {}

        /// The outcome of one manifest.
        package init(_ result: ReadResult, of path: String) { add(result, of: path) }

        /// Adds a warning that belongs to no manifest.
        package mutating func warn(_ message: String) {
            texts.append("warning: \(message)")
            problems.append(ManifestProblem(manifest: "", message: message, isError: false))
        }

        package mutating func add(_ result: ReadResult, of path: String) {
            if let job = result.job {
                jobs.append(job)
                filters.append(result.filters)
            }
            texts += result.messages
            for diagnostic in result.diagnostics {
                let argument = result.sources[diagnostic.span.source].argument(ofLine: diagnostic.position.line)
                problems.append(
                    ManifestProblem(
                        manifest: argument?.name ?? path, message: diagnostic.problem.words.message,
                        isError: diagnostic.severity == .error, remedy: diagnostic.problem.words.remedy,
                        line: argument == nil ? diagnostic.position.line : nil,
                        column: argument?.column(for: diagnostic.position.column) ?? diagnostic.position.column))
            }
        }
    }

    /// Reads all manifests, even if one of them cannot be read, so that all problems are reported.
    package func read() -> Outcome { outcome(of: results()) { $0 } }

    /// Reads all manifests, and adds what only workers know of filters and their pictures.
    package func examined(by worker: WorkerCommand) async -> Outcome {
        let results = results()
        let examination = await WorkerChecks(results.compactMap { try? $0.result.get() }, by: worker)
        var outcome = outcome(of: results, examination.adding)
        if let failure = examination.failure { outcome.warn("the filters could not be examined: \(failure)") }
        return outcome
    }

    /// Reads all manifests, and adds what would fail every frame and only workers know: values that a filter refuses, and
    /// pictures of filters that cannot be read.
    ///
    /// - Parameter decodesPictures: false leaves the pictures to the first frame.
    package func checkedForRun(by worker: WorkerCommand, decodesPictures: Bool = true) async -> Outcome {
        let results = results()
        // If the workers do not answer, the first frame reports the problem.
        let checks = await WorkerChecks(
            forRunOf: results.compactMap { try? $0.result.get() }, catalog, by: worker, decodesPictures: decodesPictures
        )
        return outcome(of: results, checks.adding)
    }

    package init(_ request: RunRequest, catalog: Catalog, settings: Settings, control: RunControl?) {
        (manifests, overrides, folder) = (request.manifests, request.overrides, request.folder)
        (self.catalog, self.settings, self.control) = (catalog, settings, control)
    }

    /// Absolute paths, with the links in the given paths.
    package var paths: [String] { manifests.map { PathText.normalized($0.path, in: folder) } }

    /// The contents of the manifests; nil for one that cannot be read.
    package func texts() -> [[UInt8]?] {
        manifests.map { manifest in
            do throws(FarmError) { return try contents(of: manifest) } catch { return nil }
        }
    }

    private typealias Reading = (path: String, result: Result<ReadResult, FarmError>)

    private func results() -> [Reading] {
        manifests.map { manifest in
            (manifest.path, Result { () throws(FarmError) in read(try contents(of: manifest), manifest.path) })
        }
    }

    private func outcome(of results: [Reading], _ changed: (ReadResult) -> ReadResult) -> Outcome {
        var outcome = Outcome()
        for (path, result) in results {
            switch result {
            case .success(let result): outcome.add(changed(result), of: path)
            case .failure(let error):
                outcome.unread = outcome.unread ?? error.outcome
                outcome.texts.append(error.message)
                outcome.problems.append(ManifestProblem(manifest: path, message: error.message, isError: true))
            }
        }
        return outcome
    }

    private func read(_ bytes: [UInt8], _ path: String, more: [Override] = []) -> ReadResult {
        var result = JobReader.read(
            bytes: bytes, path: path, realPath: realPath(PathText.normalized(path, in: folder)),
            catalog: catalog, overrides: overrides.map { Override($0) } + more,
            shared: settings.sharedParameters, inspect: FilterPictures.inspect)
        for picture in result.pictures where picture.isTemplate {
            let missing = PictureTemplate(path: picture.path).fixedFolder
            guard !FileSystem.isFolder(missing) else { continue }
            result.addMissing(folder: PathText.shown(missing, from: folder), of: picture)
        }
        return result
    }

    /// A function that reads a job's manifest again, with more overrides.
    package func rereader() -> @Sendable (JobSpec, [Override]) throws -> ReadResult {
        let known = Mutex<[PathKey: (path: String, bytes: [UInt8])]>([:])
        return { job, overrides in
            let key = PathKey(job.manifestPath)
            let manifest = try known.withLock { known in
                if let manifest = known[key] { return manifest }
                let manifest =
                    manifests.first { PathKey(realPath(PathText.normalized($0.path, in: folder))) == key }
                    ?? RunRequest.Manifest(path: job.manifestPath)
                let read = (manifest.path, try contents(of: manifest))
                known[key] = read
                return read
            }
            return read(manifest.bytes, manifest.path, more: overrides)
        }
    }

    /// Reads a megabyte and one byte, so that the reader can refuse a longer manifest.
    private func contents(of manifest: RunRequest.Manifest) throws(FarmError) -> [UInt8] {
        if let text = manifest.text { return Array(text.utf8) }
        do {
            return try InputArgument.read(manifest.path, in: folder, limit: (1 << 20) + 1, control: control)
        } catch {
            throw error.error { "\(PathText.visible(manifest.path)): the manifest cannot be read: \($0)" }
        }
    }
}

/// An error in a manifest, or a warning.
package struct ManifestProblem: Hashable, Sendable {
    /// The manifest as it was named; empty if the problem belongs to none.
    package let manifest: String
    package let message: String
    package let isError: Bool
    /// What to do about it.
    package var remedy: String?
    /// Counted from 1.
    package var line: Int?
    package var column: Int?
}

extension RunListener {
    /// - Throws: a reported ``FarmError`` if a manifest has errors.
    package func jobs(_ outcome: ManifestFiles.Outcome) throws(FarmError) -> [JobSpec] {
        receive(.manifests(outcome))
        guard outcome.hasErrors else { return outcome.jobs }
        let isOnlyProblem = outcome.problems.count(where: \.isError) == 1
        var result = RunOutcome.badManifest
        // A signal decides the outcome, even if there are other problems.
        if let unread = outcome.unread, isOnlyProblem || unread != .missingInput { result = unread }
        throw FarmError(result, outcome.texts.joined(separator: "\n"), isReported: true)
    }
}

/// What only workers know of manifests: filters that change nothing, filters with impossible values, and files that are not
/// pictures.
package struct WorkerChecks {
    private let filters: [FilterInvocation: Examination.Filter]
    private let pictureProblems: [ExaminedChains.Picture: String]
    /// Whether filters that change nothing are reported.
    private let warnsOfIdle: Bool
    /// Why the workers did not answer.
    package let failure: String?

    package init(_ results: [ReadResult], by worker: WorkerCommand) async {
        let filters = Array(Set(Self.known(results)))
        await self.init(ExaminedChains(filters: filters, pictures: Self.pictures(results)), worker, warnsOfIdle: true)
    }

    /// Checks filters that may refuse values which the reader accepts, and the pictures that filters name. If a manifest has
    /// neither, no worker is started.
    package init(
        forRunOf results: [ReadResult], _ catalog: Catalog, by worker: WorkerCommand, decodesPictures: Bool = true
    ) async {
        let refusing = catalog.refusingFilters
        let filters = Set(Self.known(results))
            .filter { refusing.contains($0.filter) }
        let pictures = decodesPictures ? Self.pictures(results) : []
        await self.init(ExaminedChains(filters: Array(filters), pictures: pictures), worker, warnsOfIdle: false)
    }

    /// The filters that a worker can make without an input.
    private static func known(_ results: [ReadResult]) -> [FilterInvocation] {
        results.flatMap(\.filters).map(\.invocation.withoutFilesOfInputs)
    }

    private static func pictures(_ results: [ReadResult]) -> [ExaminedChains.Picture] {
        Array(
            Set(results.flatMap { result in result.pictures.filter { !$0.isTemplate }.map { picture($0, of: result) } })
        )
    }

    private init(_ chains: ExaminedChains, _ worker: WorkerCommand, warnsOfIdle: Bool) async {
        self.warnsOfIdle = warnsOfIdle
        let nothing = Examination(filters: [], pictures: [])
        var (examination, failure): (Examination, String?) = (nothing, nil)
        do throws(WorkerQueryError) {
            if !chains.filters.isEmpty || !chains.pictures.isEmpty {
                examination = try await worker.examine(chains)
            }
        } catch {
            failure = error.message
        }
        self.failure = failure
        filters = Dictionary(uniqueKeysWithValues: zip(chains.filters, examination.filters))
        let problems = zip(chains.pictures, examination.pictures).compactMap { picture, problem in
            problem.map { (picture, $0) }
        }
        pictureProblems = Dictionary(uniqueKeysWithValues: problems)
    }

    private static func picture(_ mention: PictureMention, of result: ReadResult) -> ExaminedChains.Picture {
        // A manifest with errors has no limit. Other problems of its pictures are reported nevertheless.
        ExaminedChains.Picture(path: mention.path, maxPixels: result.job?.maxPixels ?? .max, kind: mention.kind)
    }

    /// Whether all filters of a chain change no pixel of any picture. False for an empty chain.
    package func changeNothing(_ chain: [FilterMention]) -> Bool {
        !chain.isEmpty
            && chain.allSatisfy { $0.isKnownAsIdle || filters[$0.invocation.withoutFilesOfInputs] == .changesNothing }
    }

    /// The result, with problems of its filters and pictures.
    package func adding(to result: ReadResult) -> ReadResult {
        var examined = result
        for filter in result.filters {
            switch filters[filter.invocation.withoutFilesOfInputs] {
            case .changesNothing: if warnsOfIdle { examined.addIdle(filter) }
            case .impossible(let reason): examined.add(reason, of: filter)
            case .works, nil: break
            }
        }
        for mention in result.pictures {
            if let problem = pictureProblems[Self.picture(mention, of: result)] { examined.add(problem, of: mention) }
        }
        return examined
    }
}

/// Reads a file that the user named: a manifest, or a list of files. It may be a pipe whose writer takes its time.
/// A stop ends the wait.
package enum InputArgument {
    package enum ReadError: Error {
        /// The file system's error number.
        case system(Int32)
        case stopped(StopReason)

        /// - Parameter words: makes the message from the system's error text.
        package func error(_ words: (String) -> String) -> FarmError {
            switch self {
            case .system(let code):
                FarmError(.missingInput, words(String(cString: strerror(code))) + Self.remedy(for: code))
            case .stopped(let reason): FarmError(RunOutcome(reason), reason.message())
            }
        }

        private static func remedy(for code: Int32) -> String {
            switch code {
            case ENOENT, ENOTDIR: "\n   = look for a misspelt name; a relative path starts from the current folder"
            case EISDIR: "\n   = it is a folder: name a file in it"
            case EACCES, EPERM: "\n   = let the user who runs the command read it"
            default: ""
            }
        }
    }

    /// How often the reader checks for a stop while nothing comes, in milliseconds.
    private static let pause: Int32 = 100

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - folder: the folder where a relative path starts.
    ///   - limit: the most bytes to read. The rest is left out.
    package static func read(_ path: String, in folder: String, limit: Int, control: RunControl?) throws(ReadError)
        -> [UInt8]
    {
        // Without O_NONBLOCK the call would wait for the other end of a pipe.
        let isInput = path == "-"
        let descriptor =
            isInput
            ? STDIN_FILENO : open(PathText.normalized(path, in: folder), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&asked, 1, pause) > 0 else {
                // This is checked only while the pipe is empty. Later steps check for a stop, too.
                if let reason = control?.stop { throw .stopped(reason) }
                continue
            }
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}

/// Reads the list of `--files-from`.
package enum ListedFiles {
    /// The size of a list in bytes that is too large.
    private static let most = 1 << 32

    /// - Parameters:
    ///   - name: `-` for the standard input; nil for no list.
    ///   - folder: the folder where relative paths start.
    /// - Throws: ``FarmError`` with all problems of the list.
    package static func list(
        _ name: String?, in folder: String, control: RunControl?
    ) throws(FarmError) -> FileList? {
        guard let name else { return nil }
        let bytes = try read(name, in: folder, control: control)
        do {
            return try FileList(bytes, name: name, folder: folder)
        } catch {
            throw FarmError(.badManifest, error.message)
        }
    }

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - folder: the folder where a relative path starts.
    package static func read(_ path: String, in folder: String, control: RunControl?) throws(FarmError) -> [UInt8] {
        do throws(InputArgument.ReadError) {
            let bytes = try InputArgument.read(path, in: folder, limit: most, control: control)
            if bytes.count == most { throw InputArgument.ReadError.system(EFBIG) }
            return bytes
        } catch {
            throw error.error { "\(PathText.visible(path)): the list of files cannot be read: \($0)" }
        }
    }
}
