import Glibc
package import SafeFiles

/// What other commands ask of a run: files in its folder, which its coordinator looks for again and again.
package struct ControlFiles: Hashable, Sendable {
    package let isPaused: Bool
    package let isCancelled: Bool
    /// Its coordinator has left it to others, none of whom has begun.
    package let isDetached: Bool

    package enum Kind: String, CaseIterable, Sendable {
        case pause
        case cancel
        case detached
    }

    init(of folder: String) {
        isPaused = FileSystem.exists("\(folder)/\(Kind.pause)")
        isCancelled = FileSystem.exists("\(folder)/\(Kind.cancel)")
        isDetached = FileSystem.exists("\(folder)/\(Kind.detached)")
    }

    package static func of(run name: String, state: String) -> ControlFiles { ControlFiles(of: folder(name, state)) }

    private static func folder(_ name: String, _ state: String) -> String { "\(state)/runs/\(name)" }

    /// The folder may be another user's, whose run root ends; but a link is not followed to it.
    private static func runFolder(_ name: String, _ state: String) throws(FileTrouble) -> SafeFolder? {
        try SafeFolder(state, trusting: .everybody).folder(at: "runs/\(name)")
    }

    package static func make(_ kind: Kind, of name: String, state: String) throws(FileTrouble) {
        guard let own = try runFolder(name, state) else {
            throw FileTrouble(path: Self.folder(name, state), code: ENOENT, action: "ask anything of the run")
        }
        do throws(FileTrouble) {
            try own.create("\(kind)", [])
        } catch {
            // It was asked for already.
            guard error.code == EEXIST else { throw error }
        }
    }

    package static func takeBack(_ kind: Kind, of name: String, state: String) {
        // Nobody asks anything of a run that is not there.
        try? runFolder(name, state)?.removeTree("\(kind)")
    }

    /// Its coordinator lives, or nobody can tell.
    package static func isAlive(run name: String, state: String) -> Bool {
        isLocked(run: name, state: state) || !CoordinatorClaim.isQuiet(folder(name, state))
    }

    /// Its coordinator lives where locks are seen, or nobody can tell.
    package static func isLocked(run name: String, state: String) -> Bool {
        let path = "\(folder(name, state))/lock"
        guard FileSystem.exists(path) else { return false }
        do {
            let gate = try RunFolder.gate(state)
            defer { withExtendedLifetime(gate) {} }
            return try KernelLock.take(path) == nil
        } catch {
            return true
        }
    }
}
