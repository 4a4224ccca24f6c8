import Foundation
import Glibc
import Testing

/// No command deletes or overwrites a file that Penumbra did not publish: every combination of `run`'s flags, in a
/// workspace where other people's files lie about.
@Suite struct NeverHarmTests {
    struct Combination: Sendable {
        let existing: String
        /// What `--delete-orphans` is given; nil without it.
        let orphans: String?
        let selection: [String]
        let flags: [String]

        var options: [String] { (orphans.map { [$0] } ?? []) + selection + flags }
        var isForced: Bool { flags.contains("--force") }

        /// Those of ``NightWithBystanders/photos`` that it takes, by their names.
        var chosen: [String] {
            switch selection.first {
            case "--only": ["c"]
            // Those that there is something to do with: else c, e and at most one more.
            case "--limit" where isForced || existing == "overwrite": ["a", "b"]
            default: NightWithBystanders.photos
            }
        }

        /// What a run may put in the place of something else.
        var replaceable: Set<String> {
            let chosen = Set(chosen)
            if isForced || existing == "overwrite" { return Set(chosen.map { "out/\($0).png" }) }
            return existing == "update" && chosen.contains("c") ? ["out/c.png"] : []
        }

        /// What a run may make where nothing was.
        var creatable: Set<String> { chosen.contains("e") ? ["out/e.png"] : [] }

        var removable: Set<String> { orphans == "--delete-orphans=all" && selection.isEmpty ? ["out/gone.png"] : [] }
    }

    private static let selections: [[String]] = [[], ["--only", "c.png"], ["--limit", "2"]]
    private static let orphans: [String?] = [nil, "--delete-orphans", "--delete-orphans=all"]
    private static let switches = ["--force", "--quiet", "--strict", "--json"]

    private static func combinations(_ existing: String) -> [Combination] {
        selections.flatMap { selection in
            orphans.flatMap { orphans in
                (0..<1 << switches.count).map { bits in
                    let flags = switches.indices.filter { bits >> $0 & 1 == 1 }.map { switches[$0] }
                    return Combination(existing: existing, orphans: orphans, selection: selection, flags: flags)
                }
            }
        }
    }

    @Test(arguments: ["update", "skip", "overwrite", "error"])
    func `no combination of flags harms a file that Penumbra did not publish`(existing: String) async throws {
        let night = try await NightWithBystanders(existing: existing)
        for combination in Self.combinations(existing) {
            try night.restore()
            let before = try night.files()
            let result = try await Program.run(
                Program.penumbra, ["run", "job.yaml", "--workers", "1"] + combination.options, in: night.workspace)
            #expect([0, 1].contains(result.code), "\(combination): \(result.errors)")
            expectNoHarm(before, try night.files(), combination)
        }
    }

    private func expectNoHarm(_ before: [String: Data], _ after: [String: Data], _ combination: Combination) {
        for (file, bytes) in before where after[file] != bytes {
            let isAllowed =
                after[file] == nil
                ? combination.removable.contains(file) : combination.replaceable.contains(file)
            #expect(isAllowed, "\(combination): \(file) was \(after[file] == nil ? "removed" : "overwritten")")
        }
        let stray = Set(after.keys).subtracting(before.keys).subtracting(combination.creatable)
        #expect(stray == [], "\(combination)")
        for file in combination.removable { #expect(after[file] == nil, "\(combination): \(file)") }
        for file in combination.creatable { #expect(after[file] != nil, "\(combination): \(file)") }
    }

    @Test func `commands that only look change nothing`() async throws {
        let night = try await NightWithBystanders(existing: "update")
        let before = try night.files()
        for command in [["plan"], ["plan", "--json"], ["plan", "--force"], ["check"]] {
            let result = try await Program.run(Program.penumbra, command + ["job.yaml"], in: night.workspace)
            #expect(result.code == 0, "\(command): \(result.errors)")
            #expect(try night.files() == before, "\(command)")
        }
    }

    @Test(arguments: [[], ["--force"], ["--set", "existing=overwrite"], ["--delete-orphans=all"]])
    func `an output that is the file of an input fails alone`(options: [String]) async throws {
        let workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.write("", to: "out/.keep")
        // A hard link: two names of one file.
        #expect(link("\(workspace.path)/photos/a.png", "\(workspace.path)/out/a.png") == 0)
        try workspace.writeNightly(inputs: "photos/*.png")
        let before = try workspace.contents(below: "photos")
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors == """
                1 frame failed: output refused
                  photos/a.png: the output \(workspace.path)/out/a.png is the same file as the input \
                \(workspace.path)/photos/a.png (a hard link); Penumbra never writes to its inputs: remove the output

                """)
        #expect(try workspace.contents(below: "photos") == before)
        #expect(try workspace.read("out/a.png") == before["a.png"])
        #expect(workspace.exists("out/b.png"))
    }
}

/// A job's folder before a night, with files that are not Penumbra's. It is brought back to that after each run.
private struct NightWithBystanders {
    let workspace: Workspace

    /// In their order: a is unchanged, b has changed and its output was edited, c has changed, another file is where d's
    /// output would be, e is new, and a link is where f's output was.
    static let photos = ["a", "b", "c", "d", "e", "f"]

    /// Somebody's files, and those that look like Penumbra's own.
    private static let bystanders = [
        ".penumbra-index-old", "notes.txt", "photos/.penumbra-x", "photos/notes.txt", "out/other.png", "out/sub/a.png",
        "out/.penumbra-x", "out/.penumbra-20200101T000000Z-1a2b3c-1-frame-1", "out/.penumbra-index~",
        "out/.penumbra-20200101T000000Z-1a2b3c-index/a", "elsewhere/picture.png", "state/notes.txt",
        "state/penumbra/notes.txt", "state/penumbra/runs/notes.txt", "state/penumbra/locks/notes.txt",
        "state/penumbra/penumbra.sqlite.bak",
    ]

    init(existing: String) async throws {
        workspace = try Workspace()
        keeper = try Workspace()
        for name in Self.photos + ["gone", "edited", "linked", "adopted"] where name != "e" && name != "d" {
            try draw(name, width: 30)
        }
        try workspace.writeNightly(inputs: "photos/*.png")
        try workspace.copy("photos/adopted.png", to: "out/adopted.png")
        let adopted = try await Program.run("adopt", "job.yaml", "--only", "adopted.png", in: workspace)
        #expect(adopted.code == 0, "\(adopted.errors)")
        #expect(try await Program.night(workspace) == NightSummary(published: 7, skipped: 1))

        for name in ["b", "c", "d", "e"] { try draw(name, width: 40) }
        for name in ["b", "edited"] { try workspace.write("edited", to: "out/\(name).png") }
        try workspace.write("somebody's", to: "out/d.png")
        for name in ["gone", "edited", "linked", "adopted"] { try workspace.remove("photos/\(name).png") }
        for name in Self.bystanders { try workspace.write("bystander", to: name) }
        for name in ["f", "linked"] {
            try FileManager.default.moveItem(
                atPath: "\(workspace.path)/out/\(name).png", toPath: "\(workspace.path)/elsewhere/\(name).png")
            try link("out/\(name).png", to: "../elsewhere/\(name).png")
        }
        try link("out/dangling.png", to: "nowhere")
        try link("out/photos", to: "../photos")
        try link("state/penumbra/runs/photos", to: "../../../photos")
        try workspace.writeNightly(inputs: "photos/*.png", more: "existing: \(existing)")
        try keep()
    }

    private func draw(_ name: String, width: Int) throws {
        try? workspace.remove("photos/\(name).png")  // most are new
        try workspace.draw("photos/\(name).png", width: width, height: 20)
        try workspace.age("photos/\(name).png")
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/\(name)", withDestinationPath: target)
    }

    private static let folders = ["photos", "out", "elsewhere", "state"]
    private let keeper: Workspace
    private var kept: String { "\(keeper.path)/kept" }

    /// What Penumbra itself writes anew each time: the database, its locks.
    private static func isPenumbras(_ file: String) -> Bool {
        let name = file.split(separator: "/").last ?? ""
        return name == ".penumbra-index"
            || file.hasPrefix("state/penumbra/") && !bystanders.contains(file)
                && (name.hasPrefix("penumbra.sqlite") || name == "runs.lock" || file.contains("/locks/"))
    }

    /// All files that are not Penumbra's own; links with where they lead, broken ones too.
    func files() throws -> [String: Data] {
        try workspace.contents(below: "").filter { !Self.isPenumbras($0.key) }
    }

    private func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-ec", command]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command)")
    }

    /// Files are known by their inodes, so that they are kept as hard links; but what is written in place is copied.
    private func keep() throws {
        try shell(
            """
            mkdir '\(kept)'; cd '\(workspace.path)'; cp -al \(Self.folders.joined(separator: " ")) '\(kept)'
            for file in out/.penumbra-index $(ls state/penumbra/penumbra.sqlite*); do
                rm '\(kept)'/$file; cp -p $file '\(kept)'/$file
            done
            """)
    }

    func restore() throws {
        try shell(
            """
            cd '\(workspace.path)'; rm -r \(Self.folders.joined(separator: " "))
            cp -al '\(kept)'/* .
            for file in out/.penumbra-index $(ls state/penumbra/penumbra.sqlite*); do
                rm $file; cp -p '\(kept)'/$file $file
            done
            """)
    }
}
