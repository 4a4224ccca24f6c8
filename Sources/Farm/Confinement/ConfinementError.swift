import Glibc
package import JobModel

/// Why a process could not be confined. It is then not started.
package struct ConfinementError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case noLandlock(Landlock.Reason)
        case notAbsolute(String)
        /// Nothing exists at the path.
        case missing(String)
        /// The path, or a folder above it, is a symbolic link.
        case link(String)
        /// The path cannot be opened for another reason.
        case unusable(String, code: Int32)
        /// The kernel refused this step.
        case refused(action: String, code: Int32)
        /// The program cannot be executed under the confinement.
        case notStarted(program: String, code: Int32)
    }

    package let problem: Problem

    package init(_ problem: Problem) { self.problem = problem }

    package var outcome: RunOutcome {
        switch problem {
        case .notAbsolute: .usage
        case .missing, .link, .unusable: .missingInput
        case .noLandlock, .refused, .notStarted: .unavailable
        }
    }

    package var message: String {
        switch problem {
        case .noLandlock(let reason): "\(reason.problem)\n   = \(reason.remedy)"
        case .notAbsolute(let path):
            "\(VisibleText.line(path)): the path is relative\n   = give an absolute path"
        case .missing(let path):
            "\(VisibleText.line(path)): nothing exists there, so it cannot be allowed\n   = create it, or leave it out"
        case .link(let path):
            "\(VisibleText.line(path)): the path leads through a symbolic link, which somebody could exchange\n   = give the real path; 'realpath' prints it"
        case .unusable(let path, let code):
            "\(VisibleText.line(path)): cannot be allowed: \(Self.words(code))\n   = let this user search the folders above it, or leave it out"
        case .refused(let action, let code):
            "cannot \(action): \(Self.words(code))\n   = 'penumbra doctor' says what this kernel has"
        case .notStarted(let program, let code):
            "\(VisibleText.line(program)): cannot be started: \(Self.words(code))\n   = the program and its libraries must be below the folders that it may read"
        }
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
