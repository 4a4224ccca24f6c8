import CCrashRecord
import Catalogs
import Confinement
import Digests
import FileAccess
import FilterKitTesting
import Filters
import Geometry
import Glibc
import ImageFiles
import JobModel
import PluginLoading
import Raster
import WorkerProtocol

/// The commands of a worker program for plugins.
enum PluginCommands {
    /// Prints the result of each check as a line of JSON. The caller kills this process if a plugin hangs.
    static func check(_ path: String, _ sandbox: WorkerSandbox) throws {
        sandbox.prepare()
        _ = try sandbox.checking(path).enter()
        let channel = Channel()
        let noise = PrintedNoise()
        func say(_ finding: PluginFinding) {
            // If the coordinator is gone, nobody needs the findings.
            try? channel.send(bytes: (FrameCodec.json(finding)) + [UInt8(ascii: "\n")])
        }
        channel.recordCrashes(showing: noise)
        let calling = FilterContract.Calling { what, call in
            // Without the message, a crash is reported without its tile.
            guard let message = try? FrameCodec.json(PluginFinding.crashed(on: what)) else { return call() }
            return CrashMessage(message + [UInt8(ascii: "\n")]).prepared(call)
        }
        PluginCheck.run(
            path, reservedNames: InstalledPlugins.reservedNames, measuringMemory: true, calling: calling
        ) { name in
            say(.begins(name))
        } report: { name, outcome in
            switch outcome {
            case .kept: say(.kept(name))
            case .broken(let how): say(.broken(name, how: how))
            case .skipped(let why): say(.skipped(name, why: why))
            }
        }
        let bytes = noise.count
        say(
            bytes == 0
                ? .kept("silence") : .broken("silence", how: "it printed \(bytes) bytes; a plugin prints nothing"))
    }

    /// Lists all plugins that rendering workers use.
    static func list(_ sandbox: WorkerSandbox) throws {
        let channel = Channel()
        let installed = try InstalledPlugins(cancellation: TaskCancellation(), sandbox)
        let facts = installed.plugins.map {
            PluginFacts(
                name: $0.name, version: $0.version, summary: $0.entry.descriptor.summary, path: $0.path,
                sha256: SHA256.digest(ofFile: $0.path) ?? "")
        }
        let list = PluginList(plugins: facts, problems: installed.problems, unpinned: installed.unpinned)
        try channel.send(bytes: FrameCodec.json(list))
    }
}

/// Redirects standard output and standard error to a pipe, to detect prints.
struct PrintedNoise {
    private let reader: Int32
    /// Standard error, as it was before.
    private let outside: Int32

    init() {
        outside = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            reader = -1
            return
        }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        for output in [STDOUT_FILENO, STDERR_FILENO] { dup2(ends[1], output) }
        close(ends[1])
        reader = ends[0]
    }

    /// If a thread crashes, standard error gets what was printed. It often says why.
    func showIfCrashed() { crash_record_replay(reader, outside) }

    /// The number of bytes that were written, up to the pipe's capacity.
    var count: Int {
        fflush(nil)
        var buffer = [UInt8](repeating: 0, count: 65536)
        return max(0, read(reader, &buffer, buffer.count))
    }
}

/// Answers questions about chains that only a worker can answer: it has the filters and reads pictures.
struct ChainExaminer {
    private let toolbox: Toolbox
    /// Has the pictures of the question open.
    private let opener: FileOpener

    /// Reads the question from standard input. The caller kills this process if a plugin hangs.
    ///
    /// - Parameter toolbox: Confines this process. The pictures are opened before, because later they cannot be.
    static func answer(on channel: Channel, with toolbox: () throws -> Toolbox) throws {
        var bytes: [UInt8] = []
        while let more = channel.receive() { bytes += more.bytes }
        let question = try FrameCodec.decode(ExaminedChains.self, from: bytes)
        let opener = FileOpener(
            read: Dictionary(
                uniqueKeysWithValues: Set(question.pictures.map { Array($0.path.utf8) }).map { ($0, opened($0)) }),
            created: [:], scratch: nil)
        let examiner = ChainExaminer(toolbox: try toolbox(), opener: opener)
        try channel.send(bytes: FrameCodec.json(examiner.examination(of: question)))
    }

    private static func opened(_ path: [UInt8]) -> FileOpener.Handed {
        do {
            // Without O_NONBLOCK a pipe would block here.
            return .descriptor(try FileOpener().open(path, O_RDONLY | O_NONBLOCK).descriptor)
        } catch {
            return .failed(error.code)
        }
    }

    private func examination(of question: ExaminedChains) -> Examination {
        let registry = toolbox.registryWithoutPictures(opener)
        return Examination(
            filters: question.filters.map { examination(of: $0, registry) },
            pictures: question.pictures.map { picture in
                PictureCache.problem(
                    with: picture.path, picture.kind, opener,
                    DecodeLimits(maxPixels: picture.maxPixels, scratchFolder: nil))
            })
    }

    private func examination(of invocation: FilterInvocation, _ registry: FilterRegistry) -> Examination.Filter {
        do {
            // What such a filter does depends on the picture. Its values are checked like those of others.
            let dot = PixelRect(x: 0, y: 0, width: 1, height: 1)
            guard try registry.makeMeasure(invocation, of: dot, .gray, .u8) == nil else { return .works }
            return try registry.makeFilter(invocation).isIdentity ? .changesNothing : .works
        } catch let error as FilterError {
            return .impossible(error.reason)
        } catch {
            return .impossible("\(error)")
        }
    }
}
