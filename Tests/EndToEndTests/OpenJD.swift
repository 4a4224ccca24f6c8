import Foundation
import Testing

/// The reference runner of Open Job Description, in the version that `Scripts/setup --tests` installs.
enum OpenJD {
    static let folder = ExampleTests.project.appending(path: ".build/openjd/bin").path
    static let version = "Open Job Description CLI 0.8.0\n"

    static func run(_ arguments: String..., in workspace: Workspace) async throws -> Program.Result {
        let program = "\(folder)/openjd"
        try #require(
            FileManager.default.isExecutableFile(atPath: program),
            "\(program) is not there; 'Scripts/setup --tests' installs it")
        return try await Program.run(program, arguments, in: workspace)
    }
}
