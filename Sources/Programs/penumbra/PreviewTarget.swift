import Catalogs
import Coordination
import Glibc
import JobModel
import Planning

/// Where a preview is written.
struct PreviewTarget {
    /// As it was given.
    private let output: String
    private let path: String

    init(_ output: String) {
        self.output = output
        path = PathText.normalized(output, in: currentFolder())
    }

    /// Beside the preview, so that it can be put there in one step.
    ///
    /// - Parameters:
    ///   - picture: what the preview shows.
    ///   - job: of which no input is overwritten, and to which none is added.
    func temporaryPath(showing picture: InputFile, of job: JobSpec, _ catalog: Catalog) throws(FarmError) -> String {
        try refuseInputs(picture, pictures: job.picturePaths, InputLookup(job, catalog: catalog))
        let folder = PathText.folder(of: path)
        guard FileStamp(of: folder) != nil else {
            throw FarmError(
                .storage, "\(PathText.visible(output)): its folder is not there; create it, or choose another")
        }
        return "\(folder)/.penumbra-preview-\(getpid())"
    }

    /// Whatever is there that no preview wrote stays: a published output, a picture of somebody else's, an edited preview.
    func refuseForeign(_ book: PreviewRegistry) throws {
        guard try !book.mayReplace(path) else { return }
        throw FarmError(
            .usage,
            "\(PathText.visible(output)): is there, and is no preview that 'penumbra preview' wrote; choose another name, or --force replaces it"
        )
    }

    /// It may be replaced by the next preview. Where that cannot be written down, that one asks for --force.
    func remember(_ book: PreviewRegistry) {
        do {
            try book.add(path)
        } catch {
            Console.complain(
                "warning: \(PathText.visible(output)): the next preview will not replace it without --force: its name could not be kept in the "
                    + "state folder")
        }
    }

    private func refuseInputs(
        _ picture: InputFile, pictures: [String], _ question: InputLookup
    ) throws(FarmError) {
        let there = FileStamp(of: path)?.identity
        if let there, there == FileStamp(of: picture)?.identity {
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite the picture that it shows")
        }
        for read in pictures where there != nil && there == FileStamp(of: read)?.identity {
            let shown = PathText.shown(read, from: currentFolder())
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite \(shown), which a filter reads")
        }
        if let there, let input = question.input(being: there) {
            let shown = PathText.shown(input, from: currentFolder())
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite \(shown), an input of the job")
        }
        if let entry = question.entry(taking: path) {
            let shown = PathText.shown(entry, from: currentFolder())
            throw FarmError(
                .usage,
                "\(PathText.visible(output)): the preview would be an input of the job, by '\(shown)'; write it to another folder"
            )
        }
    }
}
