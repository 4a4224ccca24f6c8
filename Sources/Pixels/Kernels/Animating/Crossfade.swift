package import Catalogs
import Geometry
package import Raster

/// A picture on its way to becoming another one: between both, the share of each in every pixel.
package struct Crossfade: Sendable {
    /// Of the second picture, 0–1.
    private let share: Double

    package init(share: Double) { self.share = share }

    /// The layout that holds both.
    package static func layout(of first: PixelLayout, and second: PixelLayout) -> PixelLayout {
        let hasColors = first.removingAlpha != .gray || second.removingAlpha != .gray
        let colors = hasColors ? PixelLayout.rgb : .gray
        return first.hasAlpha || second.hasAlpha ? colors.addingAlpha : colors
    }

    /// Writes every pixel of `destination`, whose layout is that of both pictures.
    ///
    /// - Parameters:
    ///   - first, second: the tables of both cover the destination.
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
