import Foundation
import Testing

/// Blurred pictures that have another name now.
@Suite(.serialized) struct RenamedPictureTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func rename(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: "\(workspace.path)/\(name)", toPath: "\(workspace.path)/\(other)")
    }

    @Test(arguments: ["state", "beside"])
    func `a blurred picture is known by its new name, and its original is put back there`(place: String) async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        let blurred = try workspace.read("photos/a.png")
        try rename("photos/a.png", to: "photos/new.png")
        #expect(try await penumbra("is-blurred", "photos/new.png").code == 0)
        let again = try await penumbra("blur", "photos/new.png", "--radius", "3")
        #expect(again.code == 0)
        #expect(
            again.output
                == "photos/new.png: already blurred (gaussian: {radius: 10}); unblur it first to blur it otherwise\n")
        #expect(try workspace.read("photos/new.png") == blurred)
        let undone = try await penumbra("unblur", "photos")
        #expect(undone.code == 0, "\(undone.errors)")
        #expect(undone.output == "put back 1 original\n")
        #expect(try workspace.read("photos/new.png") == original)
        #expect(!workspace.exists("photos/a.png"))
        #expect(try await penumbra("is-blurred", "photos/new.png").code == 1)
    }

    @Test func `a copy of a blurred picture is not blurred twice, and both are put back`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        try workspace.copy("photos/a.png", to: "copies/copy.png")
        let again = try await penumbra("blur", "copies/copy.png", "--radius", "3")
        #expect(again.code == 0)
        #expect(try workspace.read("copies/copy.png") == workspace.read("photos/a.png"))
        for name in ["copies/copy.png", "photos/a.png"] {
            #expect(try await penumbra("unblur", name).code == 0)
            #expect(try workspace.read(name) == original)
        }
    }

    @Test func `another picture of the same size is blurred`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        var bytes = try workspace.read("photos/a.png")
        // Behind the picture's end there may be anything.
        bytes[bytes.count - 1] ^= 1
        try workspace.write(bytes, to: "photos/other.png")
        #expect(try await penumbra("is-blurred", "photos/other.png").code == 1)
    }

    @Test func `a picture in CMYK becomes sRGB, and that is said once`() async throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../ImageFilesTests/Fixtures/cmyk_should_be_srgb.jpg")
        for name in ["x", "y"] { try workspace.write(try Data(contentsOf: fixture), to: "print/\(name).jpg") }
        let result = try await penumbra("blur", "print", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("2 pictures in CMYK are in sRGB now; 'penumbra unblur' puts CMYK back\n"))
        #expect(try await penumbra("unblur", "print").code == 0)
        #expect(try workspace.read("print/x.jpg") == Data(contentsOf: fixture))
        #expect(try await penumbra("blur", "photos/a.png").output.hasPrefix("blurred 1 picture "))
    }
}
