package import Catalogs

/// The size of a picture and how its pixels are stored.
package struct ImageShape: Hashable, Sendable, Codable {
    package let width: Int
    package let height: Int
    package let layout: PixelLayout
    package let sampleFormat: SampleFormat

    package init(width: Int, height: Int, layout: PixelLayout, sampleFormat: SampleFormat) {
        self.width = width
        self.height = height
        self.layout = layout
        self.sampleFormat = sampleFormat
    }

    /// So many of these, one below the other.
    func repeated(_ count: Int) -> ImageShape {
        ImageShape(width: width, height: height * count, layout: layout, sampleFormat: sampleFormat)
    }

    /// Bytes of one row.
    package var stride: Int { width * layout.channels * sampleFormat.bytes }

    /// Bytes of all samples.
    package var byteCount: Int { stride * height }
}
