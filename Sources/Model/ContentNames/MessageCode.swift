import CCrypto

/// The HMAC-SHA-256 of a message (RFC 2104), by OpenSSL. It proves that the sender knows a key.
package enum MessageCode {
    /// 32 bytes. Nil if the library has failed.
    package static func hmacSHA256(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        let found = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
        return found == nil || count != 32 ? nil : Array(code.prefix(count))
    }
}
