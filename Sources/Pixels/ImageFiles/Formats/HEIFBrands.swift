/// The brands of a HEIF file, which tell AVIF and HEIC apart: ISO/IEC 14496-12, the `ftyp` box.
enum HEIFBrands {
    /// The major brand and the compatible ones; empty for files of other kinds.
    static func of(_ head: [UInt8]) -> [String] {
        guard head.count >= 16, head[4..<8].elementsEqual("ftyp".utf8) else { return [] }
        let size = min(head.count, head[..<4].reduce(0) { $0 << 8 | Int($1) })
        guard size >= 16 else { return [] }
        let starts = [8] + Array(stride(from: 16, through: size - 4, by: 4))
        return starts.map { String(decoding: head[$0..<$0 + 4], as: UTF8.self) }
    }

    static let avif: Set = ["avif", "avis"]
    static let heic: Set = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
}
