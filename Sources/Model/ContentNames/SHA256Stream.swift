import CCrypto

/// The SHA-256 digest of bytes that come piece by piece (FIPS 180-4), by OpenSSL.
///
/// It names a content even where somebody wants two contents to have one name.
package struct SHA256Stream: ~Copyable {
    private let context: OpaquePointer
    private var isSound = true

    /// Nil where the library has no SHA-256 to give.
    package init?() {
        guard let context = EVP_MD_CTX_new() else { return nil }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            EVP_MD_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1 { isSound = false }
    }

    /// 64 hexadecimal digits; nil when the library has failed.
    package consuming func finish() -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard isSound, EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return nil }
        let digits = Array("0123456789abcdef")
        return String(bytes.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

extension SHA256Stream {
    /// 64 hexadecimal digits; nil when the library has failed.
    package static func digest(of bytes: [UInt8]) -> String? {
        guard var stream = SHA256Stream() else { return nil }
        bytes.withUnsafeBytes { stream.update($0) }
        return stream.finish()
    }
}
