import Catalogs
import Dispatching
import FoundationEssentials
import Glibc
import JobModel
import Manifests
import Planning
import Settings

/// Reads the manifests of a command line, all of them before anything starts.
struct ManifestFiles {
    let options: ManifestOptions
    let catalog: Catalog
    let settings: Settings

    struct Outcome {
        /// In the order of the command line; those with errors are missing.
        var jobs: [JobSpec] = []
        /// Of each of the jobs, in the order of its filters.
        var filters: [[FilterMention]] = []
        var problems: [ProblemLine] = []
        /// As they are printed for a person.
        var texts: [String] = []
        /// How the command ends because a manifest could not be read at all.
        var unread: ExitStatus?
        var hasErrors: Bool { problems.contains { $0.severity == "error" } }

        init() {}

        /// Of one manifest.
        init(_ result: ReadResult, of path: String) { add(result, of: path) }

        /// Of no one manifest.
        mutating func warn(_ message: String) {
            texts.append("warning: \(message)")
            problems.append(ProblemLine(manifest: "", message: message, severity: "warning"))
        }

        mutating func add(_ result: ReadResult, of path: String) {
            if let job = result.job {
                jobs.append(job)
                filters.append(result.filters)
            }
            texts += result.messages
            for diagnostic in result.diagnostics {
                problems.append(
                    ProblemLine(
                        manifest: path, message: diagnostic.problem.words.message,
                        severity: diagnostic.severity.rawValue, remedy: diagnostic.problem.words.remedy,
                        line: diagnostic.position.line, column: diagnostic.position.column))
            }
        }
    }

    /// Goes on after a manifest that cannot be read, so that the others' problems are told too.
    func read() -> Outcome { outcome(of: results()) { $0 } }

    /// The same with what only workers know of filters and of the pictures that these read.
    func examined(by worker: WorkerCommand) async -> Outcome {
        let results = results()
        let examination = await ExaminedManifests(results.compactMap { try? $0.result.get() }, by: worker)
        var outcome = outcome(of: results, examination.adding)
        if let failure = examination.failure { outcome.warn("the filters could not be examined: \(failure)") }
        return outcome
    }

    /// The same with what only workers know of the pictures that filters read, which no frame could be rendered without.
    func withExaminedPictures(by worker: WorkerCommand) async -> Outcome {
        let results = results()
        // Where nothing is known the first frame tells.
        let examination = await ExaminedManifests(picturesOf: results.compactMap { try? $0.result.get() }, by: worker)
        return outcome(of: results, examination.adding)
    }

    /// Absolute, with the links that the manifests were named by.
    var paths: [String] { options.manifests.map { PathText.normalized($0, in: currentFolder()) } }

    /// What the manifests' files hold; nil for one that cannot be read.
    func texts() -> [[UInt8]?] {
        options.manifests.map { path in
            do throws(CommandError) { return try Self.contents(of: path) } catch { return nil }
        }
    }

    private typealias Reading = (path: String, result: Result<ReadResult, CommandError>)

    private func results() -> [Reading] {
        options.manifests.map { path in
            (path, Result { () throws(CommandError) in read(try Self.contents(of: path), path) })
        }
    }

    private func outcome(of results: [Reading], _ changed: (ReadResult) -> ReadResult) -> Outcome {
        var outcome = Outcome()
        for (path, result) in results {
            switch result {
            case .success(let result): outcome.add(changed(result), of: path)
            case .failure(let error):
                outcome.unread = outcome.unread ?? error.status
                outcome.texts.append(error.message)
                outcome.problems.append(ProblemLine(manifest: path, message: error.message, severity: "error"))
            }
        }
        return outcome
    }

    private func read(_ bytes: [UInt8], _ path: String, more: [Override] = []) -> ReadResult {
        JobReader.read(
            bytes: bytes, path: path, realPath: realPath(PathText.normalized(path, in: currentFolder())),
            catalog: catalog, overrides: options.overrides.map { Override($0) } + more,
            shared: settings.sharedParameters, look: FilterPictures.look)
    }

    /// Reads a job's manifest again with more overrides, as often as it is asked.
    func rereader() -> (JobSpec, [Override]) throws -> ReadResult {
        var known: [PathKey: (path: String, bytes: [UInt8])] = [:]
        return { job, overrides in
            let key = PathKey(job.manifestPath)
            if known[key] == nil {
                let path = options.manifests.first {
                    PathKey(realPath(PathText.normalized($0, in: currentFolder()))) == key
                }
                known[key] = (path ?? job.manifestPath, try Self.contents(of: path ?? job.manifestPath))
            }
            let manifest = known[key]
            return read(manifest?.bytes ?? [], manifest?.path ?? job.manifestPath, more: overrides)
        }
    }

    /// A manifest has at most a megabyte; the reader says so of a longer one.
    private static func contents(of path: String) throws(CommandError) -> [UInt8] {
        do {
            return try GivenFile.read(path, limit: (1 << 20) + 1)
        } catch {
            throw error.error { "\(PathText.visible(path)): the manifest cannot be read: \($0)" }
        }
    }
}

func currentFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}
