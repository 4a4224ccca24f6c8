package import JobModel
import Planning
import SafeFiles

/// Runs that are found by what is in their folders.
extension RunFolder {
    /// The runs of a job whose coordinators may have been killed, the latest first.
    package static func unfinished(of job: JobSpec, state: String) -> [String] {
        let wanted = Array(JobLock.name(of: job).utf8)
        return FileSystem.names(in: "\(state)/runs").sorted(by: >).filter { name in
            // Of one that cannot be read nobody knows whose it is; it is swept away when it is old.
            SafeFolder.trustedContents("\(state)/runs/\(name)/job", limit: wanted.count) == wanted
        }
    }

    /// The scratch space of a run, whoever has it.
    package static func scratch(of name: String, state: String) -> String? {
        var scratch: String?
        let path = "\(state)/runs/\(name)"
        for case .scratch(let folder) in Journal.read("\(path)/journal") where isScratch(folder, of: name, path) {
            scratch = folder
        }
        return scratch
    }

    /// The nodes of a cluster look for scratch space there, or other machines do.
    static func isForNodes(_ place: String, _ state: String) -> Bool {
        place == state || PathText.name(of: place) == sharedName
    }
}
