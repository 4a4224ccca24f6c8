/// Bytes that are put into a file while it is written: how metadata gets into files whose pixels libvips encodes.
///
/// libvips would rebuild EXIF through another library, which drops and invents tags; Penumbra's rules about what an
/// output may carry hold only for bytes that it puts there itself.
package struct Splice: Sendable {
    /// How many of the encoder's first bytes `rewriteHead` needs.
    let headLength: Int
    /// Gives what is written in place of those bytes. Gets fewer when the whole file is shorter.
    let rewriteHead: @Sendable ([UInt8]) -> [UInt8]
    /// What follows the encoder's last byte.
    let tail: [UInt8]

    init(headLength: Int, tail: [UInt8] = [], rewriteHead: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.headLength = headLength
        self.rewriteHead = rewriteHead
        self.tail = tail
    }

    /// Puts `bytes` after the encoder's first `length` bytes.
    static func inserting(_ bytes: [UInt8], after length: Int) -> Splice {
        bytes.isEmpty ? .none : Splice(headLength: length) { $0 + bytes }
    }

    /// The encoder's bytes as they are.
    static let none = Splice(headLength: 0) { $0 }
}
