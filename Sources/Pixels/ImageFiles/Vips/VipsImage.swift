import CVips

/// An image in a libvips pipeline: pixels that are not computed yet, with metadata fields.
typealias VipsImageReference = VipsReference<VipsImage>

extension VipsReference where Object == VipsImage {
    var width: Int { Int(pointer.pointee.Xsize) }
    var height: Int { Int(pointer.pointee.Ysize) }
    var bands: Int { Int(pointer.pointee.Bands) }
    var bandFormat: VipsBandFormat { pointer.pointee.BandFmt }
    var coding: VipsCoding { pointer.pointee.Coding }
    var interpretation: VipsInterpretation { pointer.pointee.Type }
    /// The pixels per millimetre; 1 if the file has no resolution.
    var resolution: (x: Double, y: Double) { (pointer.pointee.Xres, pointer.pointee.Yres) }

    /// An integer field, or nil when the image has none of this name.
    func integer(_ field: String) -> Int? {
        guard vips_image_get_typeof(pointer, field) != 0 else { return nil }
        var value: gint = 0
        guard vips_image_get_int(pointer, field, &value) == 0 else {
            vips_error_clear()
            return nil
        }
        return Int(value)
    }

    /// A field of several integers, or nil when the image has none of this name.
    func integers(_ field: String) -> [Int]? {
        guard vips_image_get_typeof(pointer, field) != 0 else { return nil }
        var values: UnsafeMutablePointer<gint>?
        var count: gint = 0
        guard vips_image_get_array_int(pointer, field, &values, &count) == 0, let values else {
            vips_error_clear()
            return nil
        }
        return UnsafeBufferPointer(start: values, count: Int(count)).map { Int($0) }
    }

    /// A copy of a field of bytes, or nil when the image has none of this name or it is empty.
    func blob(_ field: String) -> [UInt8]? {
        guard vips_image_get_typeof(pointer, field) != 0 else { return nil }
        var data: UnsafeRawPointer?
        var count = 0
        guard vips_image_get_blob(pointer, field, &data, &count) == 0 else {
            vips_error_clear()
            return nil
        }
        guard let data, count > 0 else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: data, count: count))
    }

    /// A text field, or nil when the image has none of this name.
    func text(_ field: String) -> String? {
        guard vips_image_get_typeof(pointer, field) != 0 else { return nil }
        var value: UnsafePointer<CChar>?
        guard vips_image_get_string(pointer, field, &value) == 0, let value else {
            vips_error_clear()
            return nil
        }
        return String(cString: value)
    }

    func setBlob(_ field: String, to bytes: [UInt8]) {
        bytes.withUnsafeBytes { vips_image_set_blob_copy(pointer, field, $0.baseAddress, $0.count) }
    }

    func setInteger(_ field: String, to value: Int) { vips_image_set_int(pointer, field, gint(clamping: value)) }

    func setIntegers(_ field: String, to values: [Int]) {
        let values = values.map { gint(clamping: $0) }
        vips_image_set_array_int(pointer, field, values, gint(values.count))
    }

    func setText(_ field: String, to text: String) { vips_image_set_string(pointer, field, text) }
}

extension VipsReference<VipsImage> {
    /// Computes all samples, of 16 bits.
    func samples() throws(VipsError) -> [UInt16] {
        precondition(bandFormat == VIPS_FORMAT_USHORT, "the samples have 16 bits")
        var count = 0
        guard let bytes = vips_image_write_to_memory(pointer, &count) else { throw VipsError.take() }
        defer { g_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count).bindMemory(to: UInt16.self))
    }

    /// Creates one row of pixels, the form of libvips' tables.
    ///
    /// - Parameter values: the values, channel by channel.
    init(table values: [Float], bands: Int) throws(VipsError) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_FLOAT)
    }

    init(table values: [UInt8], bands: Int) throws(VipsError) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_UCHAR)
    }

    init(table values: [UInt16], bands: Int) throws(VipsError) {
        try self.init(row: values, width: values.count / bands, height: 1, bands: bands, VIPS_FORMAT_USHORT)
    }

    /// Creates a matrix from rows of equal length.
    init(matrix rows: [[Double]]) throws(VipsError) {
        try self.init(
            row: rows.flatMap(\.self), width: rows.first?.count ?? 0, height: rows.count, bands: 1, VIPS_FORMAT_DOUBLE)
    }

    /// libvips copies the values.
    private init<Value: BitwiseCopyable>(
        row: [Value], width: Int, height: Int, bands: Int, _ format: VipsBandFormat
    ) throws(VipsError) {
        precondition(row.count == width * height * bands, "every pixel has all its channels")
        let image = row.withUnsafeBytes {
            vips_image_new_from_memory_copy($0.baseAddress, $0.count, Int32(width), Int32(height), Int32(bands), format)
        }
        guard let reference = VipsReference(adopting: image) else { throw VipsError.take() }
        self = reference
    }
}
