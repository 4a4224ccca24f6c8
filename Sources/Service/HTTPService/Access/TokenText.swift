/// A token as people see it: `pnb_ID_SECRET`. The ID finds the stored row, and the secret proves the right to use it.
package struct TokenText: Sendable {
    package let id: TokenID
    private let secret: [UInt8]

    static let prefix = "pnb_"
    /// Its length in characters.
    static let length = prefix.utf8.count + TokenID.length + 1 + secretLength
    private static let secretBytes = 32
    private static let secretLength = 52

    /// A new token of 40 + 256 random bits. Its text is shown once, and only the digest is stored.
    package init(using generator: inout some RandomNumberGenerator) {
        id = TokenID(using: &generator)
        secret = generator.bytes(Self.secretBytes)
    }

    /// A new secret for a token that exists.
    package init(renewing id: TokenID, using generator: inout some RandomNumberGenerator) {
        self.id = id
        secret = generator.bytes(Self.secretBytes)
    }

    /// Nil for anything but a token in its one spelling.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = TokenID(parts[0]), let secret = Base32.decode(parts[1]),
            secret.count == Self.secretBytes
        else { return nil }
        self.id = id
        self.secret = secret
    }

    /// The token itself. Never log it.
    package var text: String { "\(Self.prefix)\(id)_\(Base32.encode(secret))" }

    /// What is stored. The secret is random, so a slow hash for passwords would add nothing.
    package func digest() throws -> SecretDigest { try SecretDigest(of: secret) }
}

extension TokenText: CustomStringConvertible {
    /// Without the secret, so that a token which gets into a log by mistake is of no use there.
    package var description: String { "\(Self.prefix)\(id)_…" }
}

/// The public part of a token: 40 random bits, in eight characters.
package struct TokenID: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    static let length = 8

    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length, Base32.decode(Substring(text)) != nil else { return nil }
        description = String(text)
    }

    init(using generator: inout some RandomNumberGenerator) { description = Base32.encode(generator.bytes(5)) }
}

/// The secret of a browser's session, which is the value of a cookie.
package struct SessionSecret: Sendable {
    private let bytes: [UInt8]

    package init(using generator: inout some RandomNumberGenerator) { bytes = generator.bytes(32) }

    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 52, let bytes = Base32.decode(Substring(text)), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    package var text: String { Base32.encode(bytes) }

    package func digest() throws -> SecretDigest { try SecretDigest(of: bytes) }
}

extension RandomNumberGenerator {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}

/// RFC 4648, section 6, in lower case and without padding: one spelling for each value, and safe in every header.
package enum Base32 {
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var (text, buffer, bits) = ([UInt8](), 0, 0)
        for byte in bytes {
            buffer = (buffer << 8 | Int(byte)) & 0xfff
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[buffer >> bits & 31])
            }
        }
        if bits > 0 { text.append(digits[buffer << (5 - bits) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for other characters, and for bits beyond the last byte that are not zero.
    package static func decode(_ text: Substring) -> [UInt8]? {
        var (bytes, buffer, bits) = ([UInt8](), 0, 0)
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): digit = character - UInt8(ascii: "2") + 26
            default: return nil
            }
            buffer = (buffer << 5 | Int(digit)) & 0xfff
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        guard bits < 5, buffer & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }
}
