import Catalogs
public import Geometry
package import Raster

/// How much of each pixel a filter changes: nothing outside of some regions, and as much as another picture says.
///
/// The coverage of a pixel is the product of two: that of the regions, and the brightness of the picture. It can be inverted, and softened by a
/// Gaussian. Then regions are larger by three of its standard deviations, so that the softening leaves nothing of what they hold. Where regions overlap, the coverage is 1 − ∏(1 − cᵢ), as if the filter were applied for each region.
public struct Mask: Sendable {
    /// Nil for the whole picture.
    fileprivate let regions: [MaskRegion]?
    fileprivate let picture: PlacedPicture?
    fileprivate let isInverted: Bool
    /// Softens the coverage. Nil if it stays as it is.
    let softening: Gaussian?

    /// - Parameters:
    ///   - regions: what the filter changes.
    ///   - isInverted: whether the filter changes everything else instead.
    ///   - feather: the standard deviation of the Gaussian that softens the coverage, 0…1000 pixels.
    public init(_ regions: [RoundedRect], isInverted: Bool = false, feather: Double = 0) {
        self.init(regions: regions, picture: nil, isInverted: isInverted, feather: feather)
    }

    public init(_ region: RoundedRect) { self.init([region]) }

    /// - Parameter outlines: more regions. They are left out if `regions` is nil.
    package init(
        regions: [RoundedRect]?, outlines: [OutlineArea] = [], picture: PlacedPicture?, isInverted: Bool,
        feather: Double
    ) {
        let shapes = regions.map { $0.map(MaskRegion.rect) + outlines.map(MaskRegion.outline) }
        self.regions = feather > 0 ? shapes?.map { $0.expanded(by: 3 * feather) } : shapes
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

    /// More parts than this are not told apart, because each is compared with all others.
    private static let mostParts = 256

    /// Replaces rectangles that overlap by one around them.
    private static func disjoint(_ rects: [PixelRect]) -> [PixelRect] {
        guard rects.count <= mostParts else { return [rects.reduce(.empty) { $0.union($1) }] }
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
        guard let softening else { return sharpCoverage(of: area) }
        let wide = area.expanded(by: softening.halo)
        let sharp = sharpCoverage(of: wide).raster(of: wide.rows)
        let source = KernelSource(
            raster: .u16(sharp), columns: AxisTable(range: wide.columns), rows: AxisTable(range: wide.rows))
        var soft = AnyRaster(zeroed: area, layout: .gray, format: .u16)
        softening.render(source, light: .encoded, into: &soft)
        return MaskCoverage(soft)
    }

    /// The coverage of the pixels of `area` before it is softened.
    func sharpCoverage(of area: PixelRect) -> MaskCoverage {
        MaskCoverage(area, .sharp(SharpCoverage(self, area, margin: softening?.halo ?? .none)))
    }
}

/// A region that a mask covers.
private enum MaskRegion: Sendable {
    case rect(RoundedRect)
    case outline(OutlineArea)

    func bounds(in area: PixelRect) -> PixelRect {
        switch self {
        case .rect(let rect): rect.bounds(in: area)
        case .outline(let outline): outline.bounds(in: area)
        }
    }

    func expanded(by distance: Double) -> MaskRegion {
        switch self {
        case .rect(let rect): .rect(rect.expanded(by: distance))
        case .outline(let outline): .outline(outline.expanded(by: distance))
        }
    }
}

/// The coverage of the pixels of a rectangle.
struct MaskCoverage {
    fileprivate enum Content {
        case sharp(SharpCoverage)
        case soft(Raster<UInt16>)
    }

    let area: PixelRect
    private let content: Content

    fileprivate init(_ area: PixelRect, _ content: Content) { (self.area, self.content) = (area, content) }

    /// - Parameter soft: the covered share of each pixel, as 16-bit samples of a gray picture.
    init(_ soft: AnyRaster) {
        guard case .u16(let raster) = soft else { preconditionFailure("16-bit samples") }
        self.init(raster.rect, .soft(raster))
    }

    /// Some rows as 16-bit samples of a gray picture.
    func raster(of rows: Range<Int>) -> Raster<UInt16> {
        let rect = PixelRect(columns: area.columns, rows: rows)
        var raster = Raster<UInt16>(rect: rect, layout: .gray, repeating: 0)
        var row = [Double](repeating: 0, count: rect.width)
        for y in rect.rows {
            fill(&row, y: y)
            raster.samples.withMutableRow { samples in
                let target = samples + (y - rect.y) * rect.width
                for index in row.indices { target[unchecked: index] = UInt16(rounding: row[index] * 65535) }
            }
        }
        return raster
    }

    /// Writes the covered share of each pixel of row `y`, 0…1.
    func fill(_ row: inout [Double], y: Int) {
        switch content {
        case .sharp(let coverage): coverage.fill(&row, y: y)
        case .soft(let raster):
            raster.samples.withRow { samples in
                let shares = samples + (y - area.y) * area.width
                precondition(row.count <= shares.count, "a row has a share for each pixel")
                for index in row.indices { row[index] = Double(shares[unchecked: index]) / 65535 }
            }
        }
    }
}

/// The coverage of a rectangle before it is softened.
private struct SharpCoverage {
    private let mask: Mask
    private let columns: Range<Int>
    /// For each block of rows, the indices of the regions in it.
    private let regions: [[Int32]]
    /// The outlines among the regions, by their indices.
    private let outlines: [Int32: OutlineCoverage]
    private let firstRow: Int
    private static let blockRows = 64
    /// The columns of the picture among them, and its rows.
    private let shown: Range<Int>
    private let pictureRows: StrengthRows?

    /// - Parameter margin: how far outside of the input coverage is needed.
    init(_ mask: Mask, _ area: PixelRect, margin: Halo) {
        (self.mask, columns, firstRow) = (mask, area.columns, area.y)
        let blocks = mask.regions == nil ? 0 : (area.height + Self.blockRows - 1) / Self.blockRows
        var regions = [[Int32]](repeating: [], count: blocks)
        var outlines: [Int32: OutlineCoverage] = [:]
        for (index, region) in (mask.regions ?? []).enumerated() {
            let rows = region.bounds(in: area).rows
            guard let first = rows.first, let last = rows.last else { continue }
            for block in (first - area.y) / Self.blockRows...(last - area.y) / Self.blockRows {
                regions[block].append(Int32(index))
            }
            if case .outline(let outline) = region {
                outlines[Int32(index)] = outline.coverage(of: area, margin: margin)
            }
        }
        (self.regions, self.outlines) = (regions, outlines)
        shown = mask.picture?.columns(among: columns) ?? columns
        pictureRows = shown.isEmpty ? nil : mask.picture?.strengthRows(columns: shown)
    }

    /// Writes the covered share of each pixel of row `y`, 0…1.
    func fill(_ row: inout [Double], y: Int) {
        for index in row.indices { row[index] = mask.regions == nil ? 1 : 0 }
        for index in regions.isEmpty ? [] : regions[(y - firstRow) / Self.blockRows] {
            switch mask.regions?[Int(index)] {
            case .rect(let rect)?:
                for (run, share) in rect.coverage(of: columns, y: y) {
                    for index in run.moved(by: -columns.lowerBound) { Self.add(share, to: &row[index]) }
                }
            case .outline?:
                guard let (run, shares) = outlines[index]?.shares(of: columns, y: y) else { continue }
                for (index, share) in zip(run.moved(by: -columns.lowerBound), shares) where share > 0 {
                    Self.add(share, to: &row[index])
                }
            case nil: continue
            }
        }
        if let picture = mask.picture { multiply(&row, by: picture, y: y) }
        if mask.isInverted { for index in row.indices { row[index] = 1 - row[index] } }
    }

    /// Adds a region, as if the filter were applied for each.
    private static func add(_ share: Double, to covered: inout Double) {
        covered = covered == 0 ? share : 1 - (1 - covered) * (1 - share)
    }

    private func multiply(_ row: inout [Double], by picture: PlacedPicture, y: Int) {
        guard let pictureRows, picture.covers(row: y) else {
            for index in row.indices { row[index] = 0 }
            return
        }
        var values = [UInt16](repeating: 0, count: shown.count)
        values.withMutableRow { pictureRows.fill($0, y: y) }
        let part = shown.moved(by: -columns.lowerBound)
        for index in row.indices.lowerBound..<part.lowerBound { row[index] = 0 }
        for index in part { row[index] *= Double(values[index - part.lowerBound]) / 65535 }
        for index in part.upperBound..<row.count { row[index] = 0 }
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

    /// The pixels of `area` that may not be black. The cost grows with the part of the picture under them.
    package func bounds(in area: PixelRect) -> PixelRect {
        let shown = isEverywhere ? area : area.intersection(rect)
        return StrengthMap.picture(picture).most(in: shown, extent: rect) == 0 ? .empty : shown
    }

    /// Whether it covers a part of `area`, in whatever shade.
    package func lies(on area: PixelRect) -> Bool { isEverywhere || !area.intersection(rect).isEmpty }

    /// Those columns that the picture has.
    fileprivate func columns(among columns: Range<Int>) -> Range<Int> {
        isEverywhere ? columns : columns.clamped(to: rect.columns)
    }

    fileprivate func covers(row y: Int) -> Bool { isEverywhere || rect.rows.contains(y) }

    fileprivate func strengthRows(columns: Range<Int>) -> StrengthRows {
        StrengthRows(.picture(picture), columns: columns, extent: rect)
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
        func filtered(_ area: PixelRect) -> AnyRaster {
            var part = AnyRaster(zeroed: area, layout: layout, format: format)
            body(&part)
            return part
        }
        guard layout.hasAlpha else {
            for area in areas { filtered(area).blend(into: &destination, mask.coverage(of: area)) }
            return
        }
        let reader = PixelReader(self, layout: layout, light: .encoded)
        var sink = MaskedWriter(destination.take(), mask: mask, original: reader)
        for area in areas {
            PixelReader(KernelSource(filtered(area)), layout: layout, light: .encoded).write(area, to: &sink)
        }
        destination = sink.raster
    }
}

extension AnyRaster {
    /// Writes the pixels of a filter over the originals, by their coverage. They have no alpha.
    func blend(into originals: inout AnyRaster, _ coverage: MaskCoverage) {
        switch (self, originals.take()) {
        case (.u8(let part), .u8(var target)):
            part.blend(into: &target, coverage)
            originals = .u8(target)
        case (.u16(let part), .u16(var target)):
            part.blend(into: &target, coverage)
            originals = .u16(target)
        case (.f32(let part), .f32(var target)):
            part.blend(into: &target, coverage)
            originals = .f32(target)
        default: preconditionFailure("a filter keeps the sample format")
        }
    }
}

extension Raster {
    @inline(__always) fileprivate func blend(into originals: inout Raster<Sample>, _ coverage: MaskCoverage) {
        let channels = layout.channels
        var shares = [Double](repeating: 0, count: rect.width)
        for y in rect.rows {
            coverage.fill(&shares, y: y)
            let (from, to) = (index(x: rect.x, y: y), originals.index(x: rect.x, y: y))
            samples.withRow { filtered in
                originals.samples.withMutableRow { target in
                    let (filtered, target) = (filtered + from, target + to)
                    precondition(filtered.count >= rect.width * channels && target.count >= rect.width * channels)
                    for (pixel, share) in shares.enumerated() where share > 0 {
                        for sample in pixel * channels..<(pixel + 1) * channels {
                            let new = filtered[unchecked: sample]
                            target[unchecked: sample] =
                                share == 1
                                ? new
                                : Sample(
                                    rounding: target[unchecked: sample].double * (1 - share) + new.double * share)
                        }
                    }
                }
            }
        }
    }
}

/// Writes rows within a mask. Completely covered pixels are written as they are. Partly covered pixels are blended with the
/// original in the filter's own working values. Uncovered pixels are not written.
package struct MaskedWriter: WorkingRowSink {
    private let coverage: MaskCoverage
    private let original: PixelReader
    private var writer: PixelWriter
    /// The coverage of the latest row. Kernels may write a row in parts.
    private var shares: [Double]
    private var sharesRow: Int?

    /// - Parameters:
    ///   - raster: a raster that contains the originals already (see ``KernelSource/copyPixels(to:)``); it is consumed.
    ///   - original: the filter's input, whose tables cover the written area.
    package init(_ raster: consuming AnyRaster, mask: Mask, original: PixelReader) {
        let coverage = mask.coverage(of: mask.bounds(in: raster.rect))
        self.init(raster, coverage, original: original)
    }

    /// - Parameter coverage: contains all pixels that will be written.
    init(_ raster: consuming AnyRaster, _ coverage: MaskCoverage, original: PixelReader) {
        self.coverage = coverage
        shares = [Double](repeating: 0, count: coverage.area.width)
        self.original = original
        writer = PixelWriter(raster, like: original)
    }

    package var raster: AnyRaster { writer.raster }

    package mutating func write(_ row: Span<Double>, x: Int, y: Int) {
        let channels = writer.layout.channels
        if sharesRow != y {
            coverage.fill(&shares, y: y)
            sharesRow = y
        }
        let coverage = Array(shares[(x..<x + row.count / channels).moved(by: -coverage.area.x)])
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
