/// Bytes that go into a file while it is written: how metadata gets into files whose pixels libvips encodes.
///
/// libvips would rebuild EXIF through another library, which drops and invents tags; Penumbra's rules about what an
/// output may carry hold only for bytes that it puts there itself.
package struct Insertion: Hashable, Sendable {
    let bytes: [UInt8]
    /// How many of the encoder's bytes go before them.
    let position: Int
}

/// Takes an encoder's bytes and writes them to a file, with an insertion.
final class EncodedStream {
    let file: OutputFile
    private var insertion: Insertion?
    private var count = 0

    init(file: OutputFile, insertion: Insertion?) {
        self.file = file
        self.insertion = insertion
    }

    /// False after a failure, which the file keeps.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { count += bytes.count }
        guard let insertion, insertion.position <= count + bytes.count else { return file.write(bytes) }
        self.insertion = nil
        let split = insertion.position - count
        return file.write(UnsafeRawBufferPointer(rebasing: bytes[..<split]))
            && insertion.bytes.withUnsafeBytes { file.write($0) }
            && file.write(UnsafeRawBufferPointer(rebasing: bytes[split...]))
    }
}
