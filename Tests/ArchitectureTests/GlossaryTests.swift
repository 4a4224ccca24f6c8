import Foundation
import Testing

/// Names that were given up for the field's own terms. They do not come back.
@Suite struct GlossaryTests {
    /// Each with the name that took its place.
    private static let givenUp = [
        "RunBooks": "OutputTracker", "Heritage": "RecoveredWork", "PublicationDesk": "PublishQueue",
        "SlurmDesk": "ClusterState",
        "SlurmBook": "VirtualWorkers", "SlurmPast": "PriorResults", "SlurmFollowing": "ElementTracker",
        "SlurmLoss": "ElementFailure", "SlurmHindrance": "PendingReason", "ShardGathering": "ShardBatcher",
        "ShardDesk": "ShardState", "HandingOverEngine": "HandoffEngine", "RunWishes": "RunRequest", "Doers": "Capacity",
        "Haste": "ImplausibleSpeed", "Apart": "Boxed", "Agenda": "DeadlineQueue", "Inquiry": "FileQuery",
        "CompareTask": "DigestTask", "PictureShelf": "PictureCache", "Vigil": "RunWaiter",
        "NamelessFile": "UnlinkedTempFile",
        "WholeFile": "AtomicFile", "FutureLook": "OutputInputCollision", "Surroundings": "LaunchEnvironment",
        "PassingState": "TemporaryState", "Passage": "RenderRoute", "LostPlaces": "MissingDisks",
        "KnownPlaces": "KnownDisks",
        "OutputRoots": "LockedFolders", "FormerOutput": "PriorOutput", "MovedOutputs": "OutputTakeover",
        "ReceiptKeeper": "ReceiptRepair", "OrphanKeeper": "OrphanCleanup", "WorkerCrew": "WorkerPool",
        "WorkerQuestion": "OneShotWorker", "PassedBy": "SkippedFiles", "PictureHead": "FileSignature",
        "UnluckyNames": "NameCollisions", "OddName": "NonUTF8Name", "StartedJob": "JobStage", "FinishedJob": "JobStage",
        "StoredRun": "RunRecord", "KnownRun": "RunStatus", "SharedRun": "RunFolder", "SharedHistory": "RunLog",
        "RunDirectory": "RunFolder", "SlurmWishes": "ClusterOptions", "SlurmOptions": "ClusterOptions",
        "Makers": "TrustedWriters", "StopWords": "StopReason", "KeptFile": "FileReason", "OpenJDTeller": "OpenJDOutput",
        "ExportProblem": "ExportError", "NoAnswer": "EngineError", "HandingOverTrouble": "HandoffError",
        "UnknownOrder": "UnknownOrderError", "Shortage": "ResourceLimitError", "FileTrouble": "FileError",
        "StoreProblem": "StoreError",
        "PublishProblem": "PublishFailure",
        "RunHistory": "RunRecorder",
    ]

    @Test func `no type has a name that was given up`() throws {
        let declaration = #/\b(?:struct|class|enum|actor|protocol|typealias)\s+([A-Za-z0-9]+)/#
        for file in try SourceTree.swiftFiles(below: "Sources") + SourceTree.swiftFiles(below: "Tests") {
            for match in file.text.matches(of: declaration) {
                let name = String(match.1)
                let base = name.hasSuffix("Tests") ? String(name.dropLast(5)) : name
                guard let term = Self.givenUp[base] else { continue }
                Issue.record("\(file.path): \(name): the glossary calls it \(term)")
            }
        }
    }
}
