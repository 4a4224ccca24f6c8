import Glibc
import JobModel

/// A token that a service has given out. It is a secret: nothing shows its text.
package struct BearerToken: Sendable, CustomStringConvertible {
    let text: String

    package static let longest = 512
    /// The variable of the environment that may have a token.
    package static let variable = "PENUMBRA_TOKEN"

    package var description: String { "a token" }

    /// - Parameter place: Where the text comes from, for messages.
    init(text: String, from place: String) throws(ServiceError) {
        guard (1...Self.longest).contains(text.utf8.count), text.hasPrefix("pnb_"), text.utf8.allSatisfy(Self.isPart)
        else {
            throw ServiceError(
                .token, "\(place) has no token\n   = a token begins with pnb_: 'penumbra token add' makes one")
        }
        self.text = text
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }

    /// The token of the environment, or else that of a file. Nil if there is neither.
    package static func find(environment: [String: String], file: String?) throws(ServiceError) -> BearerToken? {
        if let text = environment[variable], !text.isEmpty {
            return try BearerToken(text: text, from: variable)
        }
        guard let file else { return nil }
        return try BearerToken(file: file)
    }

    /// - Throws: ``ServiceError`` if the file is another user's, or if others may read it.
    package init(file path: String) throws(ServiceError) {
        let name = "the token's file \(ServiceError.shown(path))"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw ServiceError(.token, "cannot read \(name): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw ServiceError(.token, "\(name) is no regular file")
        }
        guard found.st_uid == geteuid() || found.st_uid == 0 else {
            throw ServiceError(.token, "\(name) belongs to another user\n   = use a file of your own")
        }
        guard found.st_mode & 0o077 == 0 else {
            throw ServiceError(
                .token,
                "others may read \(name)\n   = chmod 600 \(ServiceError.shown(path))\n   = if others may have read "
                    + "it, revoke the token: 'penumbra token revoke'")
        }
        var bytes = [UInt8](repeating: 0, count: Self.longest + 2)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw ServiceError(.token, "cannot read \(name): \(String(cString: strerror(errno)))")
        }
        let text = String(validating: bytes.prefix(count), as: UTF8.self) ?? ""
        try self.init(text: String(text.prefix { !$0.isNewline }), from: name)
    }
}
