import Foundation
import ServiceAPI
import Testing

/// Schemathesis makes requests of `openapi.yaml`, right ones and wrong ones, and compares the answers of a real service with it.
@Suite struct DescribedAnswerTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scripts/check-api").path

    /// The script's exit code if PyPI cannot be reached.
    private static let isMissing: Int32 = 69

    @Test func `answers are as openapi.yaml describes them`() async throws {
        let farm = try Farm()
        try farm.draw(2)
        // One that has ended, with a failed frame, and one that waits: many requests name the first jobs.
        try farm.write("not a picture", to: "photos/broken.png")
        try farm.writeManifest()
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        try await farm.penumbra("submit", "night.yaml", "--hold", "--quiet")
        // The surroundings may say where PyPI is.
        let result = try await farm.run(
            Self.script, [farm.serviceFolder.path],
            environment: ProcessInfo.processInfo.environment.merging(["MAX_EXAMPLES": "10"]) { $1 })
        if result.code == Self.isMissing {
            try Test.cancel("Schemathesis cannot be installed from PyPI: \(result.errors)")
        }
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(farm.isRunning)
        try await farm.end()
    }
}
