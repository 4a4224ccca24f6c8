import Confinement
import Queueing
import Runs
import SafeFiles
import ServiceAPI

/// Runs of jobs that may use only some folders.
extension Supervisor {
    /// Where the text of an uploaded manifest is kept for the job's runs.
    func manifestFolder(of job: Submission) throws(FileError) -> String {
        guard job.options.roots != nil else { return setup.folder.manifests }
        // Such a run can open this folder, and none with the manifests of others.
        let folder = ownManifestFolder(of: job)
        _ = try FileSystem.createFolders(folder, mode: 0o700)
        return folder
    }

    private func ownManifestFolder(of job: Submission) -> String { "\(setup.folder.manifests)/\(job.id.number)" }

    private static let temporaryName = "temporary"

    /// For temporary files of a run. It is in the state folder, which every run may change.
    private func temporaryFolder(_ run: String) -> String { "\(setup.stateFolder)/\(Self.temporaryName)/\(run)" }

    /// Variables of a run's environment in place of the service's.
    func environment(of job: Submission, _ run: String) -> [String: String] {
        job.options.roots == nil ? [:] : ["TMPDIR": temporaryFolder(run)]
    }

    /// Nil for a job that may use all folders. Creates the folders that its run needs.
    func confinement(of job: Submission, _ run: String) throws(FileError) -> Confinement? {
        guard let roots = job.options.roots else { return nil }
        _ = try FileSystem.createFolders(setup.stateFolder)
        for folder in setup.confined.scratch + [temporaryFolder(run)] {
            _ = try FileSystem.createFolders(folder, mode: 0o700)
        }
        let kept = if case .uploaded = job.manifest.place { [ownManifestFolder(of: job)] } else { [String]() }
        return Confinement(
            .init(
                programs: setup.confined.programs, stateFolder: setup.stateFolder, scratch: setup.confined.scratch,
                readable: setup.confined.readable + kept, roots: roots))
    }

    /// Ends what a process of such a job has left: workers that outlived it, and temporary files.
    ///
    /// The next coordinator of the run could not see such workers, because the kernel hides other processes from it.
    func clearUp(after job: Submission, _ run: String, _ exit: OpenRun.Exit) {
        guard job.options.roots != nil else { return }
        // Another process may have the run, which is why this one was not started.
        if case .notStarted = exit { return }
        CoordinatorClaim.endWorkers(ofLatestCoordinatorIn: RunFolder(state: setup.stateFolder, name: run).path)
        // A run could have exchanged the folder for a link. What cannot be removed harms no other run.
        let all = try? SafeFolder(setup.stateFolder).folder(Self.temporaryName)
        all?.removeTree(run)
    }
}
