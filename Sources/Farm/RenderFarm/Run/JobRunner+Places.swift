import Coordination
import Glibc
import JobModel
import JobStorage
import Planning
import SafeFiles
import Settings

/// Places that a run cannot use.
extension JobRunner {
    /// Prepares all jobs, under their locks, and then does something with them. Trouble with a place is told with what to
    /// do about it.
    func starting(
        _ jobs: [JobSpec], _ body: ([StartedJob]) async throws -> RunOutcome
    ) async throws -> RunOutcome {
        do {
            return try await startingUnadvised(jobs, body)
        } catch let trouble as FileTrouble {
            throw FarmError(.storage, trouble.message + remedy(for: trouble))
        }
    }

    /// What the next run is to know of the places of a job's inputs and outputs.
    func places(of prepared: PreparedJob) -> KnownDisks {
        var found = MissingDisks.Findings()
        found.entries = preparation.list == nil ? prepared.plan.entries : nil
        found.matches = prepared.plan.matches
        found.inputs = prepared.plan.inputs.map(\.path)
        found.outputs =
            prepared.targets.flatMap(\.outputs) + prepared.ended.flatMap(\.outputs)
            + prepared.contents.records.map(\.path)
        found.lost = prepared.lost
        found.isEmptyRight = wishes.acceptsEmpty || wishes.allowsGone
        return MissingDisks.known(found, job: prepared.job, before: prepared.contents.places)
    }

    /// Refuses folders of outputs in which nothing may be written: every frame would fail for that one reason. With
    /// nothing to render they are good enough, and a folder below them is the matter of its own frames.
    func refuseForbidden(_ folders: [String], _ prepared: PreparedJob) throws(FileTrouble) {
        let mayRender = prepared.targets.contains {
            switch $0.verdict {
            case .render, .compare: true
            case .current, .kept, .stillBroken, .refused, .tooRecent: false
            }
        }
        guard mayRender else { return }
        for folder in folders { try WritableFolder.refuseForbidden(folder) }
    }

    private func remedy(for trouble: FileTrouble) -> String {
        let settings = installation.settings
        let own = [settings.stateFolder.value] + (settings.scratch.value.map { [$0] } ?? [])
        if own.contains(where: { Self.isOnWay(trouble.path, to: $0) || Self.isOnWay($0, to: trouble.path) }) {
            return "; --state-dir and --scratch name other places for what a run keeps"
        }
        switch trouble.code {
        case ENOTDIR:
            return "\n   = something that is no folder is in its place: move it away, or choose another output path"
        case EACCES, EPERM: return "\n   = let this user write there, or choose another output path"
        default: return ""
        }
    }

    /// Whether a path is a folder or above it.
    private static func isOnWay(_ path: String, to folder: String) -> Bool {
        PathKey(path) == PathKey(folder) || PathNames.isBelow(folder, path)
    }
}
