import Foundation
import Glibc

/// Files that Penumbra keeps say what is not so, or are others than they were: links, pipes, folders, other users' files.
struct LyingFiles: Injection {
    enum Kind {
        /// Of a run whose coordinator was killed: journal, claims, canvases, tiles.
        case runs
        /// The indexes beside outputs, when the database is lost.
        case indexes
        case receipts
        /// What a run that others do keeps in its folder: records, shards, logs, results, history.
        case shards
    }

    let kind: Kind

    func inject(into stage: Stage) throws {
        let decoys = try Decoys(stage.workspace)
        stage.extraLines.append("timeout: 3s")
        switch kind {
        case .runs: try lieAboutRun(stage, decoys)
        case .indexes: try lieAboutIndexes(stage, decoys)
        case .receipts: try lieAboutReceipts(stage, decoys)
        case .shards: try lieAboutShards(stage, decoys)
        }
        stage.checkOrphans()
        stage.checkHarm(decoys)
        stage.clearLies()
        try stage.makeAllAgain()
        stage.checkHarm(decoys)
    }

    // MARK: - What lies about what

    private func lieAboutRun(_ stage: Stage, _ decoys: Decoys) throws {
        try stage.writeManifest()
        let run = try stage.start()
        pause(stage.moment(0.1...0.7))
        run.process.signal(SIGKILL)
        stage.finish(run, stage.doneCodes.union([137]))
        stage.checkOrphans()
        let folder = "\(stage.workspace.stateFolder)/runs"
        try strike(files(below: folder), stage, decoys)
        let name = Folder.names(folder).first ?? "none"
        try tryOut(
            [
                ["run", stage.workspace.manifest, "--json"], ["resume"], ["resume", name], ["cancel", name],
                ["status"], ["show", name], ["logs", name], ["gc"], ["pause", name],
            ], stage, decoys)
    }

    private func lieAboutIndexes(_ stage: Stage, _ decoys: Decoys) throws {
        try stage.writeManifest()
        try stage.runCalmly()
        let outputs = stage.workspace.outputs
        if stage.random.chance(0.8) {
            try? FileManager.default.removeItem(atPath: stage.workspace.stateFolder)
        }
        try strike(files(below: outputs).filter(Folder.isIndex), stage, decoys)
        let manifest = stage.workspace.manifest
        try tryOut(
            [
                ["run", manifest, "--json"], ["run", manifest, "--delete-orphans=all"], ["verify", manifest],
                ["verify", outputs], ["verify", manifest, "--rerender"], ["plan", manifest], ["adopt", manifest],
            ], stage, decoys)
    }

    private func lieAboutReceipts(_ stage: Stage, _ decoys: Decoys) throws {
        try stage.writeManifest()
        try stage.runCalmly()
        try strike(files(below: stage.workspace.outputs).filter(Folder.isReceipt), stage, decoys)
        let manifest = stage.workspace.manifest
        try tryOut(
            [
                ["run", manifest, "--json"], ["run", manifest, "--force"], ["verify", manifest],
                ["verify", stage.workspace.outputs],
            ], stage, decoys)
    }

    private func lieAboutShards(_ stage: Stage, _ decoys: Decoys) throws {
        try stage.writeManifest()
        let shared = "\(stage.workspace.path)/shared"
        let shards = Int.random(in: 1...3, using: &stage.random)
        try stage.command(["prepare", stage.workspace.manifest, "--run-dir", shared, "--shards", "\(shards)"], [0])
        func shard() -> [String] {
            ["shard", "--run-dir", shared, "--index", "\(Int.random(in: 1...shards, using: &stage.random))"]
        }
        if stage.random.chance(0.5) { try stage.command(shard(), [0, 66]) }
        try strike(files(below: shared), stage, decoys)
        try tryOut(
            [
                shard(), shard(), ["status", "--run-dir", shared],
                ["resume", "--run-dir", shared, "--engine", "local"],
                ["cancel", "--run-dir", shared], ["logs", "--run-dir", shared], ["show", "--run-dir", shared],
                ["wait", "--run-dir", shared, "--timeout", "0.1"],
                ["prepare", stage.workspace.manifest, "--run-dir", shared, "--shards", "\(shards)"],
            ], stage, decoys)
        stage.checkDone(try stage.command(["resume", "--run-dir", shared, "--engine", "local"]))
    }

    /// Two of the commands, in any order.
    private func tryOut(_ commands: [[String]], _ stage: Stage, _ decoys: Decoys) throws {
        for arguments in commands.shuffled(using: &stage.random).prefix(2) {
            let run = try stage.command(arguments)
            if ["run", "resume"].contains(arguments[0]) { stage.checkDone(run) }
            stage.checkOrphans()
            stage.checkHarm(decoys)
        }
    }

    private func files(below folder: String) -> [String] {
        (Folder.files(folder) + Folder.folders(folder)).map { "\(folder)/\($0)" }.sorted()
    }

    // MARK: - Lies

    /// Some of the files, in one way or another.
    private func strike(_ files: [String], _ stage: Stage, _ decoys: Decoys) throws {
        // The larger number by far are pixels, of which other scenarios lie.
        let words = files.filter { path in ["canvas-", "tile-"].allSatisfy { !path.contains($0) } }
        let isOfWords = stage.random.chance(0.9) && !words.isEmpty
        stage.strike(isOfWords ? words : files, decoys)
    }
}

extension Stage {
    /// Lies in some of the files, in one way or another. Each kind of file is as likely as another one, however many there are of
    /// it: one journal, one claim, a hundred records.
    ///
    /// - Returns: the files that lie now.
    @discardableResult func strike(_ files: [String], _ decoys: Decoys) -> Set<String> {
        let book = FaultBook(folder: workspace.faults)
        let kinds = Dictionary(grouping: files) { path in
            (path.split(separator: "/").last ?? "").replacing(#/[0-9a-f]{6,}|\d+/#, with: "N")
        }
        var struck: Set<String> = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let kind = kinds.keys.sorted().randomElement(using: &random),
                let path = kinds[kind]?.randomElement(using: &random),
                let what = FileLie.tell(of: path, lures(decoys), decoys, &random)
            else { continue }
            struck.insert(path)
            result.faults += 1
            book.note("lie", path, what)
        }
        return struck
    }

    /// A user who finds nonsense in what Penumbra keeps removes it. What a lie has made of an output's place goes, too.
    func clearLies() {
        guard result.violations.isEmpty else { return }
        for name in ["shared", workspace.state] {
            chmod("\(workspace.path)/\(name)", 0o755)
            try? FileManager.default.removeItem(atPath: "\(workspace.path)/\(name)")
        }
        for file in Folder.files(workspace.outputs)
        where Folder.isIndex(file) || Folder.isReceipt(file) || Folder.isTemporary(file) {
            unlink("\(workspace.outputs)/\(file)")
        }
        for folder in Folder.names(workspace.outputs) where Folder.isIndex(folder) || Folder.isReceipt(folder) {
            try? FileManager.default.removeItem(atPath: "\(workspace.outputs)/\(folder)")
        }
    }
}

/// One file that becomes another.
enum FileLie {
    /// - Returns: what was done; nil where nothing could be.
    static func tell(
        of path: String, _ lures: [String], _ decoys: Decoys, _ random: inout SplitMix64
    ) -> String? {
        if !Folder.isFolder(path), random.chance(0.65) { return words(in: path, lures, &random) }
        return replace(path, decoys, &random)
    }

    /// Lines of JSON, or another text.
    private static func words(in path: String, _ lures: [String], _ random: inout SplitMix64) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        var lines = data.split(separator: 10, omittingEmptySubsequences: true).map { Data($0) }
        guard let index = lines.indices.randomElement(using: &random), data.count < 4 << 20 else {
            return write(Data("{}\n".utf8), path) ? "an object" : nil
        }
        if let lie = JSONLiar(paths: lures).lie(about: lines[index], &random) {
            lines[index] = lie.text
            return write(Data(lines.joined(separator: [10])) + [10], path) ? lie.words : nil
        }
        let texts = [
            "", "9223372036854775807", "-1", "../../home/key", "\0\0\0", String(repeating: "[", count: 100_000),
            lures.randomElement(using: &random) ?? "", "1\n1\n1\n",
        ]
        let text = texts[Int.random(in: texts.indices, using: &random)]
        return write(Data(text.utf8), path) ? "'\(text.prefix(40))'" : nil
    }

    /// Into the same file, with its rights.
    private static func write(_ data: Data, _ path: String) -> Bool {
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Bytes.write(Array(data), to: file)
    }

    /// Not what a link leads to.
    private static func lengthen(_ path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        return ftruncate(file, 1 << 40) == 0
    }

    /// - Returns: what lies there now.
    static func replace(_ path: String, _ decoys: Decoys, _ random: inout SplitMix64) -> String? {
        let aside = "\(decoys.home)-aside-\(random.next())"
        func away() -> Bool { rename(path, aside) == 0 }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return away() && symlink("\(decoys.home)/key", path) == 0 ? "a link to a file" : nil
        case 1: return away() && symlink("\(decoys.home)/folder", path) == 0 ? "a link to a folder" : nil
        case 2: return away() && symlink(path, path) == 0 ? "a link to itself" : nil
        case 3: return away() && mkfifo(path, 0o644) == 0 ? "a pipe" : nil
        case 4: return away() && mkdir(path, 0o755) == 0 ? "an empty folder" : nil
        case 5: return away() && symlink(aside, path) == 0 ? "a link to what it was" : nil
        case 6: return lengthen(path) ? "a terabyte" : nil
        case 7: return geteuid() == 0 && lchown(path, 65_534, 65_534) == 0 ? "another user's" : nil
        default: return away() ? "gone" : nil
        }
    }
}

extension Folder {
    /// Paths of all folders below it, but not of links to some.
    static func folders(_ path: String) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: path) else { return [] }
        var result: [String] = []
        while let name = walk.nextObject() as? String {
            if walk.fileAttributes?[.type] as? FileAttributeType == .typeDirectory { result.append(name) }
        }
        return result.sorted()
    }
}
