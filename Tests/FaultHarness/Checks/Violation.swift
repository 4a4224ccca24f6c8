/// What is checked. Each one can fail: `penumbra-faults mutations` shows it.
enum Check: String, CaseIterable, Sendable {
    case exitCode = "exit code"
    case bytes = "output bytes"
    case moments = "whole at every moment"
    case strays = "no stray files"
    case runFolders = "no run folders left"
    case orphans = "no orphan processes"
    case inputs = "inputs unchanged"
    case foreign = "foreign files unchanged"
    case others = "files of others unchanged"
    case originals = "originals stay"
    case upToDate = "last run does nothing"
    case inTime = "ends in time"
    case causes = "failures have causes"
    case found = "corruptions found"
    case locks = "no locks held"
    case receipts = "receipts tell the truth"
    case verify = "'verify' finds all well"
    case once = "each job runs once"
}

/// Something that must not be.
struct Violation: Sendable, CustomStringConvertible {
    let check: Check
    let words: String

    var description: String { "\(check.rawValue): \(words)" }
}

/// What a scenario came to.
struct ScenarioResult: Sendable {
    let seed: UInt64
    let kind: ScenarioKind
    var variant = ""
    var faults = 0
    var corrupted = 0
    var found = 0
    /// Corruptions of files that nobody read any more.
    var unread = 0
    var runs = 0
    var seconds = 0.0
    var violations: [Violation] = []
    /// Why it was not tried.
    var skipped: String?
}
