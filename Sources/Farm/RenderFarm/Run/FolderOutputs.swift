import Confinement
import JobModel
import Planning
import Runs
import SafeFiles

/// Where outputs that are folders are read and created, such as those of Deep Zoom. Workers open these by their paths.
enum FolderOutputs {
    /// The folders around those of some files that are folders. A worker that reads them may read these.
    ///
    /// A command may verify thousands of outputs, and a worker learns its places by one variable. So folders far up stand for many.
    static func read(_ paths: [String]) -> [String] {
        var folders = Set(paths.filter(FileSystem.isOwnFolder).compactMap(PathNames.folder).map(PathKey.init))
        while folders.reduce(0, { $0 + $1.path.utf8.count + 1 }) > mostBytes {
            folders = Set(folders.compactMap { PathNames.folder(of: $0.path) }.map(PathKey.init))
        }
        return folders.sorted().map(\.path)
    }

    /// The kernel takes at most 128 KiB for a variable.
    private static let mostBytes = 32 << 10

    /// The folders that all outputs of a job are in or below, each once.
    static func all(of job: JobSpec) -> [String] {
        Set(JobPaths.outputFolders(of: job).map(PathKey.init)).sorted().map(\.path)
    }

    /// Creates the folders in which workers create outputs.
    static func stage(_ plan: JobPlan, _ claim: RunClaim) throws(FileError) -> [String] {
        guard plan.makesFolders else { return [] }
        var staging: [String] = []
        for folder in all(of: plan.job) { staging.append(try claim.makeStagingFolder(in: folder)) }
        return staging
    }
}
