import Glibc

/// Takes an encoder's bytes and writes them to a file, with a splice.
final class EncodedStream {
    let file: OutputFile
    private let splice: Splice
    /// The encoder's first bytes, until there are enough for the splice; nil once they are written.
    private var head: [UInt8]?

    init(file: OutputFile, splice: Splice) {
        self.file = file
        self.splice = splice
        head = splice.headLength > 0 ? [] : nil
    }

    /// False after a failure, which the file keeps.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var head else { return file.write(bytes) }
        let count = min(splice.headLength - head.count, bytes.count)
        head.append(contentsOf: bytes[..<count])
        self.head = head
        guard head.count == splice.headLength else { return true }
        return writeHead() && file.write(UnsafeRawBufferPointer(rebasing: bytes[count...]))
    }

    /// Writes the tail and closes the file.
    func finish() throws(ImageFileError) {
        _ = writeHead() && splice.tail.withUnsafeBytes { file.write($0) }
        try file.finish()
    }

    private func writeHead() -> Bool {
        guard let head else { return true }
        self.head = nil
        return splice.rewriteHead(head).withUnsafeBytes { file.write($0) }
    }
}
