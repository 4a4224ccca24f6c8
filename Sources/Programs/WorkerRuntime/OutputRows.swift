import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

/// The rows of an output, as an encoder pulls them: converted to what the file holds, digested on the way.
///
/// Used by one thread at a time.
final class OutputRows {
    /// Of all rows; the first one of the file is its first.
    let extent: PixelRect
    private let conversion: OutputConversion
    /// Renders the next rows of the extent, from the row that it is given; at least one row.
    private let renderBand: (Int) throws -> AnyRaster
    private var band: AnyRaster?
    private var digests: BandDigests? = BandDigests()

    init(extent: PixelRect, conversion: OutputConversion, renderBand: @escaping (Int) throws -> AnyRaster) {
        self.extent = extent
        self.conversion = conversion
        self.renderBand = renderBand
    }

    /// The rows of a file, which begin at 0, asked for in order; perhaps with more rows around them.
    func rows(_ range: Range<Int>) throws -> AnyRaster {
        let wanted = PixelRect(
            columns: extent.columns, rows: extent.y + range.lowerBound..<extent.y + range.upperBound)
        // What an encoder asks for is a small part of a band: no copy is made of it.
        if conversion.isIdentity, case let band = try bandHolding(wanted.y), band.rect.contains(wanted) {
            digests?.append(band, rows: wanted.rows)
            return band.translated(x: -extent.x, y: -extent.y)
        }
        let converted = conversion.convert(try collect(wanted))
        digests?.append(converted)
        return converted.translated(x: -extent.x, y: -extent.y)
    }

    /// Crops the rows from the band that was rendered last, and renders more where it ends.
    private func collect(_ wanted: PixelRect) throws -> AnyRaster {
        if let band, band.rect.contains(wanted) { return band.cropped(to: wanted) }
        var result = AnyRaster(zeroed: wanted, layout: conversion.layout, format: conversion.sampleFormat)
        var row = wanted.y
        while row < wanted.bottom {
            let current = try bandHolding(row)
            let part = current.rect.intersection(wanted)
            result.paste(current.cropped(to: part))
            row = part.bottom
        }
        return result
    }

    private func bandHolding(_ row: Int) throws -> AnyRaster {
        if let band, band.rect.rows.contains(row) { return band }
        band = nil
        let rendered = try renderBand(row)
        band = rendered
        return rendered
    }

    /// A receipt for every 256 rows; once, after the last row.
    func receipts() -> [BandReceipt] {
        guard let all = digests.take()?.finish() else { return [] }
        return all.enumerated().map { index, digest in
            let first = index * BandReceipt.height
            return BandReceipt(rows: first..<min(first + BandReceipt.height, extent.height), digest: digest)
        }
    }
}
