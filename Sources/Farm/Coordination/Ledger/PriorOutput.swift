import JobModel
package import JobStorage
import Planning

/// An output that this job does not know by its path: another job published it, or this one did when it, or the output, had
/// another name or place.
package struct PriorOutput: Hashable, Sendable {
    /// What is known of it, at the path where it is now.
    package let record: OutputRecord
    /// Where it was published, if that is another path.
    package let place: String?
    /// How it was made, as text. (``record`` may have the number of another database.)
    package let recipe: String
    /// The job's name.
    package let job: String
    /// The real path of the job's manifest, when it published this.
    package let manifest: String
    package let origin: Origin

    /// What became of the job that published it.
    package enum Origin: Hashable, Sendable {
        /// The manifest is gone, or has another job now: the job was moved, renamed or removed.
        case gone
        /// Its manifest is this one, and gave the job another name.
        case renamed
        /// The job is still there, and so is its output: this is it.
        case there
        /// The job is still there, and published the output at another path: this is a copy, or was moved here.
        case elsewhere
        /// This job published it at another path.
        case moved
    }

    package init(
        record: OutputRecord, place: String? = nil, recipe: String, job: String, manifest: String, origin: Origin
    ) {
        self.record = record
        self.place = place
        self.recipe = recipe
        self.job = job
        self.manifest = manifest
        self.origin = origin
    }

    /// The same output, whose job has another path for it.
    func at(_ place: String?, _ origin: Origin) -> PriorOutput {
        PriorOutput(record: record, place: place, recipe: recipe, job: job, manifest: manifest, origin: origin)
    }

    var publisher: IndexContents.Publisher { IndexContents.Publisher(name: job, manifest: manifest) }

    /// Why a run leaves it as it is, and what to do.
    package var reason: String {
        // Both may come from an index, which lies where others may write.
        let job = PathText.visible(job)
        let publisher = "published by the job '\(job)' of \(PathText.visible(manifest))"
        return switch origin {
        case .gone:
            "\(publisher), which is gone; if it was moved here, 'penumbra adopt --moved' takes its outputs over, --force "
                + "replaces them"
        case .renamed:
            "published by this manifest's job when it was called '\(job)'; 'penumbra adopt --moved' takes its outputs over, "
                + "--force replaces them"
        case .there:
            "\(publisher), which is still there; write to another folder, or remove that manifest and give 'penumbra adopt "
                + "--moved'"
        case .elsewhere:
            "\(publisher) at another path; 'penumbra adopt --moved' takes it over here, --force replaces it"
        case .moved:
            "published by this job at another path; 'penumbra adopt --moved' takes it over here, --force replaces it"
        }
    }
}
