import Catalogs
package import Coordination
import FoundationEssentials
package import JobModel
import JobStorage
import SafeFiles
import Planning
import Reports
package import Scheduling
import Settings
import Runs

/// Verifies that outputs are as they were published, and that a new rendering gives the same.
package struct OutputVerifier {
    let farm: Farm
    let control: RunControl
    let listener: any RunListener
    /// The folder where relative paths start.
    let folder: String
    let search: RecordSearch

    /// The folder of the database with most of the records.
    package var stateFolder: String { farm.settings.stateFolder.value }

    /// Why the command ends early; nil if it does not.
    package var stop: StopReason? { control.stop }

    package init(_ farm: Farm, control: RunControl, listener: any RunListener, folder: String) throws {
        (self.farm, self.control, self.listener, self.folder) = (farm, control, listener, folder)
        search = try RecordSearch(state: farm.settings.stateFolder.value)
    }

    /// The outputs that files, folders and manifests name.
    package struct Found {
        /// Sorted by path, without repetitions.
        package let outputs: [RecordedOutput]
        /// Jobs without known outputs.
        package let unpublishedJobs: [String]
        /// Files that no job published.
        package let unknown: [String]

        /// The outcome of a command if all outputs are as published.
        package var outcome: RunOutcome {
            unknown.isEmpty ? unpublishedJobs.isEmpty ? .done : .missingInput : .someFailed
        }
    }

    package func find(_ files: [String]) async throws -> Found {
        var (found, unknown, unpublished): ([PathKey: RecordedOutput], [String], [String]) = ([:], [], [])
        for job in try await jobs(files.filter(Self.isManifest)) {
            let outputs = try search.outputs(of: job, folders: OutputFolders.of(job))
            if outputs.isEmpty { unpublished.append(job.name) }
            for output in outputs { found[PathKey(output.record.path)] = output }
        }
        for file in files where !Self.isManifest(file) {
            let outputs = try outputs(at: file)
            if outputs.isEmpty { unknown.append(PathText.normalized(file, in: folder)) }
            for output in outputs { found[PathKey(output.record.path)] = output }
        }
        return Found(
            outputs: found.sorted { $0.key < $1.key }.map(\.value), unpublishedJobs: unpublished, unknown: unknown)
    }

    private static func isManifest(_ file: String) -> Bool {
        ["yaml", "yml"].contains(PathText.split(name: PathNames.last(of: file)).ext.lowercased())
    }

    private func jobs(_ manifests: [String]) async throws -> [JobSpec] {
        guard !manifests.isEmpty else { return [] }
        let request = RunRequest(manifests: manifests.map { RunRequest.Manifest(path: $0) }, folder: folder)
        let files = ManifestFiles(
            request, catalog: try await farm.catalogOfFirstWorker(), settings: farm.settings, control: control)
        return try listener.jobs(files.read())
    }

    /// The outputs at a path. Jobs know their outputs by the real path of the folder, so that is tried, too.
    private func outputs(at file: String) throws -> [RecordedOutput] {
        let path = PathText.normalized(file, in: folder)
        let real = PathNames.joined(realPath(PathText.folder(of: path)), PathText.name(of: path))
        let known = try search.outputs(at: path)
        return known.isEmpty && PathKey(real) != PathKey(path) ? try search.outputs(at: real) : known
    }

    /// Compares outputs with their records.
    package func compare(_ outputs: [RecordedOutput]) async throws -> [VerifiedOutput] {
        let verification = try await Verification(
            outputs, search, settings: farm.runSettings, observer: listener.observer(of: "verify")
        ) { loop(readable: FolderOutputs.read(outputs.map(\.record.path))) }
        try refuse(verification.stop)
        return verification.outputs
    }

    /// Why outputs are missing, as far as their disks are the reason: an error for each disk.
    package func lostDisks(of outputs: [VerifiedOutput]) throws -> [String] {
        let missing = outputs.filter { $0.condition == .missing }.map(\.output.record.path)
        return try search.missingDisks(of: missing).map { lost in
            let remedy =
                if case .notMounted = lost.cause { "mount the disk, and verify the outputs again" } else {
                    lost.cause.remedy
                }
            return "\(lost.cause.message(of: "\(Figures.count(lost.count)) of the missing outputs"))\n   = \(remedy)"
        }
    }

    /// Renders outputs again, and compares the results.
    package func rerender(_ outputs: [RecordedOutput]) async throws -> [RerenderedOutput] {
        let scratch = try VerificationScratch(
            in: farm.settings.scratch.value ?? Self.temporaryFolder,
            name: String(UInt64.random(in: .min ... .max), radix: 36))
        let results = await Rerendering.run(
            outputs, catalog: try await farm.catalogOfFirstWorker(), scratch: scratch.path, settings: farm.runSettings,
            observer: listener.observer(of: "verify")
        ) { loop(folders: $0 ? [scratch.path] : [], scratch: scratch.path) }
        withExtendedLifetime(scratch) {}
        try refuse(results.stop)
        return results.outputs
    }

    private static var temporaryFolder: String {
        ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    }

    private func loop(folders: [String] = [], readable: [String] = [], scratch: String? = nil) -> RunLoop {
        RunLoop(engine: farm.engine(folders: folders, readable: readable, scratch: scratch), control: control)
    }

    private func refuse(_ stop: StopReason?) throws {
        guard let stop else { return }
        var summary = RunSummary()
        summary.stop = stop
        if case .interrupted(let signal) = stop {
            throw FarmError(
                RunOutcome(summary), "stopped by \(StopReason.name(ofSignal: signal)); nothing was changed")
        }
        throw FarmError(RunOutcome(summary), stop.message())
    }
}
