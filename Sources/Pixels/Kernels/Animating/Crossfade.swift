package import Catalogs
import Geometry
package import Raster

/// A transition from one picture to another: every pixel is a weighted mean of both pictures.
package struct Crossfade: Sendable {
    /// The weight of the second picture, 0–1.
    private let share: Double

    package init(share: Double) { self.share = share }

    /// The layout that can hold the pixels of both pictures.
    package static func layout(of first: PixelLayout, and second: PixelLayout) -> PixelLayout {
        let hasColors = first.removingAlpha != .gray || second.removingAlpha != .gray
        let colors = hasColors ? PixelLayout.rgb : .gray
        return first.hasAlpha || second.hasAlpha ? colors.addingAlpha : colors
    }

    /// Writes every pixel of `destination`, whose layout can hold both pictures.
    ///
    /// - Parameters:
    ///   - first, second: sources whose tables cover the destination.
    package func render(_ first: KernelSource, _ second: KernelSource, into destination: inout AnyRaster) {
        let (rect, layout) = (destination.rect, destination.layout)
        var sink = PixelWriter(destination.take(), light: .encoded)
        var (a, b) = (SpreadRows(first, layout, rect.columns), SpreadRows(second, layout, rect.columns))
        var row = [Double](repeating: 0, count: rect.width * layout.channels)
        for y in rect.rows {
            a.read(y)
            b.read(y)
            for index in row.indices { row[index] = a.row[index] * (1 - share) + b.row[index] * share }
            sink.write(row.span, x: rect.x, y: y)
        }
        destination = sink.raster
    }
}
