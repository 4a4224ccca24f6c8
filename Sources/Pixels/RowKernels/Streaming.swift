import CStreaming

/// Copies a finished row into the raster.
///
/// - Parameter streams: whether whole cache lines bypass the caches, for pictures that are larger than the caches. Call
///   ``endStreaming()`` after the last row.
@inline(never) public func storeRow(
    _ source: UnsafePointer<UInt8>, count: Int, streams: Bool, out: UnsafeMutablePointer<UInt8>
) {
    guard streams, count >= 64 else { return copyBytes(source, out, count) }
    let lead = -Int(bitPattern: out) & 63
    copyBytes(source, out, lead)
    var index = lead
    while index &+ 64 <= count {
        penumbra_stream_line(source + index, out + index)
        index &+= 64
    }
    copyBytes(source + index, out + index, count &- index)
}

/// Makes streamed rows visible to other threads.
@inline(never) public func endStreaming() { penumbra_stream_end() }

@inline(__always)
private func copyBytes(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ count: Int) {
    UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: count)
}
