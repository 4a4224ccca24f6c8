package import JobModel
import Planning

/// The folders that a job's outputs are below: what stands before the first field of each output's path.
///
/// A run locks them, and an index lies in each.
package enum OutputFolders {
    /// Absolute, sorted, each once.
    package static func of(_ job: JobSpec) -> [String] {
        Set(job.outputs.map { PathKey(folder(of: $0.template, job)) }).sorted().map(\.path)
    }

    private static func folder(of template: OutputTemplate, _ job: JobSpec) -> String {
        var text = ""
        for piece in template.pieces {
            if case .literal(let literal) = piece {
                text += literal
            } else if piece == .field(.job) {
                text += job.name
            } else {
                break
            }
        }
        guard let folder = PathNames.folder(of: text) else { return job.folder }
        return PathText.normalized(folder + "/", in: job.folder)
    }
}
