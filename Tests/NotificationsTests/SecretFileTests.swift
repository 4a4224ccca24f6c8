import Foundation
import Glibc
import Notifications
import TestSupport
import Testing

@Suite struct SecretFileTests {
    let folder: TemporaryFolder
    private var path: String { folder.file("secret") }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(chmod(path, mode) == 0)
    }

    private func problem() -> String? {
        do throws(WebhookSecretError) {
            _ = try WebhookSecret.read(path)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `a secret is read from a file of one's own`() throws {
        try write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        #expect(problem() == nil)
        try write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode: 0o640)
        #expect(problem() == nil)
    }

    @Test func `a file that everybody can read is refused`() throws {
        try write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode: 0o644)
        #expect(problem() == "\(path): everybody can read or write the secret\n   = chmod 600 \(path)")
    }

    @Test func `a file that is missing, or has no secret, is told with the remedy`() throws {
        #expect(problem() == "\(path): there is no such file\n   = correct 'secret_file' in the config file")
        try write("hunter2")
        #expect(
            problem() == """
                \(path): this is no secret of a webhook
                   = it is whsec_ and 24 to 64 bytes in Base64: echo whsec_$(openssl rand -base64 32)
                """)
        try write("whsec_" + String(repeating: "A", count: 1 << 20))
        #expect(problem()?.contains("this is no secret of a webhook") == true)
    }

    @Test func `a pipe and a link are refused, and block nobody`() throws {
        #expect(mkfifo(path, 0o600) == 0)
        #expect(problem() != nil)
        #expect(unlink(path) == 0 && symlink("/etc/passwd", path) == 0)
        #expect(problem() != nil)
    }
}
