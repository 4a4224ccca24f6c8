import Foundation
import Glibc

/// What holds after every scenario.
extension Stage {
    /// Sets the stage: inputs, perhaps outputs of an earlier run, a file of somebody else, perhaps an edited output.
    func prepare(_ kind: ScenarioKind) throws {
        try workspace.writeInputs(inputs)
        try Folder.create(workspace.outputs)
        try workspace.write("not Penumbra's", to: "\(workspace.out)/notes.txt")
        guard kind.mayBeginWithOutputs, variant != .identity, random.chance(0.5) else { return try writeManifest() }
        try writeManifest(.previous)
        try runCalmly()
        guard result.violations.isEmpty else { return }
        let previous = try references.reference(variant, .previous)
        allowed.append(previous.files)
        if kind.mayBeginWithEdits, !variant.hasFolders, random.chance(0.3) { try edit() }
        try writeManifest()
    }

    /// Somebody improves an output by hand; it stays as it is then.
    private func edit() throws {
        guard let path = expected.keys.filter({ !$0.contains("small/") }).sorted().randomElement(using: &random) else {
            return
        }
        let data = (expected[path] ?? Data()) + Data("by hand".utf8)
        try workspace.write(data, to: "\(workspace.out)/\(path)")
        expected[path] = data
        allowed.append([path: data])
        edited = 1
        // All outputs of a frame are made, or none: the others of an edited one are made anew.
    }

    /// Runs without faults until all is done, and once more; then looks at everything.
    func settle() throws {
        checkOrphans()
        var summary = try runCalmly(mayFailFirst ? [0, 1] : doneCodes)
        for _ in 0..<3 where summary.map({ $0.exitCode != 0 }) ?? true {
            guard result.violations.isEmpty else { break }
            summary = try runCalmly()
        }
        endWatching()
        checkOutputs()
        checkLeftovers()
        checkInputs()
        try checkLastRun()
        for path in Locks.held(in: workspace) { blame(.locks, path) }
        try checkVerification()
        checkReceipts()
        checkOrphans()
    }

    /// What was recorded of outputs is true of them, except of one that somebody has edited.
    private func checkVerification() throws {
        let run = try start(isCalm: true, command: ["verify"])
        guard let code = run.process.wait(seconds: patience)?.code else {
            return blame(.inTime, "'penumbra verify' did not end")
        }
        // 66: nothing is recorded of the job.
        if code != 0, code != 66, edited == 0, !mayKeep { blame(.verify, "exit code \(code): \(run.lastWords)") }
    }

    private func checkReceipts() {
        let receipts = Set(Folder.files(workspace.outputs).filter(Folder.isReceipt))
        let wanted = variant.hasReceipts ? Set(expected.keys.map { $0 + ".receipt.json" }) : []
        for name in wanted.symmetricDifference(receipts).sorted() where !mayKeep {
            blame(.receipts, "\(name) \(wanted.contains(name) ? "is missing" : "is of no output")")
        }
        guard edited == 0 else { return }
        for (path, data) in expected where wanted.contains(path + ".receipt.json") && !mayKeep {
            let receipt = FileManager.default.contents(atPath: "\(workspace.outputs)/\(path).receipt.json") ?? Data()
            let object = (try? JSONSerialization.jsonObject(with: receipt)) as? [String: Any]
            let output = object?["output"] as? [String: Any]
            if output?["name"] as? String != path || output?["bytes"] as? Int != data.count {
                blame(.receipts, "\(path).receipt.json tells of another file")
            }
        }
    }

    private func checkOutputs() {
        var found = Folder.outputs(workspace.outputs)
        if found.removeValue(forKey: "notes.txt") != Data("not Penumbra's".utf8) {
            blame(.foreign, "notes.txt was changed or removed")
        }
        for (path, data) in expected.sorted(by: { $0.key < $1.key }) {
            guard let there = found.removeValue(forKey: path) else {
                blame(.bytes, "\(path) is missing")
                continue
            }
            if there != data { blame(.bytes, "\(path): \(difference(there, data))") }
        }
        for path in found.keys.sorted() { blame(.strays, "\(path) is no output") }
    }

    private func difference(_ found: Data, _ wanted: Data) -> String {
        if found.count != wanted.count { return "\(found.count) bytes instead of \(wanted.count)" }
        let place = zip(found, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
        return "differs from byte \(place) on, of \(wanted.count)"
    }

    /// Files of attempts, folders of runs.
    func checkLeftovers() {
        for file in Folder.files(workspace.outputs) where Folder.isTemporary(file) {
            blame(.strays, "\(workspace.out)/\(file)")
        }
        for name in Folder.names("\(workspace.stateFolder)/runs") {
            blame(.runFolders, "\(workspace.state)/runs/\(name)")
        }
    }

    func checkInputs() {
        for (name, data) in inputs {
            if FileManager.default.contents(atPath: "\(workspace.path)/photos/\(name)") != data {
                blame(.inputs, "photos/\(name) was changed or removed")
            }
        }
        let names = Folder.names("\(workspace.path)/photos")
        if names.count != inputs.count { blame(.inputs, "photos has \(names.count) files instead of \(inputs.count)") }
    }

    private func checkLastRun() throws {
        guard let last = try runCalmly([0]) else { return blame(.upToDate, "it said nothing") }
        let kept = last.kept + last.stillBroken
        if last.published != 0 || last.failed != 0 || last.left != 0 || last.skipped + kept != last.frames {
            blame(
                .upToDate,
                "\(last.published) published, \(last.failed) failed, \(last.left) left, \(last.skipped) skipped of \(last.frames)"
            )
        }
        if last.kept > edited, !mayKeep { blame(.upToDate, "\(last.kept) outputs are said to be nobody's") }
        if last.stillBroken != variant.brokenPictures { blame(.upToDate, "\(last.stillBroken) still broken") }
    }

    func checkOrphans() {
        let left = processes.leftovers(after: 5)
        for process in left { blame(.orphans, "\(process) still lives: \(ProcessTable.commandLine(process))") }
        if !left.isEmpty { processes.killAll() }
    }

    /// Counts what proxies struck, and which damaged files were found out.
    ///
    /// - Parameter mayGoUnread: whether nobody may have read a damaged file after the damage.
    func countCorruptions(mayGoUnread: Bool) {
        let notes = notes
        result.faults += notes.count { $0.what == "fault" }
        let damaged = notes.filter { $0.what == "damaged" }
        let found = Set(notes.filter { $0.what == "found" }.map(\.subject))
        result.corrupted += damaged.count
        for note in damaged {
            if found.contains(note.subject) {
                result.found += 1
            } else if mayGoUnread {
                result.unread += 1
            } else {
                blame(.found, "\(note.subject) (\(note.detail)): no worker noticed")
            }
        }
    }
}
