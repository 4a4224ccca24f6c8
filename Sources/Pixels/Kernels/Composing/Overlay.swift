package import Catalogs
import Geometry
package import Raster

/// Pictures in front of another picture, at any fraction of a pixel: source-over (Porter and Duff, 1984), with the blend modes of the W3C.
package struct Overlay: Sendable {
    /// One of the front pictures, and its position.
    package struct Front: Sendable {
        fileprivate let picture: AnyRaster
        fileprivate let opacity: Double
        fileprivate let mode: BlendMode
        /// The distances at which the picture repeats; nil for a single one.
        fileprivate let period: (x: Int, y: Int)?
        /// The shift from the picture's own position to its target: whole pixels, and a rest with 0 ≤ rest < 1.
        fileprivate let shift: (x: Int, y: Int)
        fileprivate let rest: (x: Double, y: Double)

        /// - Parameters:
        ///   - picture: its rectangle begins at 0, 0.
        ///   - x, y: the target of its first corner. Positions between pixels are interpolated linearly.
        ///   - opacity: 0–1.
        package init(_ picture: AnyRaster, x: Double, y: Double, opacity: Double = 1, mode: BlendMode = .normal) {
            self.picture = picture
            self.opacity = opacity
            self.mode = mode
            period = nil
            shift = (Int(x.rounded(.down)), Int(y.rounded(.down)))
            rest = (x - x.rounded(.down), y - y.rounded(.down))
        }

        /// A picture that is repeated in all directions.
        ///
        /// - Parameters:
        ///   - x, y: the place of one of its copies.
        ///   - period: the distances of the copies, at least the picture's size and one pixel.
        package init(
            _ picture: AnyRaster, x: Int, y: Int, repeatedBy period: (x: Int, y: Int), opacity: Double, mode: BlendMode
        ) {
            precondition(
                period.x >= max(1, picture.rect.width) && period.y >= max(1, picture.rect.height),
                "copies do not overlap")
            (self.picture, self.opacity, self.mode, self.period) = (picture, opacity, mode, period)
            (shift, rest) = ((x, y), (0, 0))
        }

        /// The pixels of `area` that the picture may change.
        fileprivate func bounds(in area: PixelRect) -> PixelRect {
            guard opacity > 0, !picture.rect.isEmpty else { return .empty }
            if period != nil { return area }
            return PixelRect(
                x: shift.x, y: shift.y, width: picture.rect.width + (rest.x > 0 ? 1 : 0),
                height: picture.rect.height + (rest.y > 0 ? 1 : 0)
            ).intersection(area)
        }
    }

    private let fronts: [Front]

    /// - Parameter fronts: the front pictures, the lowest first. The result of all of them is rounded once.
    package init(_ fronts: [Front]) { self.fronts = fronts }

    /// The output's layout: a gray picture becomes a colour picture if a front picture has colours.
    package static func layout(of behind: PixelLayout, under front: PixelLayout) -> PixelLayout {
        guard behind.removingAlpha == .gray, front.removingAlpha != .gray else { return behind }
        return behind.hasAlpha ? .rgba : .rgb
    }

    /// Writes every pixel of `destination`. Pixels that no front picture touches keep their bytes.
    ///
    /// - Precondition: the source's tables cover the destination.
    package func render(_ source: KernelSource, into destination: inout AnyRaster) {
        let isTurningToColors = source.raster.layout.removingAlpha != destination.layout.removingAlpha
        if !isTurningToColors { source.copyPixels(to: &destination) }
        let shown = fronts.filter { !$0.bounds(in: destination.rect).isEmpty }
        let touched = shown.reduce(PixelRect.empty) { $0.union($1.bounds(in: destination.rect)) }
        let changed = isTurningToColors ? destination.rect : touched
        guard !changed.isEmpty else { return }
        var behind = SpreadRows(source, destination.layout, changed.columns)
        var rows = shown.map(OverlaidRows.init)
        let full = source.raster.format.full
        var sink = PixelWriter(destination.take(), light: .encoded)
        for y in changed.rows {
            behind.read(y)
            var row = behind.row
            for index in rows.indices {
                rows[index].lay(row: y, columns: changed.columns, over: &row, sink.layout, full: full)
            }
            for columns in touchedColumns(of: shown, row: y, in: changed, isTurningToColors) {
                let part = columns.moved(by: -changed.x)
                let channels = sink.layout.channels
                sink.write(
                    row.span.extracting(part.lowerBound * channels..<part.upperBound * channels),
                    x: columns.lowerBound, y: y)
            }
        }
        destination = sink.raster
    }
}

extension Overlay {
    /// The columns to be written, from the left. Pixels that no picture touches keep their bytes, whatever part is rendered.
    private func touchedColumns(
        of fronts: [Front], row y: Int, in changed: PixelRect, _ isTurningToColors: Bool
    ) -> [Range<Int>] {
        guard !isTurningToColors else { return [changed.columns] }
        let touched = fronts.flatMap { $0.columns(ofRow: y, in: changed) }.sorted { $0.lowerBound < $1.lowerBound }
        return touched.reduce(into: []) { merged, columns in
            if let last = merged.last, columns.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, columns.upperBound)
            } else {
                merged.append(columns)
            }
        }
    }
}

extension Overlay.Front {
    /// The columns of row `y` that the picture may change.
    fileprivate func columns(ofRow y: Int, in area: PixelRect) -> [Range<Int>] {
        guard let period else {
            let bounds = bounds(in: area)
            return bounds.rows.contains(y) ? [bounds.columns] : []
        }
        guard (y - shift.y).remainder(by: period.y) < picture.rect.height else { return [] }
        let first = area.x - (area.x - shift.x).remainder(by: period.x)
        return stride(from: first, to: area.right, by: period.x).map {
            ($0..<$0 + picture.rect.width).clamped(to: area.columns)
        }.filter { !$0.isEmpty }
    }
}

extension Int {
    /// 0 ≤ remainder < divisor.
    fileprivate func remainder(by divisor: Int) -> Int {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}

/// The rows of a front picture at its target position.
private struct OverlaidRows {
    private let reader: PixelReader
    private let layout: PixelLayout
    private let shift: (x: Int, y: Int)
    private let rest: (x: Double, y: Double)
    private let scale: Double
    private let mode: BlendMode
    private let period: (x: Int, y: Int)?
    private let full: Double
    private let rect: PixelRect
    private var upper: [Double]
    private var lower: [Double]
    /// The row of the picture whose values they hold.
    private var readRow: Int?

    init(_ front: Overlay.Front) {
        let picture = front.picture
        layout = picture.layout.addingAlpha
        reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        (shift, rest, scale) = (front.shift, front.rest, front.opacity)
        (mode, period) = (front.mode, front.period)
        full = picture.format.full
        rect = picture.rect
        upper = [Double](repeating: 0, count: (rect.width + 2) * layout.channels)
        lower = upper
    }

    /// Lays the picture's row at `y` over the working values of `columns`.
    mutating func lay(row y: Int, columns: Range<Int>, over row: inout [Double], _ target: PixelLayout, full: Double) {
        guard let period else { return layOne(row: y, columns: columns, at: shift, over: &row, target, full: full) }
        let copy = y - (y - shift.y).remainder(by: period.y)
        let first = columns.lowerBound - (columns.lowerBound - shift.x).remainder(by: period.x)
        for x in stride(from: first, to: columns.upperBound, by: period.x) {
            layOne(row: y, columns: columns, at: (x, copy), over: &row, target, full: full)
        }
    }

    private mutating func layOne(
        row y: Int, columns: Range<Int>, at shift: (x: Int, y: Int), over row: inout [Double], _ target: PixelLayout,
        full: Double
    ) {
        guard (0...rect.height).contains(y - shift.y) else { return }
        let covered = columns.clamped(to: shift.x..<shift.x + rect.width + 1)
        guard !covered.isEmpty else { return }
        if readRow != y - shift.y {
            read(y - shift.y - 1, rest.y, into: &upper)
            read(y - shift.y, 1 - rest.y, into: &lower)
            readRow = y - shift.y
        }
        let channels = layout.channels
        for x in covered {
            // A position between two pixels: the pixel before it weighs `rest`, the pixel at it weighs the remainder.
            let location = (x - shift.x + 1) * channels
            var pixel = (0.0, 0.0, 0.0, 0.0)
            func value(_ channel: Int) -> Double {
                let before = upper[location - channels + channel] + lower[location - channels + channel]
                let here = upper[location + channel] + lower[location + channel]
                return (before * rest.x + here * (1 - rest.x)) * scale / self.full * full
            }
            let alpha = value(channels - 1)
            let isGray = channels == 2
            pixel = (value(0), value(isGray ? 0 : 1), value(isGray ? 0 : 2), alpha)
            lay(pixel, over: &row, at: (x - columns.lowerBound) * target.channels, target, full)
        }
    }

    private func lay(
        _ pixel: (Double, Double, Double, Double), over row: inout [Double], at start: Int, _ target: PixelLayout,
        _ full: Double
    ) {
        guard mode == .normal else { return blend(pixel, over: &row, at: start, target, full) }
        let behind = 1 - pixel.3 / full
        if target.removingAlpha == .gray {
            let luma = 0.2126 * pixel.0 + 0.7152 * pixel.1 + 0.0722 * pixel.2
            row[start] = luma + row[start] * behind
        } else {
            row[start] = pixel.0 + row[start] * behind
            row[start + 1] = pixel.1 + row[start + 1] * behind
            row[start + 2] = pixel.2 + row[start + 2] * behind
        }
        if target.hasAlpha { row[start + target.channels - 1] = pixel.3 + row[start + target.channels - 1] * behind }
    }

    /// αs·(1 − αb)·Cs + αb·(1 − αs)·Cb + αs·αb·B(Cb, Cs). Colours beyond 0–1 count as the nearest of these for B.
    private func blend(
        _ pixel: (Double, Double, Double, Double), over row: inout [Double], at start: Int, _ target: PixelLayout,
        _ full: Double
    ) {
        let isGray = target.removingAlpha == .gray
        let alphaIndex = start + target.channels - 1
        let (own, behind) = (pixel.3 / full, target.hasAlpha ? row[alphaIndex] / full : 1)
        guard own > 0 else { return }
        let front = BlendMode.Color(pixel.0, pixel.1, pixel.2) / full
        let back = BlendMode.Color(row[start], row[isGray ? start : start + 1], row[isGray ? start : start + 2]) / full
        var result = front * (1 - behind) + back * (1 - own)
        if behind > 0 {
            let zero = BlendMode.Color(repeating: 0), one = BlendMode.Color(repeating: 1)
            let mixed = mode.blended(
                (front / own).clamped(lowerBound: zero, upperBound: one),
                over: (back / behind).clamped(lowerBound: zero, upperBound: one))
            result += mixed * (own * behind)
        }
        for channel in 0..<(isGray ? 1 : 3) { row[start + channel] = result[channel] * full }
        if target.hasAlpha { row[alphaIndex] = (own + behind * (1 - own)) * full }
    }

    /// A row of the picture times `weight`, with a transparent pixel before and after it.
    private func read(_ position: Int, _ weight: Double, into values: inout [Double]) {
        let channels = layout.channels
        for index in values.indices { values[index] = 0 }
        guard rect.rows.contains(position), weight > 0 else { return }
        var row = [Double](repeating: 0, count: rect.width * channels)
        var span = row.mutableSpan
        reader.read(columns: rect.columns, atPosition: position, into: &span)
        for index in row.indices { values[channels + index] = row[index] * weight }
    }
}

/// Rows of working values in a layout that has the source's colours, or three colours for a gray source, and alpha if
/// requested.
struct SpreadRows {
    /// The row that was read last.
    private(set) var row: [Double]
    private let reader: PixelReader
    private let columns: Range<Int>
    private let layout: PixelLayout
    private var stored: [Double]

    init(_ source: KernelSource, _ layout: PixelLayout, _ columns: Range<Int>) {
        let own = layout.hasAlpha ? source.raster.layout.addingAlpha : source.raster.layout
        reader = PixelReader(source, layout: own, light: .encoded)
        self.layout = layout
        self.columns = columns
        stored = [Double](repeating: 0, count: columns.count * own.channels)
        row = [Double](repeating: 0, count: columns.count * layout.channels)
    }

    /// Reads the source's row at a coordinate.
    mutating func read(_ y: Int) {
        guard reader.layout != layout else { return read(y, into: &row) }
        read(y, into: &stored)
        let (from, to) = (reader.layout.channels, layout.channels)
        for pixel in 0..<columns.count {
            for color in 0..<layout.removingAlpha.channels { row[pixel * to + color] = stored[pixel * from] }
            if layout.hasAlpha { row[pixel * to + to - 1] = stored[pixel * from + from - 1] }
        }
    }

    private func read(_ y: Int, into values: inout [Double]) {
        let position = reader.source.rows[y]
        guard position >= 0 else {
            for index in values.indices { values[index] = 0 }
            return
        }
        var span = values.mutableSpan
        reader.read(columns: columns, atPosition: position, into: &span)
    }
}
