import Foundation
import Testing

/// Folders for Slurm. A real cluster takes one in Tests/Slurm; here programs stand in for Slurm's that write down what they
/// are asked.
@Suite(.serialized) struct ExportFolderTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
        try workspace.writeManifest(
            more: "slurm: {cpus_per_task: 2, throttle: 3, partition: batch, time: 30m, memory: 2G}")
        try standIn("scontrol", "echo 'MaxArraySize            = 101'")
        try standIn("scancel", "echo \"scancel $*\" >> asked")
        // Numbers from 11 on; the name of a cluster comes with them.
        try standIn("sbatch", "echo \"sbatch $*\" >> asked; echo \"$(($(wc -l < asked) + 10));north\"")
    }

    private func standIn(_ name: String, _ script: String) throws {
        let text = "#!/bin/sh\ncd \(workspace.path)\n\(script)\n"
        try workspace.write(text, to: "bin/\(name)")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: "\(workspace.path)/bin/\(name)")
    }

    private func export(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["export", "--to", "slurm", "job.yaml"] + arguments, in: workspace)
    }

    private func submit() async throws -> Program.Result {
        try await Program.run(
            "/bin/sh", ["farm/submit.sh"], in: workspace, environment: ["PATH": "\(workspace.path)/bin:/usr/bin:/bin"])
    }

    private var asked: String { (try? String(decoding: workspace.read("asked"), as: UTF8.self)) ?? "" }

    @Test func `what was submitted and has not ended is not submitted again`() async throws {
        #expect(try await export("--output", "farm", "--shards", "5").code == 0)
        try standIn(
            "squeue",
            "echo \"squeue $*\" > looked; [ ! -e fails ] || { cat fails >&2; exit 1; }; [ ! -e queue ] || cat queue")
        #expect(try await submit().code == 0)
        try workspace.write("13\n12\n12\n", to: "queue")
        let again = try await submit()
        #expect(again.code == 75)
        #expect(
            again.errors
                == "submit.sh: jobs 12 13 have not ended; wait for them, or cancel them: scancel 12 13\n")
        let looked = String(decoding: try workspace.read("looked"), as: UTF8.self)
        #expect(looked == "squeue --noheader --format=%A --name=test-prepare,test-render,test-finish --jobs=11,12,13\n")
        try FileManager.default.removeItem(atPath: "\(workspace.path)/queue")
        try workspace.write("slurm_load_jobs error: Unable to contact slurm controller\n", to: "fails")
        #expect(try await submit().code == 69, "nobody knows")
        try workspace.write("slurm_load_jobs error: Invalid job id specified\n", to: "fails")
        #expect(try await submit().code == 0, "Slurm has forgotten them")
        #expect(!workspace.exists("farm/submitting"))
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/farm/submitting", withIntermediateDirectories: false)
        let beside = try await submit()
        #expect(beside.code == 75)
        #expect(
            beside.errors.hasSuffix(
                "submit.sh: another submit.sh is running, or was killed; if it was killed: rm -r \(workspace.path)/farm/submitting\n"
            ))
    }

    @Test func `a folder whose name Slurm would take for a pattern`() async throws {
        #expect(try await export("--output", "50%j", "--shards", "2").code == 0)
        let render = String(decoding: try workspace.read("50%j/render.sh"), as: UTF8.self)
        #expect(render.contains("\n#SBATCH --output=\(workspace.path)/50%%j/logs/render.%A_%a.out\n"))
    }

    @Test func `a folder has what is wanted of Slurm, and says how to submit it`() async throws {
        let result = try await export("--output", "farm", "--shards", "5", "--slurm-arg=--constraint=fast")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output == "")
        #expect(
            result.errors == """
                hint: 5 shards of about 16 ms on 2 cores, by the headers of 3 pictures; --shards and 'cpus_per_task' change \
                that
                hint: to submit it: sh \(workspace.path)/farm/submit.sh

                """)
        #expect(workspace.files(below: "farm") == ["README.md", "finish.sh", "prepare.sh", "render.sh", "submit.sh"])
        let render = String(decoding: try workspace.read("farm/render.sh"), as: UTF8.self)
        #expect(
            render.hasPrefix(
                """
                #!/bin/sh
                #SBATCH --job-name=test-render
                #SBATCH --output=logs/render.%A_%a.out
                #SBATCH --open-mode=append
                #SBATCH --requeue
                #SBATCH --array=1-5%3
                #SBATCH --nodes=1
                #SBATCH --ntasks=1
                #SBATCH --partition=batch
                #SBATCH --time=30
                #SBATCH --cpus-per-task=2
                #SBATCH --mem=1907M
                #SBATCH --constraint=fast

                """))
        #expect(
            render.hasSuffix(
                """
                exec \(Program.penumbra) shard --run-dir \(workspace.path)/farm/run --index "$SLURM_ARRAY_TASK_ID"

                """))
    }

    @Test func `what a job is cut into follows from the pictures that are chosen`() async throws {
        let hint = "by the headers of 1 picture; "
        for (name, choice) in [("only", ["--only", "a.png"]), ("limit", ["--limit", "1"])] {
            let result = try await Program.run(
                Program.penumbra, ["export", "--to", "slurm", "job.yaml", "--output", name] + choice, in: workspace)
            #expect(result.code == 0)
            #expect(result.errors.hasPrefix("hint: 1 shard of about "), "\(result.errors)")
            #expect(result.errors.contains(hint) == (name == "only"), "\(result.errors)")
        }
        // The manifest's own inputs do not matter to a list.
        try workspace.writeManifest(inputs: "none/*.png")
        try workspace.write("photos/a.png\nphotos/b.png\n", to: "list")
        let listed = try await export("--output", "listed", "--files-from", "list")
        #expect(listed.code == 0, "\(listed.errors)")
        #expect(listed.errors.contains("by the headers of 2 pictures; "), "\(listed.errors)")
        let prepare = String(decoding: try workspace.read("listed/prepare.sh"), as: UTF8.self)
        #expect(prepare.contains("\ncd \(workspace.path) || exit 66\nexec "), "\(prepare)")
        let missing = try await export("--output", "missing", "--files-from", "none.txt")
        #expect(missing.code == 66)
        #expect(!workspace.exists("missing"))
        let stream = try await export("--output", "stream", "--files-from", "-")
        #expect(stream.code == 64)
        #expect(
            stream.errors.hasPrefix(
                "Error: --files-from - cannot be read again when the job is prepared; give a file.\n"))
    }

    @Test func `each job waits for the one before, however that ends`() async throws {
        #expect(try await export("--output", "farm", "--shards", "5").code == 0)
        let result = try await submit()
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            asked == """
                sbatch --parsable --chdir=\(workspace.path)/farm prepare.sh
                sbatch --parsable --chdir=\(workspace.path)/farm --dependency=afterany:11 render.sh
                sbatch --parsable --chdir=\(workspace.path)/farm --dependency=afterany:12 finish.sh

                """)
        #expect(
            result.output == """
                submitted: prepare 11, render 12 with 5 elements, finish 13
                to follow: squeue --job 11,12,13
                to cancel: scancel 11 12 13

                """)
        #expect(FileManager.default.fileExists(atPath: "\(workspace.path)/farm/logs"))
    }

    @Test func `where Slurm has no commands, the script says so`() async throws {
        #expect(try await export("--output", "farm").code == 0)
        let result = try await Program.run(
            "/bin/sh", ["farm/submit.sh"], in: workspace, environment: ["PATH": "/nowhere"])
        #expect(result.code == 69)
        #expect(
            result.errors
                == "submit.sh: there is no sbatch in PATH; submit on a node that has Slurm's commands, or load their module\n"
        )
    }

    @Test func `where a submission is refused, those before it are taken back`() async throws {
        #expect(try await export("--output", "farm").code == 0)
        try standIn(
            "sbatch",
            """
            echo "sbatch $*" >> asked
            case "$*" in *finish*) echo "sbatch: error: no" >&2; exit 1 ;; esac
            echo "$(($(wc -l < asked) + 10))"
            """)
        let result = try await submit()
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.errors == "sbatch: error: no\n")
        #expect(asked.hasSuffix("finish.sh\nscancel 11 12\n"))
    }

    @Test(arguments: [(100, 0), (101, 69)])
    func `an array that is too long for the site is not begun`(shards: Int, code: Int32) async throws {
        #expect(try await export("--output", "farm", "--shards", String(shards)).code == 0)
        let result = try await submit()
        #expect(result.code == code)
        guard code != 0 else { return }
        #expect(
            result.errors == """
                submit.sh: render.sh has 101 elements, and an array has at most 100 here; export the job again with --shards 100

                """)
        #expect(asked == "")
    }

    @Test func `shell scripts are as a linter wants them, whatever names they hold`() async throws {
        let name = "it's $HOME `id` \"so\" #1"
        try workspace.writeManifest("\(name)/job.yaml", inputs: "../photos/*")
        let result = try await Program.run(
            Program.penumbra, ["export", "--to", "slurm", "\(name)/job.yaml", "--output", "\(name)/farm"], in: workspace
        )
        #expect(result.code == 0, "\(result.errors)")
        let scripts = ["submit", "prepare", "render", "finish"].map { "\(name)/farm/\($0).sh" }
        let lint = try await Program.run("/usr/bin/shellcheck", ["--severity=warning"] + scripts, in: workspace)
        #expect(lint.code == 0, "\(lint.output)")
    }

    @Test func `what is there is left as it is, and an empty folder is filled`() async throws {
        try workspace.write("mine", to: "farm/notes.txt")
        let taken = try await export("--output", "farm")
        #expect(taken.code == 64)
        #expect(
            taken.errors
                == "farm: it exists and is not an empty folder, and --output replaces nothing\n   = choose another name\n"
        )
        #expect(workspace.allFiles(below: "farm") == ["notes.txt"])
        let file = try await export("--output", "job.yaml")
        #expect(file.code == 64)
        #expect(
            file.errors
                == "job.yaml: it exists and is not an empty folder, and --output replaces nothing\n   = choose another name\n"
        )
        try FileManager.default.removeItem(atPath: "\(workspace.path)/farm/notes.txt")
        #expect(try await export("--output", "farm").code == 0)
        #expect(workspace.exists("farm/submit.sh"))
    }

    @Test func `what the steps share goes where the job's cluster keeps it`() async throws {
        try workspace.writeManifest(more: "slurm: {folder: shared}")
        #expect(try await export("--output", "farm").code == 0)
        let finish = String(decoding: try workspace.read("farm/finish.sh"), as: UTF8.self)
        #expect(finish.contains("--run-dir \(workspace.path)/shared/export\(workspace.path)/farm --engine local\n"))
    }
}
