import CVips

extension VipsReference<VipsImage> {
    /// One row of pixels, as operations want tables.
    ///
    /// - Parameter values: channel by channel.
    init(table values: [Float], bands: Int) throws(VipsFailure) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_FLOAT)
    }

    init(table values: [UInt8], bands: Int) throws(VipsFailure) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_UCHAR)
    }

    init(table values: [UInt16], bands: Int) throws(VipsFailure) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_USHORT)
    }

    /// Row by row; all as long as the first.
    init(matrix rows: [[Double]]) throws(VipsFailure) {
        try self.init(
            row: rows.flatMap(\.self), width: rows.first?.count ?? 0, height: rows.count, bands: 1, VIPS_FORMAT_DOUBLE)
    }

    /// libvips copies what it is given.
    private init<Value: BitwiseCopyable>(
        row: [Value], width: Int, height: Int, bands: Int, _ format: VipsBandFormat
    ) throws(VipsFailure) {
        precondition(row.count == width * height * bands, "every pixel has all its channels")
        let image = row.withUnsafeBytes {
            vips_image_new_from_memory_copy($0.baseAddress, $0.count, Int32(width), Int32(height), Int32(bands), format)
        }
        guard let reference = VipsReference(adopting: image) else { throw VipsFailure.take() }
        self = reference
    }
}
