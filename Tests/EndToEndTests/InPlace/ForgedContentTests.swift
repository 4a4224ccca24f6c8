import Foundation
import Testing

/// Pictures, and workers' words, that are made so that an original seems not to be needed any more. XXH3 withstands no malice: what a
/// picture is, the command's own SHA-256 decides.
@Suite(.serialized) struct ForgedContentTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 400, height: 300)
    }

    private func penumbra(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace, environment: environment)
    }

    /// Replaces a picture by other bytes of one size and XXH3 with a file, which begin with those of another file.
    private func makeTwin(of file: String, beginningWith beginning: String, at name: String) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Support/xxh3_twin.py")
            .path
        let made = try await Program.run("/usr/bin/python3", [script, file, beginning, name], in: workspace)
        try #require(made.code == 0, "\(made.errors)")
    }

    /// Of the single record that is kept: the XXH3 digests that it tells.
    private func digests() throws -> (original: String, blurred: String) {
        let records = "state/penumbra/originals/records"
        let name = try #require(workspace.files(below: records).first)
        let text = String(decoding: try workspace.read("\(records)/\(name)"), as: UTF8.self)
        let original = try #require(text.firstMatch(of: /"original":\{"bytes":\d+,"digest":"([0-9a-f]{32})"/))
        let blurred = try #require(text.firstMatch(of: /"blurred":\{"bytes":\d+,"digest":"([0-9a-f]{32})"/))
        return (String(original.output.1), String(blurred.output.1))
    }

    private func lying(_ digest: String, as other: String) -> [String: String] {
        let liar = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Support/liar.py").path
        return [
            "PENUMBRA_WORKER": liar, "LIAR_WORKER": Program.worker, "LIAR_LIE": "digest", "LIAR_FROM": digest,
            "LIAR_TO": other, "LIAR_TOLD": "\(workspace.path)/told", "PENUMBRA_WORKER_ENVIRONMENT": "LIAR_*",
        ]
    }

    @Test(arguments: ["state", "beside"], ["blur", "unblur"])
    func `other bytes with the original's XXH3 are an edited picture, and the original stays`(
        place: String, command: String
    ) async throws {
        let original = try workspace.read("photos/a.png")
        try workspace.write(original, to: "seen.png")
        try workspace.write("garbage", to: "garbage")
        #expect(try await penumbra("blur", "photos/a.png", "--keep", place).code == 0)
        try await makeTwin(of: "seen.png", beginningWith: "garbage", at: "photos/a.png")

        let result = try await penumbra(command, "photos/a.png")
        #expect(result.code == 1)
        #expect(
            result.errors.hasPrefix("photos/a.png: edited since it was blurred (gaussian: {radius: 10}), and left as"))
        #expect(try await penumbra("unblur", "photos/a.png", "--force").code == 0)
        #expect(try workspace.read("photos/a.png") == original)
    }

    @Test func `a sharp picture with a blurred one's XXH3 is not blurred`() async throws {
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        try workspace.draw("small.png", width: 9, height: 9)
        try await makeTwin(of: "photos/a.png", beginningWith: "small.png", at: "photos/sharp.png")
        let result = try await penumbra("is-blurred", "photos/sharp.png")
        #expect((result.code, result.errors) == (1, "photos/sharp.png: is not blurred\n"))
    }

    @Test func `a worker that calls a blurred picture the original loses none`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        let digests = try digests()
        let lie = lying(digests.blurred, as: digests.original)

        let again = try await penumbra("blur", "photos/a.png", environment: lie)
        #expect(workspace.exists("told"), "the lie was not told, so the test says nothing")
        #expect(again.code == 0)
        #expect(again.output.hasPrefix("photos/a.png: already blurred"))
        let undone = try await penumbra("unblur", "photos/a.png", environment: lie)
        #expect((undone.code, undone.output) == (0, "put back 1 original\n"))
        #expect(try workspace.read("photos/a.png") == original)
    }

    @Test func `an original of which a worker tells another digest is put back`() async throws {
        let original = try workspace.read("photos/a.png")
        #expect(try await penumbra("blur", "photos/a.png").code == 0)
        let digest = try digests().original
        #expect(try await penumbra("unblur", "photos/a.png").code == 0)

        let lie = lying(digest, as: String(repeating: "0123456789abcdef", count: 2))
        #expect(try await penumbra("blur", "photos/a.png", environment: lie).code == 0)
        #expect(workspace.exists("told"), "the lie was not told, so the test says nothing")
        let undone = try await penumbra("unblur", "photos/a.png")
        #expect(undone.code == 0, "\(undone.errors)")
        #expect(try workspace.read("photos/a.png") == original)
    }
}
