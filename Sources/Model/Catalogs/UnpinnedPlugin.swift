/// A plugin's library that has no pin, where only pinned ones are used.
public struct UnpinnedPlugin: Hashable, Sendable, Codable {
    public let path: String
    /// Of the file, in hexadecimal digits.
    public let sha256: String

    public init(path: String, sha256: String) {
        self.path = path
        self.sha256 = sha256
    }

    /// `libHalftone.so`
    private var file: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// `Halftone`, of `libHalftone.so`.
    public var libraryName: String { String(file.dropFirst(3).dropLast(3)) }

    /// The entry of 'plugin_pins' with which it would be used.
    public var pin: String { "{file: \(file), sha256: \(sha256)}" }
}

extension UnpinnedPlugin: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        "plugin \(path) has no pin, and 'plugins: pinned-only' refuses those; to use it, add '\(pin)' to 'plugin_pins'"
    }
}
