import Foundation
import Glibc
import Testing

/// Disks that were mounted last night and are not now.
@Suite(.serialized) struct MissingDisksTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func empty(_ folder: String) throws {
        try workspace.remove(folder)
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/\(folder)", withIntermediateDirectories: true)
    }

    @Test(arguments: [["run", "--quiet"], ["plan"], ["adopt"], ["run", "--delete-orphans=all"], ["run", "--force"]])
    func `66: a folder of outputs that is empty now is not filled`(command: [String]) async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try empty("out")
        let result = try await Program.run(Program.penumbra, command + ["job.yaml"], in: workspace)
        #expect(result.code == 66)
        #expect(
            result.errors == """
                job.yaml: error: \(workspace.path)/out has none of the 3 outputs of this job any more
                   = is a disk not mounted? If the outputs were removed or moved on purpose, --allow-gone renders \
                them again in \(workspace.path)/out

                """)
        #expect(workspace.allFiles(below: "out") == [])
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace, "--allow-gone") == NightSummary(published: 3))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"))
    func `66: older pictures with all the names of a disk, below its mount point, replace no output`() async throws {
        try workspace.copy("photos/b.png", to: "in/usb/a.png")
        try workspace.copy("photos/a.png", to: "in/usb/b.png")
        for name in ["in/usb/a.png", "in/usb/b.png"] { try workspace.age(name, hours: 99) }
        try workspace.writeNightly(inputs: "in/usb/*")
        let p = Program.penumbra
        let script = """
            mount -t tmpfs none in/usb || exit 200
            cp photos/a.png photos/b.png in/usb
            \(p) run --quiet job.yaml || exit 201
            umount in/usb
            \(p) run --quiet job.yaml; a=$?
            \(p) run --quiet --allow-empty job.yaml; b=$?
            [ "$a $b" = "66 0" ] || exit 202
            """
        guard let result = try await mounting(script) else { return }
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors.contains("in/usb is not mounted; it had 2 pictures of this job"), "\(result.errors)")
        try workspace.writeNightly(inputs: "[photos/a.png, photos/b.png]", output: "fresh/{stem}.png")
        #expect(try await Program.night(workspace).published == 2)
        #expect(try workspace.contents(below: "out") == workspace.contents(below: "fresh"))
    }

    @Test func `a picture behind a link that leads nowhere now fails by name, every night`() async throws {
        try workspace.copy("photos/a.png", to: "elsewhere/far.png")
        try workspace.age("elsewhere/far.png")
        #expect(symlink("../elsewhere/far.png", "\(workspace.path)/photos/far.png") == 0)
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        try workspace.remove("elsewhere/far.png")
        for _ in 1...2 {
            let result = try await run("run", "--quiet", "job.yaml")
            #expect(result.code == 1)
            #expect(
                result.errors == """
                    test: 1 frame failed: input missing or not readable
                      photos/far.png: is a link whose target is gone, or not mounted; --allow-gone \
                    continues without it

                    """)
        }
        #expect(try await run("run", "--quiet", "--only", "a.png", "job.yaml").code == 0)
        let gone = try await run("run", "--quiet", "--allow-gone", "job.yaml")
        #expect(gone.code == 0)
        #expect(workspace.exists("out/far.png"))
    }

    @Test func `a link that never led to a picture is told once where silence is asked for`() async throws {
        #expect(symlink("nowhere", "\(workspace.path)/photos/new.png") == 0)
        try workspace.writeNightly()
        let first = try await run("run", "--quiet", "job.yaml")
        #expect(first.code == 0)
        #expect(
            first.errors == """
                test: 1 link leads nowhere: the target is gone, or not mounted
                  photos/new.png

                """)
        #expect(try await run("run", "--quiet", "job.yaml").errors == "")
    }

    @Test func `a folder of outputs that was removed on a disk that is mounted is made again`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        try workspace.remove("out")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    @Test func `a job that published nothing yet may have any folder`() async throws {
        try workspace.writeNightly(inputs: "[photos/*, more/*]")
        try workspace.draw("more/d.png", width: 20, height: 20)
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/out", withIntermediateDirectories: true)
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
    }

    @Test func `outputs that were removed from beside their index are made again`() async throws {
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        for name in workspace.files(below: "out") { try workspace.remove("out/\(name)") }
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    /// Runs a script that mounts disks for itself alone. Nil where nothing may be mounted, as in some containers.
    private func mounting(_ script: String) async throws -> Program.Result? {
        let commands = """
            p='\(Program.penumbra)'
            disk() { mkdir -p "$1" && mount -t tmpfs none "$1" 2>/dev/null || exit 200; }
            \(script)
            """
        let result = try await Program.run("/usr/bin/unshare", ["-m", "/bin/bash", "-c", commands], in: workspace)
        return result.code == 200 ? nil : result
    }

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"))
    func `verify says that the disk of missing outputs is not mounted`() async throws {
        try workspace.writeNightly(output: "disk/out/{stem}.png")
        let script = """
            disk disk
            $p run --quiet job.yaml || exit 201
            umount disk
            $p verify job.yaml
            """
        guard let result = try await mounting(script) else { return }
        #expect(result.code == 1)
        #expect(
            result.errors.hasSuffix(
                """
                \(workspace.path)/disk is not mounted; it had 3 of the missing outputs
                   = mount the disk, and verify the outputs again

                """), "\(result.errors)")
    }

    /// A way to lose outputs with their disk.
    struct OutputLoss: CustomTestStringConvertible {
        let testDescription: String
        var output = "disk/out"
        var mount = "disk disk"
        var unmount = "umount disk"
        var command = "$p"
        /// With `PATH` for the workspace.
        var words =
            "PATH/disk is not mounted; it had the 4 outputs of this job\n   = mount the disk, and run the job again."
        var folder = "disk/out"
    }

    private static let outputLosses = [
        OutputLoss(testDescription: "outputs below a mount point"),
        OutputLoss(
            testDescription: "an index below the mount point",
            mount: "$p run --quiet job.yaml || exit 201\ndisk disk", unmount: "umount disk\nrm -r disk/out/*"),
        OutputLoss(
            testDescription: "a disk inside the folder of outputs", output: "out", mount: "disk out/x",
            unmount: "umount out/x",
            words:
                "PATH/out/x is not mounted; it had the 1 output of this job\n   = mount the disk, and run the job again.",
            folder: "out/x"),
        OutputLoss(
            testDescription: "another disk, which is empty", unmount: "umount disk\ndisk disk",
            words: "the disk at PATH/disk is empty; it had the 4 outputs of this job\n   = is that the right disk?"),
        OutputLoss(
            testDescription: "another folder of the same disk",
            mount: "mkdir real disk\nmount --bind real disk 2>/dev/null || exit 200"),
        OutputLoss(
            testDescription: "a link to the disk", output: "out",
            mount: "disk disk\nmkdir disk/real\nln -s disk/real out", folder: "out"),
        OutputLoss(
            testDescription: "a mount point where nothing may be written",
            mount: "mkdir disk\nchmod 555 disk\ndisk disk",
            command: "setpriv --bounding-set=-dac_override,-dac_read_search $p"),
    ]

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"), arguments: outputLosses)
    func `66: outputs are not made again in the place of a disk that is not mounted`(loss: OutputLoss) async throws {
        try workspace.copy("photos/a.png", to: "photos/x/d.png")
        try workspace.writeNightly(inputs: "photos", output: "\(loss.output)/{dir}/{stem}.png")
        let script = """
            \(loss.mount)
            $p run --quiet --allow-gone job.yaml || exit 202
            \(loss.unmount)
            \(loss.command) run --quiet job.yaml
            """
        guard let result = try await mounting(script) else { return }
        #expect(result.code == 66)
        #expect(
            result.errors == """
                job.yaml: error: \(loss.words.replacing("PATH", with: workspace.path)) If the outputs were removed or moved on \
                purpose, --allow-gone renders them again in \(workspace.path)/\(loss.folder)

                """)
        #expect(workspace.files(below: "disk") == [] && workspace.files(below: "out/x") == [])
        #expect(workspace.leftovers() == [])
    }

    /// A way to lose pictures with their disk, while the job has others.
    struct InputLoss: CustomTestStringConvertible {
        let testDescription: String
        let inputs: String
        var mount = "disk in/usb\ncp photos/*.png in/usb"
        var unmount = "umount in/usb"
        var disk = "in/usb"
    }

    private static let inputLosses = [
        InputLoss(testDescription: "one entry over two disks", inputs: "\"in/**/*\""),
        InputLoss(
            testDescription: "a picture below the mount point", inputs: "[in/a/*, in/usb/*]",
            mount: "mkdir in/usb\ncp photos/c.jpg in/usb/NOT_MOUNTED.jpg\ndisk in/usb\ncp photos/*.png in/usb"),
        InputLoss(
            testDescription: "a link to the disk", inputs: "\"in/*/*.png\"",
            mount: "disk disk\nmkdir disk/x\ncp photos/*.png disk/x\nln -s ../disk/x in/usb", unmount: "umount disk",
            disk: "disk"),
    ]

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"), arguments: inputLosses)
    func `66: outputs of pictures whose disk is not mounted are not removed`(loss: InputLoss) async throws {
        try workspace.copy("photos/b.png", to: "in/a/z.png")
        try workspace.writeNightly(inputs: loss.inputs)
        let script = """
            \(loss.mount)
            $p run --quiet job.yaml || exit 201
            \(loss.unmount)
            for options in --quiet --delete-orphans --delete-orphans=all '--only z.png'; do
                $p run --quiet $options job.yaml 2>errors
                [ $? = 66 ] || exit 202
            done
            cat errors >&2
            for night in 1 2; do $p run --quiet --allow-empty --delete-orphans=all job.yaml && exit 203; done
            $p run --quiet job.yaml 2>/dev/null
            [ $? = 66 ] || exit 204
            [ -e out/a.png ] && [ -e out/b.png ] || exit 205
            $p run --quiet --allow-gone job.yaml || exit 206
            [ -e out/a.png ] && [ -e out/b.png ] || exit 207
            $p run --quiet --delete-orphans=all job.yaml 2>/dev/null
            """
        guard let result = try await mounting(script) else { return }
        #expect(result.code == 0)
        let lost = "\(workspace.path)/\(loss.disk) is not mounted; it had 2 pictures of this job"
        let kept =
            "test: 2 outputs stay, because \(lost); if the pictures were removed or moved on purpose, say so with "
            + "--allow-gone\n"
        #expect(
            result.errors == """
                job.yaml: error: \(lost)
                   = mount the disk, and run the job again. If the pictures were removed or moved on purpose, --allow-gone \
                continues without them; their outputs then have no input

                """ + kept + kept)
        #expect(!workspace.exists("out/a.png") && !workspace.exists("out/b.png") && workspace.exists("out/z.png"))
    }

    @Test(.enabled(if: geteuid() == 0, "mounts need rights"))
    func `a watch goes on without a disk that is not mounted, tells so once, and removes nothing`() async throws {
        try workspace.copy("photos/b.png", to: "in/a/z.png")
        try workspace.copy("photos/b.png", to: "later.png")
        for name in ["in/a/z.png", "later.png"] { try workspace.age(name) }
        try workspace.writeNightly(inputs: "[in/a/*, in/usb/*]")
        let script = """
            disk in/usb
            cp photos/*.png in/usb
            $p run --quiet job.yaml || exit 201
            umount in/usb
            $p run --quiet --watch --delete-orphans=all job.yaml &
            mv later.png in/a/y.png
            for i in $(seq 1200); do
                [ -e out/y.png ] && [ -z "$(ls state/penumbra/runs)" ] && break
                sleep 0.05
            done
            kill $!
            wait $!
            [ -e out/y.png ] && [ -e out/a.png ] && [ -e out/b.png ] || exit 202
            $p run --quiet job.yaml 2>/dev/null
            """
        guard let result = try await mounting(script) else { return }
        #expect(result.code == 66, "what the watch found is not what the next run expects")
        #expect(
            result.errors == """
                test: \(workspace.path)/in/usb is not mounted; it had 2 pictures of this job; the other pictures are \
                rendered, and no output of these is removed

                """)
    }

    @Test func `a job that has lost its outputs keeps no other job of the command from being done`() async throws {
        try workspace.writeNightly()
        try workspace.writeNightly("other.yaml", output: "other/{stem}.png")
        #expect(try await run("run", "job.yaml", "other.yaml").code == 0)
        try empty("out")
        try workspace.copy("photos/a.png", to: "photos/d.png")
        for manifests in [["job.yaml", "other.yaml"], ["other.yaml", "job.yaml"]] {
            let result = try await Program.run(Program.penumbra, ["run", "--quiet"] + manifests, in: workspace)
            #expect(result.code == 66)
            #expect(
                result.errors.hasPrefix(
                    "job.yaml: error: \(workspace.path)/out has none of the 3 outputs of this job any more\n"))
        }
        #expect(workspace.files(below: "out") == [])
        #expect(workspace.files(below: "other") == ["a.png", "b.png", "c.png", "d.png"])
    }

    @Test func `a job that has lost all its pictures keeps no other job of the command from being done`() async throws {
        try workspace.writeNightly()
        try workspace.writeNightly("other.yaml", inputs: "more/*", output: "other/{stem}.png")
        try workspace.copy("photos/a.png", to: "more/d.png")
        #expect(try await run("run", "job.yaml", "other.yaml").code == 0)
        try workspace.copy("photos/b.png", to: "more/e.png")
        try workspace.remove("photos")
        let result = try await run("run", "--quiet", "job.yaml", "other.yaml")
        #expect(result.code == 66)
        #expect(
            result.errors.hasPrefix("job.yaml: error: \(workspace.path)/photos: no such folder, wanted by the input"))
        #expect(workspace.files(below: "other") == ["d.png", "e.png"])
    }

    @Test func `--allow-empty goes on with other entries where a folder or file is missing`() async throws {
        try workspace.draw("more/d.png", width: 20, height: 20)
        try workspace.writeNightly(inputs: "[photos/*, more/*, one.png]")
        try workspace.copy("more/d.png", to: "one.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 5))
        try workspace.remove("more")
        try workspace.remove("one.png")
        try workspace.copy("photos/a.png", to: "photos/e.png")
        #expect(try await Program.night(workspace).exitCode == 66)
        #expect(try await Program.night(workspace, "--allow-empty") == NightSummary(published: 1, skipped: 3))
    }

    @Test(arguments: [[], ["--quiet"], ["--delete-orphans=all"], ["--only", "d.png"]])
    func `66: inputs that match nothing any more are told while others match`(options: [String]) async throws {
        try workspace.draw("more/d.png", width: 20, height: 20)
        try workspace.age("more/d.png")
        try workspace.writeNightly(inputs: "[photos/*, more/*]")
        #expect(try await Program.night(workspace) == NightSummary(published: 4))
        try empty("photos")
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml"] + options, in: workspace)
        #expect(result.code == 66)
        #expect(
            result.errors.hasSuffix(
                """
                job.yaml: error: nothing matches 'photos/*' any more, which matched 3 files in the last run
                   = is a disk not mounted? If that can happen, --allow-empty makes it no error

                """))
        #expect(workspace.files(below: "out").count == 4)
        // It was said once that this is right.
        #expect(try await Program.night(workspace, "--allow-empty") == NightSummary(skipped: 1))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
        try workspace.copy("more/d.png", to: "photos/e.png")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 1))
        try workspace.remove("photos/e.png")
        #expect(try await Program.night(workspace).exitCode == 66)
    }
}
