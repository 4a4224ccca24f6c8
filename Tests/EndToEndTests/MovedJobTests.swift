import Foundation
import Testing

/// A manifest, its folder or its pictures get another name or place.
@Suite(.serialized) struct MovedJobTests {
    let workspace: Workspace

    init() async throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
        try workspace.writeNightly()
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
    }

    private func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: "\(workspace.path)/\(name)", toPath: "\(workspace.path)/\(other)")
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    /// As it is told of outputs that the job at another path published.
    private func former(_ manifest: String) -> String {
        "published by the job 'test' of \(workspace.path)/\(manifest), which is gone; if it was moved here, 'penumbra adopt "
            + "--moved' takes its outputs over, --force replaces them"
    }

    @Test func `a manifest that was moved says so once, even where silence is asked for, and is taken over`()
        async throws
    {
        try move("job.yaml", to: "nightly.yaml")
        let told = try await run("run", "--quiet", "nightly.yaml")
        #expect(told.code == 0 && told.output == "")
        #expect(
            told.errors == """
                test: 3 outputs are left as they are: \(former("job.yaml"))
                  out/a.png
                  out/b.png
                  out/c.png

                """)
        #expect(try await run("run", "--quiet", "nightly.yaml").errors == "")
        #expect("test: \(try await run("run", "nightly.yaml").errors)" == told.errors)

        let taken = try await run("adopt", "--moved", "nightly.yaml")
        #expect(taken.code == 0 && taken.errors == "")
        #expect(taken.output == "test: 3 outputs taken over\n")
        #expect(try await run("run", "nightly.yaml").output.hasPrefix("test: 0 published, 3 skipped in "))
        #expect(try await run("verify", "out").output.hasPrefix("verified 3 outputs: 3 as published in "))
        try workspace.remove("state")
        #expect(try await run("run", "nightly.yaml").output.hasPrefix("test: 0 published, 3 skipped in "))
    }

    @Test func `an output of a renamed job is told again once its picture has changed`() async throws {
        let manifest = String(decoding: try workspace.read("job.yaml"), as: UTF8.self)
        try workspace.write(manifest.replacing("job: test", with: "job: day"), to: "job.yaml")
        #expect(try await run("run", "--quiet", "job.yaml").errors.contains("when it was called 'test'; "))
        #expect(try await run("run", "--quiet", "job.yaml").errors == "")
        try workspace.draw("photos/a.png", width: 33, height: 21)
        try workspace.age("photos/a.png", hours: 1)
        let told = try await run("run", "--quiet", "job.yaml")
        #expect(told.code == 0)
        #expect(
            told.errors.hasSuffix("--force replaces them; the picture was changed since\n  out/a.png\n"),
            "\(told.errors)")
        #expect(try await run("run", "--quiet", "job.yaml").errors == "")
    }

    @Test(arguments: [true, false])
    func `what changed before a moved tree is taken over is made again, and never current`(hasState: Bool) async throws
    {
        for name in ["photos", "out", "job.yaml"] {
            try FileManager.default.createDirectory(
                atPath: "\(workspace.path)/site", withIntermediateDirectories: true)
            try move(name, to: "site/\(name)")
        }
        if !hasState { try workspace.remove("state") }
        try workspace.remove("site/photos/a.png")
        try workspace.copy("site/photos/b.png", to: "site/photos/a.png")
        try workspace.age("site/photos/a.png")
        try workspace.write("mine", to: "site/out/c.png")
        let stale = try workspace.read("site/out/a.png")

        let adopted = try await run("adopt", "site/job.yaml")
        #expect(adopted.code == 1)
        #expect(
            adopted.errors == """
                test: not adopted because of 2 files
                  site/out/a.png: made of a picture that has changed since; 'penumbra adopt --moved' takes it over, and the \
                next run renders it again
                  site/out/c.png: not a picture that Penumbra reads ('penumbra formats' lists them)

                """)
        let taken = try await run("adopt", "--moved", "site/job.yaml")
        #expect(taken.code == 0)
        #expect(
            taken.output == "test: 2 outputs taken over; 1 frame is out of date, and rendered by the next run\n")
        let night = try await run("run", "site/job.yaml")
        #expect(night.code == 0)
        #expect(
            night.errors == """
                1 output is left as it is: output was edited or damaged; accept with 'penumbra adopt', render again with --force
                  site/out/c.png

                """)
        #expect(night.output.hasPrefix("test: 1 published, 1 skipped, 1 kept in "))
        #expect(try workspace.read("site/out/a.png") != stale)
        #expect(try workspace.read("site/out/c.png") == Data("mine".utf8))
    }

    @Test func `a job that got another name is told by its former one`() async throws {
        let text = String(decoding: try workspace.read("job.yaml"), as: UTF8.self)
        try workspace.write(text.replacing("job: test", with: "job: site"), to: "job.yaml")
        let reasons = try await Program.reasons(workspace)
        #expect(
            Set(reasons.values) == [
                "kept: published by this manifest's job when it was called 'test'; 'penumbra adopt --moved' takes its outputs "
                    + "over, --force replaces them"
            ])
        #expect(try await run("adopt", "--moved", "job.yaml").output == "site: 3 outputs taken over\n")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a copy of a manifest does not take the outputs of the one that is still there`() async throws {
        try workspace.copy("job.yaml", to: "copy.yaml")
        let result = try await run("run", "--quiet", "copy.yaml")
        #expect(
            result.errors.hasPrefix(
                "test: 3 outputs are left as they are: published by the job 'test' of \(workspace.path)/job.yaml, which is still "
                    + "there; write to another folder, or remove that manifest and give 'penumbra adopt --moved'\n"))
        let taken = try await run("adopt", "--moved", "copy.yaml")
        #expect(taken.code == 1)
        #expect(
            taken.errors.hasPrefix(
                "test: not taken over\n  out/a.png: the job 'test' of \(workspace.path)/job.yaml is still there\n"))
        #expect(taken.output == "test: 0 outputs taken over\n")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    /// Puts other bytes into a picture.
    private func change(_ picture: String) throws {
        try workspace.remove(picture)
        try workspace.copy("photos/b.png", to: picture)
        try workspace.age(picture)
    }

    private let stale =
        "made of a picture that has changed since; 'penumbra adopt --moved' takes it over, and the next run renders it again"

    @Test func `outputs that were moved without their index are known again`() async throws {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/new", withIntermediateDirectories: true)
        for name in ["a", "b", "c"] { try move("out/\(name).png", to: "new/\(name).png") }
        try workspace.writeNightly(output: "new/{stem}.png")
        try change("photos/a.png")
        #expect(
            try await run("run", "--quiet", "job.yaml").errors == """
                test: 1 output is left as it is: published by this job at another path; 'penumbra adopt --moved' takes it over \
                here, --force replaces it; the picture was changed since
                  new/a.png
                test: 2 outputs are left as they are: published by this job at another path; 'penumbra adopt --moved' takes it \
                over here, --force replaces it
                  new/b.png
                  new/c.png

                """)

        let adopted = try await run("adopt", "job.yaml")
        #expect(adopted.code == 1)
        #expect(adopted.output == "test: 2 frames adopted\n")
        #expect(adopted.errors == "test: not adopted because of 1 file\n  new/a.png: \(stale)\n")
        let taken = try await run("adopt", "--moved", "job.yaml")
        #expect(taken.code == 0)
        #expect(
            taken.output == "test: 1 output taken over; 1 frame is out of date, and rendered by the next run\n")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `outputs that were copied without their times are known by their bytes`() async throws {
        for name in ["a", "b", "c"] {
            try workspace.write(try workspace.read("out/\(name).png"), to: "new/\(name).png")
        }
        try workspace.writeNightly(output: "new/{stem}.png")
        try change("photos/a.png")
        let adopted = try await run("adopt", "--only", "a.png", "job.yaml")
        #expect(adopted.code == 1)
        #expect(adopted.errors == "test: not adopted because of 1 file\n  new/a.png: \(stale)\n")
        #expect(
            try await run("adopt", "--moved", "job.yaml").output
                == "test: 3 outputs taken over; 1 frame is out of date, and rendered by the next run\n")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
    }

    @Test func `an output of a picture that has changed is not adopted where it is, either`() async throws {
        try change("photos/a.png")
        let adopted = try await run("adopt", "job.yaml")
        #expect(adopted.code == 1)
        #expect(
            adopted.errors
                == "test: not adopted because of 1 file\n  out/a.png: made of a picture that has changed since; the next run "
                + "renders it again\n")
        #expect(try await Program.night(workspace) == NightSummary(published: 1, skipped: 2))
    }

    @Test func `a manifest whose old name another job has taken is gone`() async throws {
        let text = String(decoding: try workspace.read("job.yaml"), as: UTF8.self)
        try move("job.yaml", to: "old.yaml")
        try workspace.write(
            text.replacing("job: test", with: "job: other").replacing("out/", with: "out2/"), to: "job.yaml")
        let told = try await run("run", "--quiet", "old.yaml")
        #expect(told.errors.hasPrefix("test: 3 outputs are left as they are: \(former("job.yaml"))\n"))
        #expect(try await run("adopt", "--moved", "old.yaml").output == "test: 3 outputs taken over\n")
        #expect(try await run("run", "old.yaml").output.hasPrefix("test: 0 published, 3 skipped in "))
    }

    @Test func `a copy of a whole tree gets the copied outputs, and the original keeps its own`() async throws {
        for name in ["photos", "out", "job.yaml"] { try workspace.copy(name, to: "site/\(name)") }
        let told = try await run("run", "--quiet", "site/job.yaml")
        #expect(
            told.errors.hasPrefix(
                "test: 3 outputs are left as they are: published by the job 'test' of \(workspace.path)/job.yaml at another path; "
                    + "'penumbra adopt --moved' takes it over here, --force replaces it\n"))
        let taken = try await run("adopt", "--moved", "site/job.yaml")
        #expect(taken.code == 0)
        #expect(taken.output == "test: 3 outputs taken over\n")
        #expect(try await run("run", "site/job.yaml").output.hasPrefix("test: 0 published, 3 skipped in "))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `pictures whose folder got another name are compared, and not rendered again`() async throws {
        try move("photos", to: "pictures")
        try workspace.writeNightly(inputs: "pictures/*")
        #expect(try await Program.reasons(workspace)["a.png"] == "input changed")
        #expect(try await run("adopt", "--moved", "job.yaml").output == "test: 3 outputs taken over\n")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `a job that was moved there and back is taken over each time`() async throws {
        try move("job.yaml", to: "other.yaml")
        #expect(try await run("adopt", "--moved", "other.yaml").code == 0)
        try workspace.remove("photos/a.png")
        try workspace.copy("photos/b.png", to: "photos/a.png")
        #expect(try await run("run", "other.yaml").output.hasPrefix("test: 1 published, 2 skipped in "))
        try move("other.yaml", to: "job.yaml")
        #expect(try await run("adopt", "--moved", "job.yaml").output == "test: 3 outputs taken over\n")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test func `each kept output is told once where silence is asked for, and again when it is kept anew`() async throws
    {
        try workspace.write("mine", to: "out/d.png")
        try workspace.copy("photos/a.png", to: "photos/d.png")
        let first = try await run("run", "--quiet", "job.yaml")
        #expect(
            first.errors == """
                test: 1 output is left as it is: no record in this state folder; accept with 'penumbra adopt', replace with --force
                  out/d.png

                """)
        #expect(try await run("run", "--quiet", "job.yaml").errors == "")
        try workspace.remove("out/d.png")
        #expect(try await run("run", "--quiet", "job.yaml").errors == "")
        try workspace.write("mine", to: "out/d.png")
        #expect(try await run("run", "--quiet", "--force", "--only", "a.png", "job.yaml").errors == "")
        let night = try await run("run", "--quiet", "job.yaml")
        #expect(
            night.errors == """
                test: 1 output is left as it is: output was edited or damaged; accept with 'penumbra adopt', render again with --force
                  out/d.png

                """)
        try workspace.writeNightly(radius: "7")
        let edited = try await run("run", "--quiet", "job.yaml")
        #expect(
            edited.errors == """
                test: 1 output is left as it is: output was edited or damaged, and would be rendered again (radius 5 → 7); --force replaces it
                  out/d.png

                """)
    }
}
