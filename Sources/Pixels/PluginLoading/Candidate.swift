import Catalogs
import Digests
import Glibc

/// A library that may be opened as a plugin.
struct Candidate {
    let path: String
    /// True when it lies in a folder that nobody named.
    let isImplicit: Bool
    /// As ``PluginFolder/isForeign``.
    let isForeign: Bool
    /// What the system's loader opens; ``path`` is what messages say.
    var openName: String

    init(path: String, isImplicit: Bool = false, isForeign: Bool = false) {
        self.isForeign = isForeign
        self.path = path
        self.isImplicit = isImplicit
        openName = path
    }

    enum Permission {
        case given(Candidate)
        case noPin(UnpinnedPlugin)
    }

    /// All is asked that can be asked without opening the library. Throws when it may not be opened.
    func permission(by policy: PluginPolicy) throws(PluginProblem) -> Permission {
        try PluginFolder.checkIsFile(path)
        try PluginFolder.checkOwnership(ofLibrary: path, isForeign: isForeign)
        switch try policy.permission(for: path) {
        case .unpinned:
            return .given(self)
        case .refused:
            return .noPin(UnpinnedPlugin(path: path, sha256: SHA256.digest(ofFile: path) ?? ""))
        case .pinned(let file):
            var candidate = self
            candidate.openName = file.name
            return .given(candidate)
        }
    }
}

/// The file of a library that has a pin, opened once: what is compared is what is opened as a library, whatever lies at
/// its path by then.
struct PinnedFile {
    private let descriptor: Int32
    /// Nil when the file cannot be read.
    let sha256: String?

    /// Nil when there is no such file.
    init?(_ path: String) {
        // It may have become a pipe since it was looked at.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        sha256 = SHA256.digest(ofDescriptor: descriptor)
    }

    /// What this process, and its children before they run another program, can open the file as, as long as it is not
    /// closed. It stays open for good: the loader would take another file of the same name for this one.
    var name: String { "/proc/self/fd/\(descriptor)" }

    /// For a file that is not wanted.
    func close() { Glibc.close(descriptor) }
}
