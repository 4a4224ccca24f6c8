import Catalogs
import CVips
import Geometry

/// The rows of a picture as its file has them, decoded from top to bottom on the calling thread.
struct StoredRows: ~Copyable {
    /// Rows that libvips decodes in one go. Few, so that an error can say how far the file is whole.
    private static let step = 16

    private let image: VipsImageReference
    private let region: VipsReference<VipsRegion>
    private let file: InputFile
    private let formatTitle: String
    private let shape: ImageShape
    private let drawing: DrawingTime.Drawing?

    /// - Parameter shape: of what is in `image`; the decoder's own unless it is a part of that.
    init(
        _ image: consuming VipsImageReference, of decoder: ImageDecoder, shape: ImageShape? = nil
    ) throws(ImageFileError) {
        guard let region = VipsReference(adopting: vips_region_new(image.pointer)) else {
            throw ImageFileError(path: decoder.file.path, .library(VipsFailure.take().line))
        }
        self.region = region
        self.image = image
        file = decoder.file
        formatTitle = decoder.formatTitle
        self.shape = shape ?? decoder.storedShape
        drawing = decoder.drawing
    }

    /// Decodes `rows`, which follow those of the last call, into `buffer`: row after row without padding.
    func decode(_ rows: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) throws(ImageFileError) {
        try decode(PixelRect(columns: 0..<shape.width, rows: rows), into: buffer)
    }

    /// Decodes a part whose rows do not begin above those of the last call, into `buffer`.
    func decode(_ part: PixelRect, into buffer: UnsafeMutableRawBufferPointer) throws(ImageFileError) {
        let stride = part.width * shape.layout.channels * shape.sampleFormat.bytes
        precondition(buffer.count >= part.height * stride, "the buffer has room for the rows")
        for top in Swift.stride(from: part.y, to: part.bottom, by: Self.step) {
            let some = top..<min(top + Self.step, part.bottom)
            var rect = VipsRect(
                left: gint(part.x), top: gint(top), width: gint(part.width), height: gint(some.count))
            try DrawingTime.shared.counting(drawing) { () throws(ImageFileError) in
                guard vips_region_prepare(region.pointer, &rect) == 0 else { throw broken(after: top) }
            }
            for row in some {
                let start = (row - part.y) * stride
                UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + stride]).copyMemory(
                    from: UnsafeRawBufferPointer(
                        start: penumbra_region_address(region.pointer, gint(part.x), gint(row)), count: stride))
            }
        }
    }

    /// Closes the picture after its last row.
    ///
    /// libvips asks libjpeg about damage before each strip of eight rows. What was found in the last strip comes out
    /// only as a warning, when the file is closed.
    consuming func finish() throws(ImageFileError) {
        let (file, formatTitle, height) = (self.file, self.formatTitle, shape.height)
        var parts: Parts? = Parts(image: image, region: region)
        guard VipsWarnings.occur(during: { _ = parts.take() }) else { return }
        throw ImageFileError(
            path: file.path,
            .broken(format: formatTitle, rows: (height - 1) / 8 * 8, height: height, detail: VipsFailure.take().line))
    }

    private struct Parts: ~Copyable {
        let image: VipsImageReference
        let region: VipsReference<VipsRegion>
    }

    private func broken(after rows: Int) -> ImageFileError {
        let failure = VipsFailure.take()
        if let errno = file.findFailure() { return ImageFileError(path: file.path, .read, errno: errno) }
        return ImageFileError(
            path: file.path,
            .broken(format: formatTitle, rows: rows, height: shape.height, detail: failure.line))
    }
}
