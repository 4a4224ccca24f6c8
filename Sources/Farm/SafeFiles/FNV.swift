/// The hash FNV-1a, for names of files that stand for paths. Two paths may get the same name, so the content of the file
/// tells which path it belongs to. Names on disk depend on this hash, and XXH3 belongs to Pixels.
package enum FNV {
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    /// The hash in sixteen hexadecimal digits.
    package static func name(of bytes: some Sequence<UInt8>) -> String {
        let digits = String(hash(bytes), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
