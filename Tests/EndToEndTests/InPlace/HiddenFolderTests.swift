import Foundation
import Glibc
import Testing

/// Pictures in hidden folders, such as previews that a desktop keeps, and what was thrown away.
@Suite(.serialized) struct HiddenFolderTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    @Test func `pictures in hidden folders are named by blur and is-blurred, a line for each folder`() async throws {
        try workspace.copy("photos/a.png", to: "photos/.Trash-1000/files/thrown")
        try workspace.copy("photos/a.png", to: "photos/.thumbnails/a.png")
        try workspace.copy("photos/a.png", to: "photos/.thumbnails/large/.more/b.png")
        try workspace.write("ref: refs/heads/main", to: "photos/.git/HEAD")
        let lines =
            "2 hidden folders were skipped, and the pictures in them were not blurred\n"
            + "  photos/.Trash-1000: 1 picture\n  photos/.thumbnails: 2 pictures\n"
        for options in [[], ["--quiet"]] {
            let result = try await Program.run(
                Program.penumbra, ["blur", "photos", "--radius", "2"] + options, in: workspace)
            #expect((result.code, result.errors) == (1, lines))
        }
        let answer = try await penumbra("is-blurred", "photos")
        #expect((answer.code, answer.errors) == (1, lines))
        #expect(try await penumbra("is-blurred", "photos", "--quiet").code == 1)
        let json = try await penumbra("is-blurred", "photos", "--json")
        #expect(json.output.contains(".thumbnails"))
    }

    @Test func `Penumbra's own hidden folders are none of them`() async throws {
        #expect(try await penumbra("blur", "photos", "--radius", "2", "--keep", "beside").code == 0)
        let again = try await penumbra("blur", "photos", "--radius", "2", "--keep", "beside")
        #expect((again.code, again.errors) == (0, ""))
        #expect(try await penumbra("is-blurred", "photos").code == 0)
    }

    @Test func `originals in a hidden state folder are none of them`() async throws {
        for _ in 0..<2 {
            let result = try await Program.run(
                Program.penumbra, ["blur", "photos", "--radius", "2"], in: workspace,
                environment: ["XDG_STATE_HOME": "\(workspace.path)/photos/.state"])
            #expect((result.code, result.errors) == (0, ""))
        }
        #expect(workspace.files(below: "photos/.state/penumbra/originals/objects").count == 3)
    }

    @Test func `a hidden folder that is named is searched, and no longer told`() async throws {
        try workspace.copy("photos/a.png", to: "photos/.thumbnails/a.png")
        let blurred = try await penumbra("blur", "photos", "photos/.thumbnails", "--radius", "2")
        #expect((blurred.code, blurred.errors) == (0, ""))
        // What is blurred need not be told.
        let answer = try await penumbra("is-blurred", "photos")
        #expect((answer.code, answer.errors) == (0, ""))
        #expect(answer.output.contains("photos/.thumbnails/a.png: blurred"))
        #expect(try await penumbra("unblur", "photos").output == "put back 4 originals\n")
    }

    @Test func `a hidden folder that cannot be looked into is named`() async throws {
        try workspace.copy("photos/a.png", to: "photos/.private/a.png")
        chmod("\(workspace.path)/photos/.private", 0)
        defer { chmod("\(workspace.path)/photos/.private", 0o755) }
        let blur = [Program.penumbra, "blur", "photos", "--radius", "2"]
        let rights = ["--bounding-set=-dac_override,-dac_read_search"]
        let result =
            geteuid() == 0
            ? try await Program.run("/usr/bin/setpriv", rights + blur, in: workspace)
            : try await penumbra("blur", "photos", "--radius", "2")
        #expect(result.code == 1)
        #expect(
            result.errors
                == "1 hidden folder was skipped, and the pictures in it were not blurred\n"
                + "  photos/.private: 0 pictures found, and a part of it could not be read\n")
    }
}
