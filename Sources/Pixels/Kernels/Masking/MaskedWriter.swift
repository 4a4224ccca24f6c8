import Catalogs
package import Raster

/// Writes rows where a mask covers them: whole pixels as they are, partly covered ones blended with the original in
/// the filter's own working values, uncovered ones not at all.
package struct MaskedWriter: WorkingRowSink {
    private let mask: RoundedRect
    private let original: PixelReader
    private var writer: PixelWriter

    /// - Parameters:
    ///   - raster: has the originals already (see ``KernelSource/copyPixels(to:)``); consume it.
    ///   - original: the filter's input; its tables cover what is written.
    package init(_ raster: consuming AnyRaster, mask: RoundedRect, original: PixelReader) {
        self.mask = mask
        self.original = original
        writer = PixelWriter(raster, like: original)
    }

    package var raster: AnyRaster { writer.raster }

    package mutating func write(_ row: Span<Double>, x: Int, y: Int) {
        let channels = writer.layout.channels
        let coverage = (0..<row.count / channels).map { mask.coverage(x: x + $0, y: y) }
        let blended = blend(row, coverage, x, y)
        var index = 0
        while index < coverage.count {
            let end = coverage[index...].firstIndex { ($0 > 0) != (coverage[index] > 0) } ?? coverage.count
            if coverage[index] > 0 {
                writer.write(blended.span.extracting(index * channels..<end * channels), x: x + index, y: y)
            }
            index = end
        }
    }

    private func blend(_ row: Span<Double>, _ coverage: [Double], _ x: Int, _ y: Int) -> [Double] {
        let channels = writer.layout.channels
        var blended = [Double](repeating: 0, count: row.count)
        var target = blended.mutableSpan
        let position = original.source.rows[y]  // negative where nothing is: zeros
        if position >= 0 { original.read(columns: x..<x + coverage.count, atPosition: position, into: &target) }
        for (pixel, share) in coverage.enumerated() {
            for index in pixel * channels..<(pixel + 1) * channels {
                target[index] = share == 1 ? row[index] : target[index] * (1 - share) + row[index] * share
            }
        }
        return blended
    }
}
