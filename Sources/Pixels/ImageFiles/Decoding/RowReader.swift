import CVips

/// Reads the rows of a libvips image from top to bottom, on the calling thread.
struct RowReader: ~Copyable {
    private let region: VipsReference<VipsRegion>
    private let width: Int
    private let stride: Int

    init(_ image: borrowing VipsImageReference) throws(VipsFailure) {
        guard let region = VipsReference(adopting: vips_region_new(image.pointer)) else { throw VipsFailure.take() }
        self.region = region
        width = image.width
        stride = Int(vips_format_sizeof(image.bandFormat)) * image.bands * image.width
    }

    /// Decodes `rows` into `buffer`, row after row without padding.
    func read(_ rows: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) throws(VipsFailure) {
        precondition(buffer.count >= rows.count * stride, "the buffer has room for the rows")
        var rect = VipsRect(left: 0, top: gint(rows.lowerBound), width: gint(width), height: gint(rows.count))
        guard vips_region_prepare(region.pointer, &rect) == 0 else { throw VipsFailure.take() }
        for (index, row) in rows.enumerated() {
            let source = penumbra_region_address(region.pointer, 0, gint(row))
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[index * stride..<(index + 1) * stride])
            target.copyMemory(from: UnsafeRawBufferPointer(start: source, count: stride))
        }
    }
}
