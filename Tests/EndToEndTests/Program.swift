import Foundation
import Glibc
import Subprocess
import SystemPackage

/// The programs that were built beside this test, run for real.
enum Program {
    struct Result: Sendable {
        let code: Int32
        let output: String
        let errors: String
    }

    static let folder: String = {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: path).deletingLastPathComponent().path
    }()

    static var penumbra: String { "\(folder)/penumbra" }
    static var worker: String { "\(folder)/penumbra-worker" }

    /// The name of the user who runs the tests, or the number of a user without a name.
    static var user: String {
        getpwuid(geteuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? "\(geteuid())"
    }

    /// Runs `penumbra` in a workspace, with a state folder of its own and nothing of the user's settings.
    static func run(_ arguments: String..., in workspace: Workspace, environment: [String: String] = [:]) async throws
        -> Result
    {
        try await run(penumbra, arguments, in: workspace, environment: environment)
    }

    static func run(
        _ executable: String, _ arguments: [String], in workspace: Workspace, environment: [String: String] = [:]
    ) async throws -> Result {
        let result = try await Subprocess.run(
            .path(FilePath(executable)), arguments: Arguments(arguments),
            environment: .custom(workspace.environment(adding: environment)),
            workingDirectory: FilePath(workspace.path), input: .none, output: .string(limit: 4 << 20),
            error: .string(limit: 4 << 20))
        return Result(code: code(result.terminationStatus), output: result.standardOutput, errors: result.standardError)
    }

    static func code(_ status: TerminationStatus) -> Int32 {
        switch status {
        case .exited(let code): code
        case .signaled(let signal): 128 + signal
        }
    }
}
