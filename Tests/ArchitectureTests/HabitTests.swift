import Foundation
import Testing

/// Habits that reviewers would otherwise have to look for.
@Suite struct HabitTests {
    /// Every place is proven in a comment beside it; what a user or the world can cause is never answered by a crash.
    private static let forbidden = ["try!", "fatalError(", "as!", ".unsafelyUnwrapped"]

    @Test func `nothing that the world can cause ends in a crash`() throws {
        for file in try SourceTree.swiftFiles(below: "Sources") + SourceTree.swiftFiles(below: "Plugins") {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.prefix { $0 != "\"" }
                for word in Self.forbidden where code.contains(word) && !code.contains("//") {
                    Issue.record("\(file.path):\(number + 1): \(word)")
                }
            }
        }
    }

    /// Nanoseconds since 1970 end in 2262, and file systems go on. `FileStamp.nanoseconds` takes the last that fit.
    @Test func `no time of a file is turned into nanoseconds by a multiplication that traps`() throws {
        for file in try SourceTree.swiftFiles(below: "Sources") {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.contains("tv_sec") && line.contains("* 1_000_000_000") {
                Issue.record("\(file.path):\(number + 1): use FileStamp.nanoseconds(seconds:and:)")
            }
        }
    }

    /// Programs of others may run the farm. Their terminal, folder and signals are theirs.
    private static let frontsOnly = [
        "getcwd", "currentDirectoryPath", "chdir(", "isatty(", "STDOUT_FILENO", "STDERR_FILENO", "sigaction(",
        "ExitCode",
        "Console.",
    ]

    @Test func `the farm has no terminal, no current folder and no signals`() throws {
        for file in try SourceTree.swiftFiles(below: "Sources/Farm") {
            for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                for word in Self.frontsOnly where line.contains(word) {
                    Issue.record("\(file.path):\(number + 1): \(word)")
                }
            }
        }
    }

    @Test func `unchecked sendability has its proof beside it`() throws {
        for file in try SourceTree.swiftFiles(below: "Sources") where file.text.contains("@unchecked Sendable") {
            #expect(file.text.contains("// Sendable:"), "\(file.path) has no '// Sendable:' comment")
        }
    }
}
