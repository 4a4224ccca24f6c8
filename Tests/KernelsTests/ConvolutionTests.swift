import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The convolutions against loops that anyone can check, on sizes that are no multiple of anything and tables that
/// repeat, skip and reverse.
struct ConvolutionTests {
    /// Keeps the working rows of an area.
    private struct RowCollector: WorkingRowSink {
        let area: PixelRect
        let channels: Int
        var values: [Double?]

        init(_ area: PixelRect, channels: Int) {
            self.area = area
            self.channels = channels
            values = Array(repeating: nil, count: area.area * channels)
        }

        mutating func write(_ row: Span<Double>, x: Int, y: Int) {
            let start = ((y - area.y) * area.width + x - area.x) * channels
            for index in row.indices {
                #expect(values[start + index] == nil, "each pixel is written once")
                values[start + index] = row[index]
            }
        }
    }

    private static let area = PixelRect(x: -5, y: 40, width: 1031, height: 13)

    /// Needed coordinates that lie anywhere in the raster, or nowhere.
    private func source(_ picture: AnyRaster, margin: Halo) -> KernelSource {
        var random = SplitMix64(seed: 99)
        func table(_ range: Range<Int>, _ count: Int) -> AxisTable {
            AxisTable(range: range, positions: range.map { _ in Int32.random(in: -1..<Int32(count), using: &random) })
        }
        let needed = Self.area.expanded(by: margin)
        return KernelSource(
            raster: picture, columns: table(needed.columns, picture.rect.width),
            rows: table(needed.rows, picture.rect.height))
    }

    private func value(_ source: KernelSource, _ samples: [Double], _ x: Int, _ y: Int, _ channel: Int) -> Double {
        let column = source.columns.positions[x - source.columns.range.lowerBound]
        let row = source.rows.positions[y - source.rows.range.lowerBound]
        guard column >= 0, row >= 0 else { return 0 }
        let rect = source.raster.rect
        return samples[(Int(row) * rect.width + Int(column)) * source.raster.layout.channels + channel]
    }

    @Test(arguments: Array(0...9), [PixelLayout.gray, .rgb])
    func `a separable convolution is the sum over rows of sums over columns`(radius: Int, layout: PixelLayout) {
        let taps = SymmetricTaps(half: (0...radius).map { 1 / Double($0 + 2) })
        let kernel = SeparableFIR(horizontal: taps, vertical: SymmetricTaps(half: taps.half.reversed()))
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 71, height: 7), layout)
        let source = source(picture, margin: kernel.halo)
        var rows = RowCollector(Self.area, channels: layout.channels)
        kernel.apply(PixelReader(source, layout: layout, light: .encoded), area: Self.area, to: &rows)
        let samples = picture.doubles
        for (index, actual) in rows.values.enumerated() where index % 13 == 0 {
            let (pixel, channel) = index.quotientAndRemainder(dividingBy: layout.channels)
            let (y, x) = pixel.quotientAndRemainder(dividingBy: Self.area.width)
            var expected = 0.0
            for dy in -radius...radius {
                for dx in -radius...radius {
                    let weight = taps.half[abs(dx)] * taps.half[radius - abs(dy)]
                    expected += weight * value(source, samples, Self.area.x + x + dx, Self.area.y + y + dy, channel)
                }
            }
            #expect(abs((actual ?? .nan) - expected) <= 1e-10 * max(1, expected))
        }
    }

    @Test(arguments: Array(1...9), [PixelLayout.gray, .rgb])
    func `a sparse convolution is the sum over its taps`(count: Int, layout: PixelLayout) {
        var random = SplitMix64(seed: UInt64(count))
        let taps = SparseTaps(
            (0..<count).map {
                SparseTaps.Tap(
                    dx: .random(in: -60...60, using: &random), dy: $0 - count / 2,
                    weight: .random(in: 0.1...1, using: &random))
            })
        let kernel = SparseFIR(taps)
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 71, height: 7), layout)
        let source = source(picture, margin: kernel.halo)
        var rows = RowCollector(Self.area, channels: layout.channels)
        kernel.apply(PixelReader(source, layout: layout, light: .encoded), area: Self.area, to: &rows)
        let samples = picture.doubles
        for (index, actual) in rows.values.enumerated() {
            let (pixel, channel) = index.quotientAndRemainder(dividingBy: layout.channels)
            let (y, x) = pixel.quotientAndRemainder(dividingBy: Self.area.width)
            let expected = taps.taps.reduce(0) {
                $0 + $1.weight
                    * value(source, samples, Self.area.x + x + $1.dx, Self.area.y + y + $1.dy, channel)
            }
            #expect(abs((actual ?? .nan) - expected) <= 1e-10 * max(1, expected))
        }
    }

    @Test func `taps of weight 0 do not widen the reach`() {
        #expect(SymmetricTaps(half: [0.5, 0.25, 0, 0]).radius == 1)
        #expect(SymmetricTaps(half: [0, 0]).radius == 0)
        let taps = SparseTaps([.init(dx: 90, dy: -90, weight: 0), .init(dx: 1, dy: 0, weight: 1)])
        #expect(taps.reachX == 1)
        #expect(taps.reachY == 0)
    }
}
