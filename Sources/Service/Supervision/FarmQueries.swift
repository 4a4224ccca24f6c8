package import Catalogs
import Coordination
import Engines
import FoundationEssentials
import JobModel
import Manifests
package import Queueing
import Runs
import SafeFiles
import Synchronization

/// What the API asks of the farm without a run.
package protocol FarmQueries: Sendable {
    /// The filters and formats of this machine's workers.
    func catalog() async throws -> Catalog

    /// A JSON Schema of manifests with these filters and formats.
    func schema() async throws -> String

    /// The text of a manifest: the one that was handed in, or what its file has now.
    ///
    /// - Parameter name: of the file that an uploaded text stands for, without its ending.
    /// - Throws: ``ManifestRefusal``, ``FolderRefusal``.
    func text(of place: ManifestSource.Place, name: String, _ options: RunOptions) async throws -> String

    /// What `penumbra plan --json` prints.
    ///
    /// - Parameters:
    ///   - name: of the file that an uploaded text stands for, without its ending.
    ///   - owner: who asks. Owners take turns.
    /// - Throws: ``FarmQueryError``, ``FileError``, ``ManifestRefusal``.
    func plan(
        _ place: ManifestSource.Place, name: String, _ options: RunOptions, for owner: Owner
    ) async throws -> String

    /// The PNG file that `penumbra preview` writes.
    ///
    /// - Throws: ``FarmQueryError``, ``FileError``, ``ManifestRefusal``, ``FolderRefusal``.
    func preview(_ query: PreviewQuery, for owner: Owner) async throws -> [UInt8]

    /// What `penumbra verify --json` prints.
    ///
    /// - Parameter outputs: absolute paths, at most ``FarmCommands/longestList`` of them.
    /// - Throws: ``FarmQueryError``.
    func verify(_ outputs: [String], for owner: Owner) async throws -> String
}

/// Why a command gave no answer.
package enum FarmQueryError: Error, Hashable, Sendable {
    /// Too many of them are at work.
    case busy
    /// The command refused what it was asked. The message is its own.
    case refused(String)
    /// It could not be started, or took too long.
    case failed(String)

    package var message: String {
        switch self {
        case .busy: "too many plans, previews and checks of outputs are being made\n   = ask again in some seconds"
        case .refused(let message), .failed(let message): message
        }
    }
}

/// Asks by commands of `penumbra`, each a process of its own with a time limit.
///
/// They may read a hundred thousand headers. A command that fails, or needs too much memory, costs the service nothing.
package final class FarmCommands: FarmQueries {
    /// The most outputs that one command verifies. Their paths are arguments, of which the kernel takes 2 MB.
    package static let longestList = 400
    private static let planTime = Duration.seconds(60)
    private static let verifyTime = Duration.seconds(300)
    private static let longestAnswer = 16 << 20

    /// Variables that are the service's alone: a secret, and what systemd tells its services.
    static let environment: [String: String?] = [
        "PENUMBRA_TOKEN": nil, "NOTIFY_SOCKET": nil, "LISTEN_PID": nil, "LISTEN_FDS": nil, "LISTEN_FDNAMES": nil,
        "WATCHDOG_PID": nil,
        "WATCHDOG_USEC": nil,
    ]

    private let program: String
    private let checker: FarmManifestChecker
    /// Where manifests lie while they are planned.
    private let folder: String
    private let arguments: [String]
    private let places: CommandPlaces
    private let texts = Mutex(0)
    let previews: PreviewCommands

    /// - Parameters:
    ///   - program: the path of `penumbra`.
    ///   - folder: a folder of the service's own, which exists.
    ///   - arguments: those that each command gets, such as `--state-dir`.
    ///   - places: for plans and checks of outputs.
    ///   - previews: makes previews.
    package init(
        program: String, checker: FarmManifestChecker, folder: String, arguments: [String], places: CommandPlaces,
        previews: PreviewCommands
    ) {
        self.places = places
        self.previews = previews
        self.program = program
        self.checker = checker
        self.folder = folder
        self.arguments = arguments
    }

    package func catalog() async throws -> Catalog { try await checker.catalog() }

    package func schema() async throws -> String { ManifestSchema(try await catalog()).json }

    package func text(
        of place: ManifestSource.Place, name: String, _ options: RunOptions
    ) async throws -> String {
        let bytes = try await Blocking.run { [checker] in try checker.contents(of: place, name: name, options) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ManifestRefusal(
                manifest: place.path(name: name), errors: [ManifestFault(message: "the manifest is not UTF-8 text")],
                outcome: .badManifest)
        }
        return text
    }

    package func plan(
        _ place: ManifestSource.Place, name: String, _ options: RunOptions, for owner: Owner
    ) async throws -> String {
        try await places.withPlace(for: owner) { [self] in
            var words = ["plan", "--json"] + (options.isForced ? ["--force"] : [])
            words += options.overrides.flatMap { ["--set", $0] }
            // Never the path: somebody could have put a link to another file there since the check.
            let text = try await Blocking.run { [checker] in try checker.contents(of: place, name: name, options) }
            let number = texts.withLock { texts in
                texts += 1
                return texts
            }
            let file = "\(folder)/plan-\(number).yaml"
            try await Blocking.run { () throws(FileError) in
                try AtomicFile.write(text, to: file, by: file + ".new", mode: 0o600)
            }
            defer { FileSystem.remove(file) }
            return try await answer(
                words + ["--manifest-path", place.path(name: name)] + arguments + ["--", file],
                within: Self.planTime)
        }
    }

    package func preview(_ query: PreviewQuery, for owner: Owner) async throws -> [UInt8] {
        let text = try await Blocking.run { [checker] in
            try checker.contents(of: query.place, name: query.name, query.options)
        }
        return try await previews.preview(query, manifest: text, for: owner)
    }

    package func verify(_ outputs: [String], for owner: Owner) async throws -> String {
        try await places.withPlace(for: owner) { [self] in
            let words = ["verify", "--json"] + arguments + ["--"] + outputs.prefix(Self.longestList)
            return try await answer(words, within: Self.verifyTime)
        }
    }

    // MARK: Commands

    private func answer(_ words: [String], within limit: Duration) async throws(FarmQueryError) -> String {
        let runner = CommandRunner(limit: limit, longestOutput: Self.longestAnswer)
        let subject = "'penumbra \(words[0])'"
        let answer: CommandRunner.Answer
        do throws(CommandError) {
            answer = try await runner.run(program, words, environment: Self.environment)
        } catch {
            throw FarmQueryError(error, subject, program)
        }
        switch answer.exitCode.flatMap({ RunOutcome(number: Int($0)) }) {
        // Frames that would fail, and outputs that are not as they were published, are answers.
        case .done, .someFailed: return answer.output
        case .usage, .badManifest, .missingInput, .busy:
            throw .refused(Self.message(in: answer) ?? "\(subject) has ended with \(answer.status)")
        default: throw .failed(Self.message(in: answer) ?? "\(subject) has ended with \(answer.status)")
        }
    }

    private struct ProblemLine: Decodable {
        let event: String
        let severity: String
        let message: String
    }

    /// The last error that a command has printed, with what to do about it.
    private static func message(in answer: CommandRunner.Answer) -> String? {
        let problems = answer.output.split(separator: "\n").suffix(longestEnd).compactMap { line in
            // Lines of other kinds have other members.
            try? JSONDecoder().decode(ProblemLine.self, from: Data(line.utf8))
        }
        let error = problems.last { $0.event == "problem" && $0.severity == "error" }?.message
        guard let text = error ?? answer.errors.split(separator: "\n").first.map(String.init) else { return nil }
        return text.split(separator: "\n").map { VisibleText.line(String($0)) }.joined(separator: "\n")
    }

    /// An error is among so many last lines, since the summary alone comes after it.
    private static let longestEnd = 20
}

extension FarmQueryError {
    init(_ error: CommandError, _ subject: String, _ program: String) {
        let remedy = "\n   = use the command itself, or ask for less"
        switch error {
        case .tooLate: self = .refused("\(subject) took too long and was ended\(remedy)")
        case .tooLong: self = .refused("\(subject) has too much to say\(remedy)")
        case .missing: self = .failed("\(program) is gone\n   = install penumbra beside penumbra-service")
        case .notRun(let reason): self = .failed("\(subject) could not be started: \(reason)")
        }
    }
}
