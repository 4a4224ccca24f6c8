/// Which libraries may be used as plugins, beside what their owners and permissions say.
package struct PluginPolicy: Hashable, Sendable {
    /// A file name and the SHA-256 that a file of that name must have, in small hexadecimal digits.
    package struct Pin: Hashable, Sendable {
        package let file: String
        package let sha256: String

        package init(file: String, sha256: String) {
            self.file = file
            self.sha256 = sha256
        }
    }

    package let pins: [Pin]
    /// True when a library without a pin is refused.
    package let isPinnedOnly: Bool

    package init(pins: [Pin] = [], isPinnedOnly: Bool = false) {
        self.pins = pins
        self.isPinnedOnly = isPinnedOnly
    }

    /// The files that have a pin, or several, and are not among `paths`, each once: misspelled, or gone.
    func pinsWithoutFile(_ paths: [String]) -> [String] {
        var names = Set(paths.map(Self.name))
        return pins.map(\.file).filter { names.insert($0).inserted }
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    enum Permission {
        /// It has no pin and needs none.
        case unpinned
        /// It has no pin, and only pinned ones are used.
        case refused
        /// It is this file, opened.
        case pinned(PinnedFile)
    }

    /// Whether a library may be opened, by its pin.
    ///
    /// - Throws: when it has one, and is not what was pinned.
    func permission(for path: String) throws(PluginProblem) -> Permission {
        let name = Self.name(of: path)
        let pins = pins.filter { $0.file == name }
        guard !pins.isEmpty else { return isPinnedOnly ? .refused : .unpinned }
        guard let file = PinnedFile(path), let found = file.sha256 else {
            throw PluginProblem("cannot be read, so its pin cannot be compared; correct its permissions")
        }
        guard pins.contains(where: { $0.sha256 == found }) else {
            file.close()
            throw PluginProblem(
                "is not the file that was pinned: its SHA-256 is \(found); put that file back, or pin this one")
        }
        return .pinned(file)
    }
}
