import CCrypto
import Glibc

/// The digest that names a file's content to those who do not trust it (FIPS 180-4), by OpenSSL.
package enum SHA256 {
    private static let chunk = 1 << 16

    /// 64 hexadecimal digits; nil when it is no regular file, or cannot be read.
    package static func digest(ofFile path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)  // A pipe nobody writes to is not waited for.
        guard file >= 0 else { return nil }
        defer { close(file) }
        return digest(ofDescriptor: file)
    }

    /// The same of an open file, from where it stands.
    package static func digest(ofDescriptor file: Int32) -> String? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: chunk)
        while true {
            let count = read(file, &buffer, chunk)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return finish(context) }
            guard EVP_DigestUpdate(context, buffer, count) == 1 else { return nil }
        }
    }

    private static func finish(_ context: OpaquePointer) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return nil }
        let digits = Array("0123456789abcdef")
        return String(bytes.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
