package import Catalogs
import Geometry
package import Raster

/// Pictures in front of another picture: source-over (Porter and Duff, 1984), at any fraction of a pixel.
package struct Overlay: Sendable {
    /// One of the front pictures, and its position.
    package struct Front: Sendable {
        fileprivate let picture: AnyRaster
        fileprivate let opacity: Double
        /// The shift from the picture's own position to its target: whole pixels, and a rest with 0 ≤ rest < 1.
        fileprivate let shift: (x: Int, y: Int)
        fileprivate let rest: (x: Double, y: Double)

        /// - Parameters:
        ///   - picture: its rectangle begins at 0, 0.
        ///   - x, y: the target of its first corner. Positions between pixels are interpolated linearly.
        ///   - opacity: 0–1.
        package init(_ picture: AnyRaster, x: Double, y: Double, opacity: Double = 1) {
            self.picture = picture
            self.opacity = opacity
            shift = (Int(x.rounded(.down)), Int(y.rounded(.down)))
            rest = (x - x.rounded(.down), y - y.rounded(.down))
        }

        /// The pixels that the picture may change.
        fileprivate var bounds: PixelRect {
            guard opacity > 0 else { return .empty }
            return PixelRect(
                x: shift.x, y: shift.y, width: picture.rect.width + (rest.x > 0 ? 1 : 0),
                height: picture.rect.height + (rest.y > 0 ? 1 : 0))
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
        let bounds = fronts.map(\.bounds).filter { !$0.isEmpty }
        let touched = bounds.dropFirst().reduce(bounds.first ?? .empty) { $0.union($1) }
        let changed = isTurningToColors ? destination.rect : touched.intersection(destination.rect)
        guard !changed.isEmpty else { return }
        var behind = SpreadRows(source, destination.layout, changed.columns)
        var rows = fronts.filter { !$0.bounds.isEmpty }.map(OverlaidRows.init)
        let full = source.raster.format.full
        var sink = PixelWriter(destination.take(), light: .encoded)
        for y in changed.rows {
            behind.read(y)
            var row = behind.row
            for index in rows.indices {
                rows[index].lay(row: y, columns: changed.columns, over: &row, sink.layout, full: full)
            }
            sink.write(row.span, x: changed.x, y: y)
        }
        destination = sink.raster
    }
}

/// The rows of a front picture at its target position.
private struct OverlaidRows {
    private let reader: PixelReader
    private let layout: PixelLayout
    private let shift: (x: Int, y: Int)
    private let rest: (x: Double, y: Double)
    private let scale: Double
    private let full: Double
    private let rect: PixelRect
    private var upper: [Double]
    private var lower: [Double]

    init(_ front: Overlay.Front) {
        let picture = front.picture
        layout = picture.layout.addingAlpha
        reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        (shift, rest, scale) = (front.shift, front.rest, front.opacity)
        full = picture.format.full
        rect = picture.rect
        upper = [Double](repeating: 0, count: (rect.width + 2) * layout.channels)
        lower = upper
    }

    /// Lays the picture's row at `y` over the working values of `columns`.
    mutating func lay(row y: Int, columns: Range<Int>, over row: inout [Double], _ target: PixelLayout, full: Double) {
        guard (0...rect.height).contains(y - shift.y) else { return }
        read(y - shift.y - 1, rest.y, into: &upper)
        read(y - shift.y, 1 - rest.y, into: &lower)
        let channels = layout.channels
        let covered = columns.clamped(to: shift.x..<shift.x + rect.width + 1)
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
