import CVips
import JobModel
package import Geometry
package import Raster

extension ImageDecoder {
    /// Decodes parts of the picture, each as a raster of its own.
    ///
    /// The cost is that of the parts for TIFF, and for other formats that of all rows down to the last one that is
    /// needed. Pixels are those that ``readRows(bandHeight:_:)`` gives.
    ///
    /// - Parameter rects: parts of the picture, upright; not empty.
    /// - Precondition: this is the decoder's first and only reading.
    package func readRegions(_ rects: [PixelRect]) throws -> [AnyRaster] {
        precondition(rects.allSatisfy { header.rect.contains($0) && !$0.isEmpty }, "parts lie in the picture")
        guard orientation == .upright, !isLinear, pages == .first else { return try regionsOfRows(rects) }
        if TIFFStrips(file) != nil { return try rects.map(regionOfStrips) }
        guard let directories = TIFFDirectories(size: file.size, fetch: { [file] in file.bytes(in: $0) }),
            directories.main.contains(where: { $0.tag == Self.tileWidthTag })
        else { return try regionsOfRows(rects) }
        let picture = try reopened(file, access: VIPS_ACCESS_RANDOM)
        let rows = try StoredRows(picture.takeImage(), of: self)
        return try rects.map { rect in
            delivered(
                try AnyRaster(rect: rect, layout: shape.layout, format: shape.sampleFormat) {
                    try rows.decode(rect, into: $0)
                })
        }
    }

    private static let tileWidthTag: UInt16 = 322

    private func reopened(_ file: InputFile, access: VipsAccess) throws(ImageFileError) -> ConvertedPicture {
        try Self.convert(try StoredPicture(file: file, pages: pages, access: access), color)
    }

    private func regionOfStrips(_ rect: PixelRect) throws -> AnyRaster {
        guard let strips = TIFFStrips(file) else { throw ImageFileError(path: file.path, .notAnImage) }
        let excerpt = try strips.excerpt(of: file, rows: rect.rows)
        let picture = try reopened(excerpt.file, access: VIPS_ACCESS_SEQUENTIAL)
        let shape = picture.shape
        let rows = try StoredRows(picture.takeImage(), of: self, shape: shape)
        let part = PixelRect(x: rect.x, y: rect.y - excerpt.rows.lowerBound, width: rect.width, height: rect.height)
        return delivered(
            try AnyRaster(rect: rect, layout: self.shape.layout, format: self.shape.sampleFormat) {
                try rows.decode(part, into: $0)
            })
    }

    /// Cut out of whole rows, from the top down to the last one that is needed.
    private func regionsOfRows(_ rects: [PixelRect]) throws -> [AnyRaster] {
        struct Enough: Error {}
        var parts = rects.map { AnyRaster(zeroed: $0, layout: header.layout, format: header.sampleFormat) }
        let last = rects.map(\.bottom).max() ?? 0
        do {
            try readRows(bandHeight: 64) { band in
                for index in parts.indices {
                    let common = band.rect.intersection(parts[index].rect)
                    if !common.isEmpty { parts[index].paste(band.cropped(to: common)) }
                }
                if band.rect.bottom >= last { throw Enough() }
            }
        } catch is Enough {}
        return parts
    }
}

extension ImageHeader {
    /// The picture as a rectangle.
    package var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
}
