import Confinement
import Coordination
import Engines
import JobModel
package import Queueing
import Runs
import SafeFiles
import Synchronization

/// A preview that somebody wants to see.
package struct PreviewQuery: Hashable, Sendable {
    package let place: ManifestSource.Place
    /// The job's name, for a manifest that is a text.
    package let name: String?
    /// With the folders that the preview may read.
    package let options: RunOptions
    /// An absolute path. Nil for the job's first picture.
    package let input: String?
    /// The middle of the part: `40%,1200`.
    package let at: String
    /// In pixels, along each side.
    package let size: Int
    /// From 1.
    package let output: Int

    package init(
        place: ManifestSource.Place, name: String?, options: RunOptions, input: String?, at: String, size: Int,
        output: Int
    ) {
        self.place = place
        self.name = name
        self.options = options
        self.input = input
        self.at = at
        self.size = size
        self.output = output
    }
}

/// Makes previews by commands of `penumbra preview`, each a process of its own in a folder of its own.
///
/// The kernel keeps the command of a token with folders within these, as it does with the token's runs.
package final class PreviewCommands: Sendable {
    private static let limit = Duration.seconds(120)
    private static let longestAnswer = 1 << 20
    private static let largestPicture = 16 << 20

    private let program: String
    private let folder: String
    private let configFile: String?
    private let confined: ConfinedPlaces
    private let places: CommandPlaces
    private let latest = Mutex(0)

    /// - Parameters:
    ///   - program: the path of `penumbra`.
    ///   - folder: a folder of the service's own, for the files of commands. It is created.
    ///   - confined: what confined commands may read beside their folders.
    ///   - places: for previews alone.
    package init(
        program: String, folder: String, configFile: String?, confined: ConfinedPlaces, places: CommandPlaces
    ) {
        self.program = program
        self.folder = folder
        self.configFile = configFile
        self.confined = confined
        self.places = places
    }

    /// - Parameter manifest: the bytes of the manifest. The command does not open its path.
    func preview(_ query: PreviewQuery, manifest: [UInt8], for owner: Owner) async throws -> [UInt8] {
        try await places.withPlace(for: owner) { try await preview(query, manifest) }
    }

    private func preview(_ query: PreviewQuery, _ manifest: [UInt8]) async throws -> [UInt8] {
        let number = latest.withLock { latest in
            latest += 1
            return latest
        }
        try await refuseOutside(query)
        let files = Files(folder: "\(folder)/\(number)")
        defer { FileSystem.removeTree(files.folder) }
        try await Blocking.run { () throws(FileError) in
            // A service that was killed may have left it.
            FileSystem.removeTree(files.folder)
            _ = try FileSystem.createFolders(files.temporary, mode: 0o700)
            try AtomicFile.write(manifest, to: files.manifest, by: files.manifest + ".new", mode: 0o600)
        }
        try await render(words(query, files), files, query.options.roots)
        return try await Blocking.run { () throws -> [UInt8] in
            let written = try SafeFolder(files.folder).contents(of: Files.pictureName, limit: Self.largestPicture)
            guard let written else { throw FarmQueryError.failed("'penumbra preview' has written no picture") }
            return written
        }
    }

    /// The kernel would refuse such a picture, too, but other words would tell whether it exists.
    private func refuseOutside(_ query: PreviewQuery) async throws {
        guard let roots = query.options.roots, let input = query.input else { return }
        do {
            let outside = try await Blocking.run { () throws(RootError) -> [OutsidePath] in
                try RootCheck(roots).outside([JobPath(origin: "the picture", path: input, access: .read)])
            }
            if let first = outside.first { throw FarmQueryError.refused(first.message) }
        } catch let error as RootError {
            throw FarmQueryError.refused(error.message)
        }
    }

    /// The files of one command.
    private struct Files: Sendable {
        static let pictureName = "preview.png"

        let folder: String
        var manifest: String { "\(folder)/manifest.yaml" }
        var picture: String { "\(folder)/\(Self.pictureName)" }
        var temporary: String { "\(folder)/temporary" }
        /// Previews keep a list of files that they may replace. The service needs none.
        var state: String { "\(folder)/state" }
    }

    private func words(_ query: PreviewQuery, _ files: Files) -> [String] {
        var words = ["preview", "--at", query.at, "--size", "\(query.size)", "--output-number", "\(query.output)"]
        words += query.options.overrides.flatMap { ["--set", $0] }
        words += ["-o", files.picture, "--state-dir", files.state]
        words += configFile.map { ["--config", $0] } ?? []
        words += ["--manifest-path", FarmManifestChecker.manifest(query.place, name: query.name).path]
        return words + ["--", files.manifest] + (query.input.map { [$0] } ?? [])
    }

    private func render(_ words: [String], _ files: Files, _ roots: [String]?) async throws(FarmQueryError) {
        var environment = FarmCommands.environment
        environment["TMPDIR"] = .some(files.temporary)
        var command = words
        if let roots {
            var confinement = Confinement(
                .init(
                    programs: confined.programs, stateFolder: files.folder, readable: confined.readable, roots: []))
            confinement.add(Confinement(readable: roots.map { .init($0) }))
            command = ["confined"] + confinement.arguments(for: [program] + words)
        }
        let answer: CommandRunner.Answer
        do throws(CommandError) {
            // Whoever moves a slider asks for many previews, and waits only for the last one.
            answer = try await CommandRunner(
                limit: Self.limit, longestOutput: Self.longestAnswer, endsWithCaller: true
            ).run(program, command, environment: environment)
        } catch {
            throw FarmQueryError(error, "'penumbra preview'", program)
        }
        // The text has been sent, so its file means nothing to the caller.
        let place = "\(VisibleText.line(files.manifest)): error: "
        let found = Self.message(in: answer.errors)
        let message =
            found.map { $0.hasPrefix(place) ? String($0.dropFirst(place.count)) : $0 }
            ?? "'penumbra preview' has ended with \(answer.status)"
        switch answer.exitCode.flatMap({ RunOutcome(number: Int($0)) }) {
        case .done: return
        case .usage, .badManifest, .missingInput, .busy, .someFailed: throw .refused(message)
        default: throw .failed(message)
        }
    }

    /// The last error that the command has printed, with what to do about it. Warnings come before it.
    static func message(in errors: String) -> String? {
        let lines = errors.split(separator: "\n").map { VisibleText.line(String($0)) }
        guard let start = lines.lastIndex(where: { !$0.hasPrefix(" ") }) else { return nil }
        return ([lines[start]] + lines[(start + 1)...].prefix { $0.hasPrefix("   = ") }).joined(separator: "\n")
    }
}
