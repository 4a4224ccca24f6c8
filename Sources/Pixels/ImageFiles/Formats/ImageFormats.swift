package import Catalogs

/// The formats that Penumbra reads and writes.
package enum ImageFormats {
    package static let all: [any ImageFormat] = [
        JPEGFormat(), PNGFormat(), WebPFormat(), TIFFFormat(), GIFFormat(), AVIFFormat(), HEICFormat(), JPEGXLFormat(),
        JPEG2000Format(), PPMFormat(), OpenEXRFormat(), SVGFormat(), PDFFormat(), DeepZoomFormat(),
    ]

    /// Of those that this libvips has.
    ///
    /// - Throws: when libvips does not start.
    package static func descriptors() throws(ImageFileError) -> [FormatDescriptor] {
        try VipsRuntime.startIfNeeded()
        return all.filter(VipsModules.offers).map(\.descriptor)
    }

    /// The format with this name in the catalog, `jpeg`.
    package static func named(_ name: String) -> (any ImageFormat)? {
        all.first { $0.descriptor.name == name }
    }

    /// The format of a file's content.
    static func recognizing(_ head: [UInt8]) -> (any ImageFormat)? {
        all.first { $0.recognizes(head) }
    }

    /// How many of a file's bytes are needed to recognise it.
    static let headLength = 1024
}
