import CZlib

/// The gzip form of the page's files (RFC 1952).
///
/// The service compresses its own files alone, once, and never decompresses.
enum GzipFile {
    /// The window of deflate, with a header of gzip around it.
    private static let windowBits: Int32 = 15 + 16
    /// The most memory for the search of repetitions, as zlib numbers it.
    private static let memoryLevel: Int32 = 9

    /// The bytes in gzip's form. The same bytes always give the same result. Nil if zlib refuses, for want of memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, zlibVersion(),
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        guard let length = UInt32(exactly: bytes.count) else { return nil }
        let room = Int(deflateBound(&stream, UInt(length)))
        var input = bytes
        return input.withUnsafeMutableBufferPointer { source -> [UInt8]? in
            var isWhole = false
            let result = [UInt8](unsafeUninitializedCapacity: room) { target, count in
                stream.next_in = source.baseAddress
                stream.avail_in = length
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(clamping: room)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = Int(stream.total_out)
            }
            return isWhole ? result : nil
        }
    }
}
