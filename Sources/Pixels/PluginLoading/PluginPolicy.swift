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

    /// The files that have a pin and are not among `paths`: misspelled, or gone.
    func pinsWithoutFile(_ paths: [String]) -> [String] {
        let names = Set(paths.map(Self.name))
        return pins.map(\.file).filter { !names.contains($0) }
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// False for a library that has no pin, where only pinned ones are used. Throws for one that is not what was pinned.
    ///
    /// - Parameter digest: the file's SHA-256; asked for only where it matters.
    func permits(_ path: String, digest: (String) -> String?) throws(PluginProblem) -> Bool {
        let name = Self.name(of: path)
        let pins = pins.filter { $0.file == name }
        guard !pins.isEmpty else { return !isPinnedOnly }
        guard let found = digest(path) else {
            throw PluginProblem("cannot be read, so its pin cannot be compared; correct its permissions")
        }
        guard pins.contains(where: { $0.sha256 == found }) else {
            throw PluginProblem(
                "is not the file that was pinned: its SHA-256 is \(found); put that file back, or pin this one")
        }
        return true
    }
}
