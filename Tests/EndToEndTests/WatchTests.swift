import Foundation
import Glibc
import Testing

/// `penumbra run --watch` and what workers are started with.
@Suite struct WatchTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `a picture that appears is rendered, and a signal ends the watch`() async throws {
        try workspace.writeManifest(
            inputs: "photos/**/*.png", output: "out/{dir}/{stem}.png", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        // Pictures of the workspace, which are as young as the test.
        program.wait { workspace.exists("out/a.png") && workspace.exists("out/b.png") }
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/photos/new", withIntermediateDirectories: true)
        try workspace.write(try workspace.read("photos/a.png"), to: "photos/new/d.png")
        program.wait { workspace.exists("out/new/d.png") }
        program.wait { workspace.files(below: "state/penumbra/runs").isEmpty }
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect(result.code == 0 || result.code == 143)
        #expect(result.output.contains("test: 1 published, "))
        #expect(workspace.leftovers() == [])
    }

    @Test func `a folder that another takes the place of is watched on`() throws {
        try workspace.writeManifest(inputs: "photos/*.png", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/b.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        try workspace.draw("fresh/d.png", width: 60, height: 40)
        #expect(rename("\(workspace.path)/photos", "\(workspace.path)/former") == 0)
        #expect(rename("\(workspace.path)/fresh", "\(workspace.path)/photos") == 0)
        program.wait { workspace.exists("out/d.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        // In the new folder, which is watched as the old one was.
        try workspace.draw("photos/e.png", width: 60, height: 40)
        program.wait { workspace.exists("out/e.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.exists("out/e.png"))
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    /// As whoever deploys by links does it: at no moment is there nothing.
    private func point(_ name: String, to target: String) {
        #expect(symlink(target, "\(workspace.path)/new") == 0)
        #expect(rename("\(workspace.path)/new", "\(workspace.path)/\(name)") == 0)
    }

    @Test func `links to pictures and to a manifest that are pointed elsewhere are followed at once`() throws {
        for name in ["v1/a.png", "v2/a.png", "v2/b.png"] { try workspace.draw(name, width: 60, height: 40) }
        for number in [1, 2] {
            try workspace.writeManifest(
                "manifests/\(number).yaml", inputs: "\(workspace.path)/current/*.png",
                output: "\(workspace.path)/out\(number)/{stem}.png", more: "existing: update\nmin_age: 0.2s")
        }
        point("current", to: "v1")
        point("job.yaml", to: "manifests/1.yaml")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        func wait(for output: String) {
            program.wait { workspace.exists(output) && workspace.files(below: "state/penumbra/runs").isEmpty }
            #expect(workspace.exists(output))
        }
        wait(for: "out1/a.png")
        point("current", to: "v2")
        wait(for: "out1/b.png")
        point("job.yaml", to: "manifests/2.yaml")
        wait(for: "out2/b.png")
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    @Test func `a watch takes its manifest as it is now, and goes on with the old one while it is wrong`() throws {
        try workspace.writeManifest(inputs: "photos/*.png", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/b.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        try workspace.writeManifest(inputs: "photos/*.png", filters: "[nonsense]", more: "existing: update")
        let told = program.nextErrors()
        #expect(told.hasPrefix("job.yaml:3:11: error: unknown filter 'nonsense'\n"))
        try workspace.draw("photos/d.png", width: 60, height: 40)
        program.wait { workspace.exists("out/d.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.exists("out/d.png"))
        try workspace.writeManifest(
            inputs: "[photos/*.png, more/*.png]", output: "fresh/{stem}.png", more: "existing: update\nmin_age: 0.2s")
        try workspace.draw("more/e.png", width: 60, height: 40)
        program.wait { workspace.exists("fresh/e.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.files(below: "fresh").count == 4)
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect([0, 143].contains(result.code))
        #expect(
            (told + result.errors).contains(
                "the manifest has changed and cannot be used; its jobs are watched as it said before\n"))
        #expect(result.output.contains("the manifest has changed; its jobs are watched as it says now\n"))
    }

    @Test(arguments: ["photos/*.png", "photos"])
    func `a watch tells once that its folder is gone, and that it is there again`(inputs: String) throws {
        try workspace.writeManifest(inputs: inputs, more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/b.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(rename("\(workspace.path)/photos", "\(workspace.path)/away") == 0)
        #expect(
            program.nextErrors()
                == "photos: the folder is gone, or its disk is not mounted; nothing in it is rendered until it is there again\n"
        )
        #expect(rename("\(workspace.path)/away", "\(workspace.path)/photos") == 0)
        #expect(program.nextErrors() == "photos: the folder is there again\n")
        try workspace.draw("photos/d.png", width: 60, height: 40)
        program.wait { workspace.exists("out/d.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.exists("out/d.png"))
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    @Test func `a watch that begins without its folder tells that, and takes the folder once it is there`() throws {
        try workspace.writeManifest(inputs: "inbox", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        #expect(
            program.nextErrors()
                == "inbox: no such file or folder, or its disk is not mounted; nothing of it is rendered until it is there\n"
        )
        #expect(rename("\(workspace.path)/photos", "\(workspace.path)/inbox") == 0)
        #expect(program.nextErrors() == "inbox: the folder is there\n")
        program.wait { workspace.exists("out/b.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.exists("out/b.png"))
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    @Test func `a watch says of a file without an extension that the file is there`() throws {
        try workspace.writeManifest(inputs: "scan", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        #expect(
            program.nextErrors()
                == "scan: no such file or folder, or its disk is not mounted; nothing of it is rendered until it is there\n"
        )
        #expect(rename("\(workspace.path)/photos/a.png", "\(workspace.path)/scan") == 0)
        #expect(program.nextErrors() == "scan: the file is there\n")
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    @Test func `a watch that finds nothing leaves its folders alone, and rests`() throws {
        try workspace.writeManifest(inputs: "photos/*.gif", more: "existing: update")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out") && workspace.files(below: "state/penumbra/runs").isEmpty }
        #expect(workspace.exists("out"))
        kill(program.processID, SIGTERM)
        #expect([0, 143].contains(program.finish().code))
    }

    @Test func `a watch says what it watches, and names an output once when its picture is gone`() throws {
        try workspace.writeManifest(inputs: "photos/*.png", more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "job.yaml"], in: workspace)
        program.wait { workspace.exists("out/b.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        try workspace.remove("photos/b.png")
        var told = ""
        while !told.contains("out/b.png"), program.isRunning { told += program.nextErrors() }
        #expect(
            told == "test: 1 output without an input any more; --delete-orphans=all removes them\n  out/b.png\n")
        // The next run finds the same output, and does not name it again.
        try workspace.draw("photos/d.png", width: 60, height: 40)
        program.wait { workspace.exists("out/d.png") && workspace.files(below: "state/penumbra/runs").isEmpty }
        kill(program.processID, SIGTERM)
        let result = program.finish()
        #expect(!result.errors.contains("without an input"), "\(result.errors)")
        #expect(result.output.hasPrefix("watching photos; Ctrl-C ends the watch\n"), "\(result.output)")
    }

    @Test func `a watch takes no list and no deadline`() async throws {
        try workspace.writeManifest()
        for option in [["--deadline", "5m"], ["--files-from", "-"], ["--deadline", "5m", "--files-from", "-"]] {
            let result = try await Program.run(
                Program.penumbra, ["run", "--watch", "job.yaml"] + option, in: workspace)
            #expect(result.code == 64)
            #expect(
                result.errors.contains(
                    "--watch runs until it is stopped; leave out "
                        + "\(option.filter { $0.hasPrefix("--") }.sorted(by: >).joined(separator: " and "))."))
        }
    }

    @Test(arguments: ["photos", "[photos, more]"])
    func `a watch removes no output while a folder of inputs is away`(inputs: String) async throws {
        try workspace.draw("more/z.png", width: 20, height: 20)
        try workspace.writeManifest(inputs: inputs, more: "existing: update\nmin_age: 0.2s")
        let program = try RunningProgram(["run", "--watch", "--delete-orphans=all", "job.yaml"], in: workspace)
        let before = inputs == "photos" ? ["a.png", "b.png", "c.png"] : ["a.png", "b.png", "c.png", "z.png"]
        program.wait {
            workspace.files(below: "out") == before && workspace.files(below: "state/penumbra/runs").isEmpty
        }
        #expect(rename("\(workspace.path)/photos", "\(workspace.path)/away") == 0)
        var told = ""
        while !told.contains("the folder is gone"), program.isRunning { told += program.nextErrors() }
        #expect(rename("\(workspace.path)/away", "\(workspace.path)/photos") == 0)
        while !told.contains("the folder is there again"), program.isRunning { told += program.nextErrors() }
        #expect(workspace.files(below: "out") == before)
        kill(program.processID, SIGTERM)
        _ = program.finish()
    }

    /// As the settings say, or as Penumbra itself does where that is more.
    @Test(arguments: [0, 5, 12])
    func `workers give way`(own: Int) async throws {
        try workspace.writeManifest(inputs: "photos/*", more: "existing: update\nmin_age: 0.2s")
        try workspace.write("nice: 7\nionice: idle\n", to: "penumbra.yaml")
        try workspace.write("#!/bin/sh\nexec nice -n \(own) \(Program.penumbra) \"$@\"\n", to: "nicely")
        chmod("\(workspace.path)/nicely", 0o755)
        let program = try RunningProgram(
            ["run", "--watch", "--config", "penumbra.yaml", "job.yaml"], in: workspace,
            program: "\(workspace.path)/nicely")
        // This process may give way itself.
        let before = Int(getpriority(Int32(PRIO_PROCESS.rawValue), 0))
        func niceness(_ process: Int32) -> String? {
            // After the name, which may hold blanks, and 16 fields.
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return stat?.split(separator: ")").last?.split(separator: " ").dropFirst(16).first.map(String.init)
        }
        program.wait { program.workers.contains { niceness($0) == String(max(7, min(19, before + own))) } }
        #expect(niceness(program.processID) == String(min(19, before + own)))
        kill(program.processID, SIGTERM)
        _ = program.finish()
    }
}
