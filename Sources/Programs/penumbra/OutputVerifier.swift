import Catalogs
import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import Scheduling
import Settings

/// Looks at outputs for `penumbra verify`, and tells what it has found.
struct OutputVerifier {
    let installation: Farm
    let control: RunControl
    let reporting: ConsoleReporter
    let search: RecordSearch

    /// The outputs that a command line names, each once, sorted by their paths.
    ///
    /// - Returns: also how the command ends if they are all as published: something may not be known.
    func wanted(_ files: [String]) async throws -> (outputs: [RecordedOutput], status: RunOutcome) {
        var (found, unknown): ([PathKey: RecordedOutput], [String]) = ([:], [])
        var status = RunOutcome.done
        for job in try await jobs(files.filter(Self.isManifest)) {
            let outputs = try search.outputs(of: job, folders: OutputFolders.of(job))
            if outputs.isEmpty {
                reporting.complain("\(job.name): nothing is known of its outputs; has it run with this state folder?")
                status = .missingInput
            }
            for output in outputs { found[PathKey(output.record.path)] = output }
        }
        for file in files where !Self.isManifest(file) {
            let outputs = try outputs(at: file)
            if outputs.isEmpty { unknown.append(PathText.normalized(file, in: reporting.folder)) }
            for output in outputs { found[PathKey(output.record.path)] = output }
        }
        if !unknown.isEmpty { tell(unknown: unknown) }
        return (found.sorted { $0.key < $1.key }.map(\.value), unknown.isEmpty ? status : .someFailed)
    }

    private static func isManifest(_ file: String) -> Bool {
        ["yaml", "yml"].contains(PathText.split(name: PathNames.last(of: file)).ext.lowercased())
    }

    private func jobs(_ manifests: [String]) async throws -> [JobSpec] {
        guard !manifests.isEmpty else { return [] }
        var options = ManifestOptions()
        (options.manifests, options.overrides) = (manifests, [])
        let files = ManifestFiles(options: options, catalog: try await catalog(), settings: installation.settings)
        return try reporting.jobs(files.read())
    }

    private func catalog() async throws -> Catalog { try await installation.introducedCatalog() }

    /// By the path as it was given, or as its folder's real path has it: that is how a job knows its outputs.
    private func outputs(at file: String) throws -> [RecordedOutput] {
        let path = PathText.normalized(file, in: reporting.folder)
        let real = PathNames.joined(realPath(PathText.folder(of: path)), PathText.name(of: path))
        let known = try search.outputs(at: path)
        return known.isEmpty && PathKey(real) != PathKey(path) ? try search.outputs(at: real) : known
    }

    private func tell(unknown: [String]) {
        if reporting.json {
            for path in unknown { JSONLine.verified(VerifiedLine(unknown: path)).print() }
        } else {
            for line in VerificationText.unknown(unknown, folder: reporting.folder) { Console.complain(line) }
        }
    }

    func verify(_ chosen: ChosenOutputs, rerenders: Bool) async throws -> RunOutcome {
        guard !chosen.outputs.isEmpty else { return .done }
        let outputs = try await compare(chosen)
        let compared = outputs.contains(where: \.condition.isDamage) ? RunOutcome.someFailed : .done
        guard rerenders else { return compared }
        return max(compared, try await rerender(outputs.map(\.output)))
    }

    private func compare(_ chosen: ChosenOutputs) async throws -> [VerifiedOutput] {
        let start = ContinuousClock.now
        let verification = try await Verification(
            chosen.outputs, search, settings: installation.runSettings, observer: reporting.observer(of: "verify"),
            loop: loop)
        reporting.endProgress()
        try refuse(verification.stop)
        let line = VerificationLine(verification.outputs, chosen.sampling)
        if reporting.json {
            for output in verification.outputs { JSONLine.verified(VerifiedLine(output)).print() }
            JSONLine.verification(line).print()
        } else {
            for text in VerificationText.damage(verification.outputs, folder: reporting.folder) {
                Console.complain(text)
            }
            reporting.say(line.text(elapsed: .now - start))
        }
        return verification.outputs
    }

    private func rerender(_ outputs: [RecordedOutput]) async throws -> RunOutcome {
        let start = ContinuousClock.now
        let settings = installation.settings
        let scratch = try VerificationScratch(
            in: settings.scratch.value ?? Self.temporaryFolder,
            name: String(UInt64.random(in: .min ... .max), radix: 36))
        let results = await Rerendering.run(
            outputs, catalog: try await catalog(), scratch: scratch.path, settings: installation.runSettings,
            observer: reporting.observer(of: "verify"), loop: loop)
        withExtendedLifetime(scratch) {}
        reporting.endProgress()
        try refuse(results.stop)
        let line = VerificationLine(results.outputs)
        if reporting.json {
            for output in results.outputs { JSONLine.rerendered(RerenderedLine(output)).print() }
            JSONLine.verification(line).print()
        } else {
            let text = RerenderingText(results.outputs, folder: reporting.folder)
            for line in text.damage { Console.complain(line) }
            if !reporting.quiet { for line in text.remarks { Console.complain(line) } }
            reporting.say(line.text(elapsed: .now - start))
        }
        return results.outputs.contains(where: \.condition.isDamage) ? .someFailed : .done
    }

    private static var temporaryFolder: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    private func loop() -> RunLoop { RunLoop(engine: installation.engine(), control: control) }

    private func refuse(_ stop: StopReason?) throws {
        guard let stop else { return }
        var summary = RunSummary()
        summary.stop = stop
        if case .interrupted(let signal) = stop {
            throw FarmError(
                RunOutcome(summary), "stopped by \(StopWords.name(ofSignal: signal)); nothing was changed")
        }
        throw FarmError(RunOutcome(summary), StopWords.describe(stop))
    }
}
