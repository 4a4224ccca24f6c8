import Foundation
import Glibc
import Testing

@Suite(.serialized) struct ExitCodeTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `64: the command line is wrong`() async throws {
        #expect(try await Program.run("run", in: workspace).code == 64)
        #expect(try await Program.run("run", "--workers", "0", "job.yaml", in: workspace).code == 64)
        #expect(try await Program.run("filters", "gausian", in: workspace).code == 64)
    }

    @Test func `65: the manifest is wrong, and nothing starts`() async throws {
        try workspace.writeManifest("good.yaml", output: "good/{stem}.png")
        try workspace.writeManifest("bad.yaml", filters: "[gausian]")
        let result = try await Program.run("run", "good.yaml", "bad.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors == """
                bad.yaml:3:11: error: unknown filter 'gausian'
                3 | filters: [gausian]
                  |           ^^^^^^^
                  = did you mean 'gaussian'? 'penumbra filters' lists the filters your workers offer

                """)
        #expect(!workspace.exists("good"))
    }

    @Test func `65: outputs that collide, all of them`() async throws {
        try workspace.draw("photos/a.jpg", width: 20, height: 20)
        try workspace.writeManifest(inputs: "photos/a.*")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors == """
                job.yaml: error: 2 inputs would be written to the one output \(workspace.path)/out/a.png:
                     \(workspace.path)/photos/a.jpg
                     \(workspace.path)/photos/a.png
                   = add {ext} or {index} to 'output', or exclude all but one

                """)
        #expect(!workspace.exists("out"))
    }

    @Test func `65: an output that would overwrite an input`() async throws {
        try workspace.writeManifest(inputs: "photos/*.png", output: "photos/{stem}.png")
        let before = try workspace.read("photos/a.png")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors == """
                job.yaml: error: the output \(workspace.path)/photos/a.png would overwrite the input \
                \(workspace.path)/photos/a.png
                   = Penumbra never writes to its inputs: write to another folder

                """)
        #expect(try workspace.read("photos/a.png") == before)
    }

    @Test func `65: an output that the next run would take in`() async throws {
        try workspace.writeManifest(inputs: "'**/*.png'", output: "photos/blurred/{stem}.png")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(result.errors.contains("would be an input of the next run"))
        #expect(result.errors.hasSuffix("     exclude:\n       - photos/blurred/*.png\n"))
    }

    @Test func `66: inputs are missing`() async throws {
        try workspace.writeManifest("none.yaml", inputs: "photos/*.gif")
        let none = try await Program.run("run", "none.yaml", in: workspace)
        #expect(none.code == 66)
        #expect(
            none.errors == """
                none.yaml: error: no file matches 'photos/*.gif'
                   = if that can happen, --allow-empty makes it no error

                """)
        #expect(try await Program.run("run", "none.yaml", "--allow-empty", in: workspace).code == 0)

        try workspace.writeManifest("gone.yaml", inputs: "mnt/disk/*.png")
        let gone = try await Program.run("run", "gone.yaml", in: workspace)
        #expect(gone.code == 66)
        #expect(gone.errors.contains("\(workspace.path)/mnt/disk: no such folder"))
    }

    @Test func `69: the worker program is missing`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_WORKER": "/nowhere/penumbra-worker"])
        #expect(result.code == 69)
        #expect(result.errors.contains("/nowhere/penumbra-worker"))
        #expect(result.errors.contains("PENUMBRA_WORKER names another path"))
    }

    @Test func `69: a worker that talks nonsense is not started for ever`() async throws {
        try workspace.writeManifest()
        let catalog = try await Program.run(Program.worker, ["describe"], in: workspace).output
        try workspace.write(catalog, to: "catalog.json")
        try workspace.write(
            "#!/bin/sh\n[ \"$1\" = describe ] && exec cat '\(workspace.path)/catalog.json'\necho nonsense\n",
            to: "worker.sh")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: "\(workspace.path)/worker.sh")
        let result = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_WORKER": "\(workspace.path)/worker.sh"])
        #expect(result.code == 69)
        #expect(result.errors.contains("no worker can be started: "))
        #expect(workspace.files(below: "state/penumbra/runs") == [])
    }

    @Test func `74: results that cannot be written`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run(
            "/bin/bash", ["-c", "\(Program.penumbra) run --json job.yaml > /dev/full"], in: workspace)
        #expect(result.code == 74)
        #expect(result.errors == "standard output cannot be written: No space left on device\n")
    }

    @Test func `74: a scratch folder that cannot be made`() async throws {
        try workspace.writeManifest()
        try workspace.write("in the way", to: "file")
        let result = try await Program.run(
            "run", "job.yaml", "--scratch", "\(workspace.path)/file/x", in: workspace)
        #expect(result.code == 74)
        #expect(result.errors.contains("   = name other folders by --state-dir and --scratch\n"))
        #expect(workspace.files(below: "state/penumbra/runs") == [])
    }

    @Test(arguments: ["a file", nil])
    func `74: an output folder with something in its place`(file: String?) async throws {
        try workspace.writeManifest()
        if let file {
            try workspace.write(file, to: "out")
        } else {
            try FileManager.default.createSymbolicLink(
                atPath: "\(workspace.path)/out", withDestinationPath: "nowhere")
        }
        // A plan only looks.
        for (command, code) in [("run", Int32(74)), ("plan", 1)] {
            let result = try await Program.run(command, "job.yaml", in: workspace)
            #expect(result.code == code)
            #expect(
                result.errors == """
                    \(workspace.path)/out: cannot create the folder: Not a directory
                       = something that is no folder is in its place: move it away, or choose another output path

                    """)
        }
    }

    @Test func `74: a folder with files in place of the index, before anything is rendered`() async throws {
        try workspace.writeManifest()
        try workspace.write("a letter", to: "out/.penumbra-index/letter")
        // A plan only looks.
        for (command, code) in [("run", Int32(74)), ("plan", 1)] {
            let result = try await Program.run(command, "job.yaml", in: workspace)
            #expect(result.code == code)
            #expect(
                result.errors == """
                    \(workspace.path)/out/.penumbra-index: cannot write the index of the outputs: Is a directory
                       = a folder that is not empty, or cannot be removed, has this name: move it away, and run again

                    """)
        }
        #expect(workspace.files(below: "out") == [".penumbra-index/letter"])
        try FileManager.default.removeItem(atPath: "\(workspace.path)/out/.penumbra-index/letter")
        let result = try await Program.run("plan", "job.yaml", in: workspace)
        #expect((result.code, result.errors) == (0, ""))
    }

    @Test func `a plan names a folder in place of the index if nothing, or only a touched picture, is to be done`()
        async throws
    {
        try workspace.writeManifest()
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        try FileManager.default.removeItem(atPath: "\(workspace.path)/out/.penumbra-index")
        try workspace.write("a letter", to: "out/.penumbra-index/letter")
        for isTouched in [false, true] {
            if isTouched { utimes("\(workspace.path)/photos/a.png", nil) }
            let plan = try await Program.run("plan", "job.yaml", in: workspace)
            let run = try await Program.run("run", "job.yaml", in: workspace)
            #expect((plan.code, run.code) == (1, 74))
            #expect(plan.errors == run.errors && plan.errors.contains("has this name: move it away"))
        }
    }

    @Test(arguments: ["out", "out/.penumbra-index/letter"])
    func `74: one job that cannot write its outputs does not keep another one from running`(odd: String) async throws {
        try workspace.writeManifest()
        try workspace.writeManifest("other.yaml", output: "other/{stem}.png")
        try workspace.write("a letter", to: odd)
        let result = try await Program.run("run", "job.yaml", "other.yaml", in: workspace)
        #expect(result.code == 74)
        #expect(result.errors.hasPrefix("\(workspace.path)/out"))
        #expect(workspace.files(below: "other") == ["a.png", "b.png", "c.png"])
    }

    /// The superuser may write everywhere, but for one who has given that right away.
    private func runWithoutRights(_ arguments: [String] = ["run", "--quiet", "job.yaml"]) async throws -> Program.Result
    {
        guard geteuid() == 0 else { return try await Program.run(Program.penumbra, arguments, in: workspace) }
        return try await Program.run(
            "/usr/bin/setpriv", ["--bounding-set=-dac_override,-dac_read_search", Program.penumbra] + arguments,
            in: workspace)
    }

    /// Makes a folder that nobody may write to, or even enter.
    private func close(_ folder: String, rights: mode_t) throws {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/\(folder)", withIntermediateDirectories: true)
        chmod("\(workspace.path)/\(folder)", rights)
    }

    @Test(arguments: ["closed/", "closed/new/", "closed/a.png"])
    func `74: apply into a folder where nothing may be written`(output: String) async throws {
        try close("closed", rights: 0o555)
        let result = try await runWithoutRights(["apply", "gaussian", "photos/a.png", "-o", output])
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(workspace.path)/closed: cannot write in the folder: Permission denied
                   = let the user '\(Program.user)' write there, or choose another output path
                   = to let a group write there: chgrp GROUP FOLDER && chmod g+rwxs FOLDER

                """)
    }

    @Test(arguments: ["photos/a.png/", "photos/a.png/b.png", "photos/a.png/b/c.png"], [0o644, 0o755])
    func `74: apply and preview below a file`(output: String, rights: mode_t) async throws {
        try workspace.writeManifest()
        chmod("\(workspace.path)/photos/a.png", rights)
        let message = """
            \(workspace.path)/photos/a.png: cannot create the folder: Not a directory
               = something that is no folder is in its place: move it away, or choose another
            """
        let applied = try await Program.run("apply", "gaussian", "photos/b.png", "-o", output, in: workspace)
        #expect(applied.code == 74)
        #expect(applied.errors == message + " output path\n")
        guard !output.hasSuffix("/") else { return }
        let preview = try await Program.run("preview", "job.yaml", "-o", output, in: workspace)
        #expect(preview.code == 74)
        #expect(preview.errors.hasPrefix(message))
    }

    @Test func `74: a preview in a folder where nothing may be written`() async throws {
        try workspace.writeManifest()
        try close("closed", rights: 0o555)
        let result = try await runWithoutRights(["preview", "job.yaml", "-o", "closed/x.png"])
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(workspace.path)/closed: cannot write in the folder: Permission denied
                   = let the user '\(Program.user)' write there, or choose another file by -o
                   = to let a group write there: chgrp GROUP FOLDER && chmod g+rwxs FOLDER

                """)
    }

    @Test func `64: a preview in the place of a folder`() async throws {
        try workspace.writeManifest()
        try close("x.png", rights: 0o755)
        let result = try await Program.run("preview", "--force", "job.yaml", "-o", "x.png", in: workspace)
        #expect(result.code == 64)
        #expect(result.errors == "x.png: is a folder\n   = choose another name\n")
    }

    @Test func `74: a plan of outputs below a folder that cannot be entered`() async throws {
        try workspace.writeManifest(output: "closed/out/{stem}.png")
        try close("closed", rights: 0)
        defer { chmod("\(workspace.path)/closed", 0o755) }
        let result = try await runWithoutRights(["plan", "job.yaml"])
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(workspace.path)/closed/out: cannot enter the folder: Permission denied
                   = let the user '\(Program.user)' write there, or choose another output path

                """)
    }

    @Test(arguments: [("--report", "x.html"), ("--metrics", "x.prom")])
    func `74: a report below a folder that cannot be entered`(option: String, name: String) async throws {
        try workspace.writeManifest()
        try close("closed", rights: 0)
        defer { chmod("\(workspace.path)/closed", 0o755) }
        let result = try await runWithoutRights(["run", "job.yaml", option, "closed/\(name)"])
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(option): \(workspace.path)/closed/\(name): cannot open: Permission denied
                   = let the user '\(Program.user)' write there, or choose another path

                """)
    }

    @Test func `74: an export into a folder where nothing may be written`() async throws {
        try workspace.writeManifest()
        try close("closed", rights: 0o555)
        let result = try await runWithoutRights(["export", "--to", "slurm", "job.yaml", "--output", "closed/jobs"])
        #expect(result.code == 74)
        #expect(
            result.errors.hasSuffix(
                "closed/jobs: cannot create the folder: Permission denied\n   = let the user '\(Program.user)' write there, or choose another folder\n"
            ), "\(result.errors)")
    }

    @Test(arguments: [["status"], ["gc"], ["wait"], ["blur", "--list"], ["is-blurred", "photos/a.png"]])
    func `74: a state folder that is a file`(command: [String]) async throws {
        try workspace.write("no folder", to: "file")
        let result = try await Program.run(Program.penumbra, command + ["--state-dir", "file"], in: workspace)
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(workspace.path)/file: the state folder cannot be used: it is no folder
                   = name a folder by --state-dir

                """)
    }

    @Test(arguments: [["status"], ["gc"], ["blur", "--list"], ["blur", "--list", "photos/a.png"]])
    func `0: what only looks makes no state folder`(command: [String]) async throws {
        let result = try await Program.run(Program.penumbra, command + ["--state-dir", "new"], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(!workspace.exists("new"))
    }

    @Test func `64: doctor names the missing commands of a cluster, and exits as run does`() async throws {
        let result = try await Program.run("doctor", "--engine", "commands", in: workspace)
        #expect(result.code == 64)
        try workspace.writeNightly()
        #expect(try await Program.run("run", "--engine", "commands", "job.yaml", in: workspace).code == 64)
        #expect(result.output.contains("\nFAIL  the engine 'commands' needs the site's commands\n"), "\(result.output)")
    }

    @Test(arguments: ["empty", "pipe"]) func `66: apply advises only what it has`(input: String) async throws {
        try close("empty", rights: 0o755)
        mkfifo("\(workspace.path)/pipe", 0o600)
        let result = try await Program.run("apply", "gaussian", input, "-o", "new/", in: workspace)
        #expect(result.code == 66)
        let problem =
            input == "empty"
            ? "no file matches 'empty'"
            : "\(workspace.path)/pipe: is a pipe, a socket or a device, and no picture file"
        #expect(result.errors == "apply: error: \(problem)\n   = name picture files, or folders that hold some\n")
    }

    @Test func `65: a picture of a filter of apply that is no file`() async throws {
        mkfifo("\(workspace.path)/pipe", 0o600)
        let result = try await Program.run(
            "apply", "overlay: {picture: pipe}", "photos/a.png", "-o", "new/", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors == """
                the chain: error: the picture of 'picture', 'pipe': not a file
                  | overlay: {picture: pipe}
                  |                    ^^^^
                  = write the path of a picture that Penumbra can read; this one leads to \(workspace.path)/pipe

                """)
    }

    @Test func `74: an output folder where nothing may be written, once there is something to write`() async throws {
        // A picture that was written just now is read again the next night, before it is known that there is something.
        for name in ["photos/a.png", "photos/b.png", "photos/c.jpg"] { try workspace.age(name) }
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        chmod("\(workspace.path)/out", 0o555)
        defer { chmod("\(workspace.path)/out", 0o755) }
        #expect(try await runWithoutRights().code == 0)
        try workspace.writeNightly(radius: "7")
        let result = try await runWithoutRights()
        #expect(result.code == 74)
        #expect(
            result.errors == """
                \(workspace.path)/out: cannot write in the folder: Permission denied
                   = let the user '\(Program.user)' write there, or choose another output path
                   = to let a group write there: chgrp GROUP FOLDER && chmod g+rwxs FOLDER

                """)
        #expect(workspace.files(below: "state/penumbra/runs") == [])
    }

    @Test func `1: one folder of outputs where nothing may be written`() async throws {
        try workspace.copy("photos/a.png", to: "photos/x/d.png")
        try workspace.writeNightly(inputs: "photos", output: "out/{dir}/{stem}.png")
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/out/x", withIntermediateDirectories: true)
        chmod("\(workspace.path)/out/x", 0o555)
        defer { chmod("\(workspace.path)/out/x", 0o755) }
        let result = try await runWithoutRights()
        #expect(result.code == 1)
        #expect(result.errors.hasPrefix("test: 1 frame failed: not permitted\n  photos/x/d.png: "))
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `1: a picture that may not be read; it is tried again the next night`() async throws {
        try workspace.writeNightly()
        chmod("\(workspace.path)/photos/b.png", 0)
        let refused = try await runWithoutRights()
        #expect(refused.code == 1)
        #expect(
            refused.errors
                == "test: 1 frame failed: not permitted\n  photos/b.png: may not be opened (permission denied)\n")
        chmod("\(workspace.path)/photos/b.png", 0o644)
        #expect(try await runWithoutRights().code == 0)
        #expect(workspace.files(below: "out") == ["a.png", "b.png", "c.png"])
    }

    @Test func `74: a full disk that cannot hold the database`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run(
            "/bin/bash", ["-c", "ulimit -f 8; exec \(Program.penumbra) run job.yaml"], in: workspace)
        #expect(result.code == 74)
        #expect(result.errors.contains("free some space or choose another place, then run it again"))
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `74: a full disk stops the run, and nothing partial stays`() async throws {
        try workspace.writeManifest(output: "out/{stem}.tif", more: "save: {compression: none}")
        try workspace.draw("photos/a.png", width: 900, height: 700)
        // A limit on file sizes is met like a full disk, and needs no rights.
        let result = try await Program.run(
            "/bin/bash", ["-c", "ulimit -f 400; exec \(Program.penumbra) run job.yaml"], in: workspace)
        #expect(result.code == 74)
        #expect(result.errors.contains("free some space or choose another place, then run it again"))
        #expect(!result.errors.contains(".penumbra-"))
        // The smaller ones may have been published before.
        #expect(Set(workspace.files(below: "out")).isSubset(of: ["b.tif", "c.tif"]))
        #expect(try await Program.run("run", "job.yaml", in: workspace).code == 0)
        #expect(workspace.files(below: "out") == ["a.tif", "b.tif", "c.tif"])
    }
}
