package import JobModel
package import Queueing
import RenderFarm

extension FarmManifestChecker: WatchedManifests {
    package func job(of place: ManifestSource.Place, name: String?, _ options: RunOptions) async -> JobSpec? {
        // The watch says that the manifest cannot be used, and a submission says why.
        let outcome = try? await read(Self.manifest(place, name: name), options, catalog())
        guard let outcome, !outcome.hasErrors else { return nil }
        return outcome.jobs.first
    }
}
