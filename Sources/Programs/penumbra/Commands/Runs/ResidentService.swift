import Coordination
import JobModel
import Queueing
import SafeFiles
import ServiceAPI
import ServiceClient

/// The service of this machine to which the runs of a state folder belong. It resumes those of its open jobs.
struct ResidentService: Sendable {
    enum Answer: Sendable {
        case resumes
        case doesNot
        /// It does not answer. It may be replaced by its next version at present.
        case isAway
    }

    private let folder: ServiceFolder

    /// - Returns: nil if the state folder never had a service.
    init?(stateFolder: String) {
        let path = PathNames.joined(stateFolder, "service.lock")
        guard let bytes = SafeFolder.trustedContents(path, limit: 8_192) else { return nil }
        // The service has written its process and its folder.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1, PathNames.isAbsolute(String(lines[1])) else { return nil }
        folder = ServiceFolder(String(lines[1]))
    }

    /// Whether it resumes a run that was interrupted.
    func answer(for run: String) async -> Answer {
        await Blocking.run { [folder] in
            var options = APIClient.Options()
            options.attempts = 1
            do throws(ServiceError) {
                let client = APIClient(try ServiceAddress(socket: folder.controlSocket), options: options)
                let job = try client.call(
                    ClientRequest(.get, "/runs/\(APIPath.escaped(run))/job"), as: QueueEntry.self)
                return job.run == run && !job.state.isEnd ? .resumes : .doesNot
            } catch {
                return error.mayPass ? .isAway : .doesNot
            }
        }
    }
}
