import CCrypto

/// The SHA-256 digest of a secret. Two digests are compared in constant time.
package struct SecretDigest: Hashable, Sendable {
    package let bytes: [UInt8]

    static let count = 32

    /// A stored digest. Nil for another number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    package init(of secret: [UInt8]) throws {
        var digest = [UInt8](repeating: 0, count: Self.count)
        var length: UInt32 = 0
        guard EVP_Digest(secret, secret.count, &digest, &length, EVP_sha256(), nil) == 1, length == Self.count else {
            throw DigestError()
        }
        bytes = digest
    }

    /// Nothing has this digest as far as anybody knows.
    static let none = SecretDigest(zeros: ())
    private init(zeros: Void) { bytes = [UInt8](repeating: 0, count: Self.count) }

    package static func == (a: SecretDigest, b: SecretDigest) -> Bool {
        CRYPTO_memcmp(a.bytes, b.bytes, Self.count) == 0
    }
}

/// libcrypto has no SHA-256 to give, for example in a restricted mode.
struct DigestError: Error {}
