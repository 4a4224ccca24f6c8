import Catalogs
public import Geometry
package import Raster

/// How much of each pixel a filter changes: nothing outside of some regions, and as much as another picture says.
///
/// The coverage of a pixel is the product of two: that of the regions, and the brightness of the picture. It can be inverted, and softened by a
/// Gaussian. Where regions overlap, the coverage is 1 − ∏(1 − cᵢ), as if the filter were applied for each region.
public struct Mask: Sendable {
    /// Nil for the whole picture.
    private let regions: [RoundedRect]?
    private let picture: PlacedPicture?
    private let isInverted: Bool
    /// Softens the coverage. Nil if it stays as it is.
    private let softening: Gaussian?

    /// - Parameters:
    ///   - regions: what the filter changes.
    ///   - isInverted: whether the filter changes everything else instead.
    ///   - feather: the standard deviation of the Gaussian that softens the coverage, 0…1000 pixels.
    public init(_ regions: [RoundedRect], isInverted: Bool = false, feather: Double = 0) {
        self.init(regions: regions, picture: nil, isInverted: isInverted, feather: feather)
    }

    public init(_ region: RoundedRect) { self.init([region]) }

    package init(regions: [RoundedRect]?, picture: PlacedPicture?, isInverted: Bool, feather: Double) {
        self.regions = regions
        self.picture = picture
        self.isInverted = isInverted
        softening = feather > 0 ? Gaussian(radius: feather) : nil
    }

    /// The smallest rectangle of ``parts(in:)``.
    public func bounds(in area: PixelRect) -> PixelRect {
        parts(in: area).reduce(PixelRect.empty) { $0.isEmpty ? $1 : $0.union($1) }
    }

    /// Disjoint rectangles with all pixels of `area` that may be covered. What a filter does between two distant faces, nobody sees, so each
    /// region has a rectangle of its own.
    package func parts(in area: PixelRect) -> [PixelRect] {
        guard !area.isEmpty else { return [] }
        guard let softening else { return sharpParts(in: area) }
        let reach = softening.halo
        return Self.disjoint(
            sharpParts(in: area.expanded(by: reach)).map { $0.expanded(by: reach).intersection(area) }
                .filter { !$0.isEmpty })
    }

    private func sharpParts(in area: PixelRect) -> [PixelRect] {
        if isInverted { return [area] }
        let shown = picture.map { $0.bounds(in: area) } ?? area
        guard !shown.isEmpty else { return [] }
        guard let regions else { return [shown] }
        return Self.disjoint(regions.map { $0.bounds(in: shown) }.filter { !$0.isEmpty })
    }

    /// Replaces rectangles that touch by one around them.
    private static func disjoint(_ rects: [PixelRect]) -> [PixelRect] {
        var apart: [PixelRect] = []
        for rect in rects {
            var whole = rect
            while let index = apart.firstIndex(where: { !$0.intersection(whole).isEmpty }) {
                whole = whole.union(apart.remove(at: index))
            }
            apart.append(whole)
        }
        return apart
    }

    /// The coverage of the pixels of `area`.
    func coverage(of area: PixelRect) -> MaskCoverage {
        MaskCoverage(softened: softening.map { softened(area, by: $0) }, sharp: self)
    }

    private func softened(_ area: PixelRect, by gaussian: Gaussian) -> Raster<UInt16> {
        let wide = area.expanded(by: gaussian.halo)
        var sharp = Raster<UInt16>(rect: wide, layout: .gray, repeating: 0)
        for y in wide.rows {
            for (index, share) in sharpCoverage(columns: wide.columns, y: y).enumerated() {
                sharp.samples[(y - wide.y) * wide.width + index] = UInt16(share * 65535 + 0.5)
            }
        }
        let source = KernelSource(
            raster: .u16(sharp), columns: AxisTable(range: wide.columns), rows: AxisTable(range: wide.rows))
        var soft = AnyRaster(zeroed: area, layout: .gray, format: .u16)
        gaussian.render(source, light: .encoded, into: &soft)
        guard case .u16(let raster) = soft else { preconditionFailure("a kernel keeps the format") }
        return raster
    }

    /// The coverage before it is softened, 0…1.
    fileprivate func sharpCoverage(columns: Range<Int>, y: Int) -> [Double] {
        var row = regions.map { Self.coverage(of: $0, columns, y) } ?? [Double](repeating: 1, count: columns.count)
        picture?.multiply(&row, columns: columns, y: y)
        if isInverted { for index in row.indices { row[index] = 1 - row[index] } }
        return row
    }

    private static func coverage(of regions: [RoundedRect], _ columns: Range<Int>, _ y: Int) -> [Double] {
        var row = [Double](repeating: 0, count: columns.count)
        for region in regions {
            for x in region.bounds(in: PixelRect(columns: columns, rows: y..<y + 1)).columns {
                let (index, share) = (x - columns.lowerBound, region.coverage(x: x, y: y))
                row[index] = row[index] == 0 ? share : 1 - (1 - row[index]) * (1 - share)
            }
        }
        return row
    }
}

/// The coverage of the pixels of a rectangle.
struct MaskCoverage {
    /// Nil if the coverage is not softened.
    fileprivate let softened: Raster<UInt16>?
    fileprivate let sharp: Mask

    /// The covered share of each pixel, 0…1.
    func row(_ columns: Range<Int>, y: Int) -> [Double] {
        guard let softened else { return sharp.sharpCoverage(columns: columns, y: y) }
        let rect = softened.rect
        let start = (y - rect.y) * rect.width + columns.lowerBound - rect.x
        return softened.samples[start..<start + columns.count].map { Double($0) / 65535 }
    }
}

/// A gray picture in a place of the filter's input.
package struct PlacedPicture: Sendable {
    private let picture: GrayPicture
    /// Where the picture lies. Its pixels are interpolated bilinearly.
    private let rect: PixelRect
    /// Whether the border continues outside of `rect`. Otherwise black is there.
    private let isEverywhere: Bool

    /// A picture that is spread over the whole input.
    package init(_ picture: GrayPicture, over input: PixelRect) {
        (self.picture, rect, isEverywhere) = (picture, input, true)
    }

    /// A picture of its own size.
    package init(_ picture: GrayPicture, x: Int, y: Int) {
        (self.picture, isEverywhere) = (picture, false)
        rect = PixelRect(x: x, y: y, width: picture.width, height: picture.height)
    }

    /// The pixels of `area` that may not be black.
    fileprivate func bounds(in area: PixelRect) -> PixelRect {
        let shown = isEverywhere ? area : area.intersection(rect)
        return StrengthMap.picture(picture).most(in: shown, extent: rect) == 0 ? .empty : shown
    }

    fileprivate func multiply(_ row: inout [Double], columns: Range<Int>, y: Int) {
        let shown = isEverywhere ? columns : columns.clamped(to: rect.columns)
        guard !shown.isEmpty, isEverywhere || rect.rows.contains(y) else {
            for index in row.indices { row[index] = 0 }
            return
        }
        var values = [UInt16](repeating: 0, count: shown.count)
        values.withMutableRow { StrengthRows(.picture(picture), columns: shown, extent: rect).fill($0, y: y) }
        for (index, x) in columns.enumerated() {
            row[index] *= shown.contains(x) ? Double(values[x - shown.lowerBound]) / 65535 : 0
        }
    }
}

extension KernelSource {
    /// Renders whole samples within a mask. Partly covered pixels are blended with the original, from the rounded samples.
    ///
    /// - Parameter body: renders into every pixel of a raster.
    func render(within mask: Mask?, into destination: inout AnyRaster, _ body: (inout AnyRaster) -> Void) {
        guard let mask else { return body(&destination) }
        copyPixels(to: &destination)
        let areas = mask.parts(in: destination.rect)
        guard !areas.isEmpty else { return }
        let (layout, format) = (destination.layout, destination.format)
        let reader = PixelReader(self, layout: layout, light: .encoded)
        var sink = MaskedWriter(destination.take(), mask: mask, original: reader)
        for area in areas {
            var part = AnyRaster(zeroed: area, layout: layout, format: format)
            body(&part)
            PixelReader(KernelSource(part), layout: layout, light: .encoded).write(area, to: &sink)
        }
        destination = sink.raster
    }
}

/// Writes rows within a mask. Completely covered pixels are written as they are. Partly covered pixels are blended with the
/// original in the filter's own working values. Uncovered pixels are not written.
package struct MaskedWriter: WorkingRowSink {
    private let coverage: MaskCoverage
    private let original: PixelReader
    private var writer: PixelWriter

    /// - Parameters:
    ///   - raster: a raster that contains the originals already (see ``KernelSource/copyPixels(to:)``); it is consumed.
    ///   - original: the filter's input, whose tables cover the written area.
    package init(_ raster: consuming AnyRaster, mask: Mask, original: PixelReader) {
        coverage = mask.coverage(of: mask.bounds(in: raster.rect))
        self.original = original
        writer = PixelWriter(raster, like: original)
    }

    package var raster: AnyRaster { writer.raster }

    package mutating func write(_ row: Span<Double>, x: Int, y: Int) {
        let channels = writer.layout.channels
        let coverage = coverage.row(x..<x + row.count / channels, y: y)
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
        let position = original.source.rows[y]  // negative if the row is transparent
        if position >= 0 { original.read(columns: x..<x + coverage.count, atPosition: position, into: &target) }
        for (pixel, share) in coverage.enumerated() {
            for index in pixel * channels..<(pixel + 1) * channels {
                target[index] = share == 1 ? row[index] : target[index] * (1 - share) + row[index] * share
            }
        }
        return blended
    }
}
