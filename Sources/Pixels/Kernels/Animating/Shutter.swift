import Catalogs
import Geometry
package import Raster

/// A picture that moves while a shutter is open: the mean of it at all places on its way.
package struct Shutter: Sendable {
    private let picture: AnyRaster
    private let taps: [SparseTaps.Tap]
    /// Where the picture's own corner would go at no offset.
    private let origin: (x: Int, y: Int)

    /// Places are no further apart than this, in pixels: the mean of bilinear samples is then within a thousandth of the
    /// range of the integral.
    private static let step = 0.125
    private static let most = 8192

    /// - Parameters:
    ///   - picture: its rectangle begins at 0, 0.
    ///   - times: while the shutter is open.
    ///   - place: of the picture's corner at each time.
    package init(_ picture: AnyRaster, times: ClosedRange<Double>, place: (Double) -> Route.Point) {
        self.picture = picture
        let places = Self.places(times, place)
        let corner = (x: places.map(\.x).min() ?? 0, y: places.map(\.y).min() ?? 0)
        origin = (Int(corner.x.rounded(.down)), Int(corner.y.rounded(.down)))
        var taps = TapAccumulator()
        for point in places {
            let (x, y) = (point.x - Double(origin.x), point.y - Double(origin.y))
            let cell = (x: Int(x.rounded(.down)), y: Int(y.rounded(.down)))
            let bilinear = BilinearCell(fractionX: x - Double(cell.x), fractionY: y - Double(cell.y))
            taps.add(bilinear, at: cell, times: 1 / Double(places.count))
        }
        self.taps = taps.result.taps.filter { $0.weight > 0 }
    }

    /// At the middles of short times, all of one length.
    private static func places(_ times: ClosedRange<Double>, _ place: (Double) -> Route.Point) -> [Route.Point] {
        func places(_ count: Int) -> [Route.Point] {
            let part = (times.upperBound - times.lowerBound) / Double(count)
            return (0..<count).map { place(times.lowerBound + (Double($0) + 0.5) * part) }
        }
        let rough = places(64)
        let way = zip(rough, rough.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) } * 64 / 63
        return places(min(max(64, Int(way / step) + 1), most))
    }

    /// The mean, in single precision with alpha, and where its first corner goes.
    package var mean: (picture: AnyRaster, x: Int, y: Int) {
        let layout = picture.layout.addingAlpha
        let reach = (x: taps.map(\.dx).max() ?? 0, y: taps.map(\.dy).max() ?? 0)
        let rect = PixelRect(x: 0, y: 0, width: picture.rect.width + reach.x, height: picture.rect.height + reach.y)
        var sink = PixelWriter(AnyRaster(zeroed: rect, layout: layout, format: .f32), light: .encoded)
        let rows = stored(layout)
        let byRow = Dictionary(grouping: taps) { $0.dy }
        for y in rect.rows {
            var sums = [Double](repeating: 0, count: rect.width * layout.channels)
            for dy in byRow.keys.sorted() where picture.rect.rows.contains(y - dy) {
                for tap in byRow[dy] ?? [] { add(rows[y - dy], tap, layout.channels, to: &sums) }
            }
            sink.write(sums.span, x: 0, y: y)
        }
        return (sink.raster, origin.x, origin.y)
    }

    private func add(_ row: [Double], _ tap: SparseTaps.Tap, _ channels: Int, to sums: inout [Double]) {
        let start = tap.dx * channels
        for index in row.indices { sums[start + index] += row[index] * tap.weight }
    }

    /// All rows, premultiplied, for 1 as full intensity.
    private func stored(_ layout: PixelLayout) -> [[Double]] {
        let reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        let full = picture.format.full
        return picture.rect.rows.map { y in
            var row = [Double](repeating: 0, count: picture.rect.width * layout.channels)
            var span = row.mutableSpan
            reader.read(columns: picture.rect.columns, atPosition: y, into: &span)
            return row.map { $0 / full }
        }
    }
}
