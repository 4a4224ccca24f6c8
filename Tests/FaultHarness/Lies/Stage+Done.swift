import Foundation

/// What an exit code of 0 says, also after lies.
extension Stage {
    /// What a command says that has done nothing, and need not have.
    private static let excuses = [
        "no run was interrupted", "has ended", "is running", "nothing to resume", ": resumed", "with the cluster",
    ]

    /// What a lie is about that makes an older output look like the current one.
    private static let identities = [
        "digest", "high", "low", "stamp", "inode", "size", "modified", "changed", "version", "recipe", "encoding",
        "text", "bytes",
    ]

    private var lies: [String] { notes.filter { $0.what == "lie" }.map { "\($0.subject) \($0.detail)" } }

    /// 0: every output is there, with its old bytes or its new ones. The old ones may stay only where a lie made them look
    /// like the new ones, or where the run says that it kept them.
    func checkDone(_ run: ProgramRun) {
        guard run.process.ending == .exited(0), result.violations.isEmpty, !isNamedByLie else { return }
        let texts = ["out", "err"].map { (try? String(contentsOfFile: "\(run.log).\($0)", encoding: .utf8)) ?? "" }
        let said = texts.joined()
        let summary = RunSummary(run.log + ".out")
        // A picture that was told to be broken has no output.
        let isBroken = (summary?.stillBroken ?? 0) > variant.brokenPictures || said.contains("still broken")
        guard !Self.excuses.contains(where: said.contains), !isBroken else { return }
        let lies = lies
        let mayBeOld =
            (summary.map { $0.kept + $0.outputsKept } ?? 0) > 0 || (summary == nil ? said : texts[1]).contains("kept")
            || Self.identities.contains { word in lies.contains { $0.contains(word) } }
        for (path, data) in expected.sorted(by: { $0.key < $1.key }) {
            let found = FileManager.default.contents(atPath: "\(workspace.outputs)/\(path)")
            guard let found else {
                blame(.bytes, "run \(run.number) ended with 0, and \(path) is missing")
                continue
            }
            let isAllowed = mayBeOld ? allowed.contains { $0[path] == found } : found == data
            if !isAllowed { blame(.bytes, "run \(run.number) ended with 0, and \(path) holds other bytes") }
        }
    }

    /// Outputs are named by what a worker said of the picture: only it knows.
    private var isNamedByLie: Bool { variant.name == "hash-names" && !lies.isEmpty }
}
