import Catalogs
import Coordination
import FoundationEssentials
import Glibc
package import JobModel
package import Manifests
import Planning
import WorkerProtocol

/// The pictures that filters read beside their input. This program looks at their files; workers read them.
package enum FilterPictures {
    package static let inspect: PictureLookup.Inspection = { path, folder in
        let whole = PathText.normalized(path, in: folder)
        return (whole, trouble(at: whole))
    }

    private static func trouble(at path: String) -> String? {
        var found = stat()
        guard stat(path, &found) == 0 else {
            return [ENOENT, ENOTDIR].contains(errno) ? "no such file" : String(cString: strerror(errno)).lowercased()
        }
        if found.st_mode & S_IFMT == S_IFDIR { return "is a folder" }
        return access(path, R_OK) == 0 ? nil : "may not be read (\(String(cString: strerror(errno)).lowercased()))"
    }
}

extension JobPreparation {
    /// The job with the digests of the pictures that its filters read: what they hold is a part of how outputs are made.
    package func readingPictures(of job: JobSpec) async throws -> JobSpec {
        let digests = try await pictureDigests(job.picturePaths, job)
        return job.mappingPictures { PictureReference(path: $0.path, digest: digests[PathKey($0.path)]) }
    }

    /// - Throws: when one of the pictures cannot be read.
    package func pictureDigests(_ paths: [String], _ job: JobSpec) async throws -> [PathKey: String] {
        guard !paths.isEmpty else { return [:] }
        let findings = try await findings(of: paths.map { DigestTask.File(path: $0) }, job)
        var digests: [PathKey: String] = [:]
        for path in paths {
            guard let found = findings[DigestTask.File(path: path)] ?? nil else {
                let manifest = PathText.shown(job.manifestPath, from: folder)
                throw FarmError(
                    .missingInput,
                    "\(manifest): error: \(PathText.visible(path)): the picture, which a filter reads, cannot be read")
            }
            digests[PathKey(path)] = found.digest.description
        }
        return digests
    }
}
