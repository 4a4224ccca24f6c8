import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// A picture in front of another one, against source-over in float64.
struct OverlayFilterTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 33, height: 27)

    /// - Parameters:
    ///   - x, y: coordinates, as those of the picture, whose first pixel is not at 0, 0.
    private func filter(
        _ front: AnyRaster, x: Double, y: Double, opacity: Double = 100, _ limits: [String: ParameterValue] = [:]
    ) throws -> any Filter {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(front) })
        return try FilterRegistry(BuiltInFilters.all, pictures: pictures).make(
            "overlay",
            [
                "picture": .picture(PictureReference(path: "/label.png")),
                "x": .length(.pixels(x - Double(Self.rect.x))),
                "y": .length(.pixels(y - Double(Self.rect.y))), "opacity": .number(opacity),
            ].merging(limits) { $1 })
    }

    /// Colours that cannot be seen are not compared: a mask stores them as 0.
    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `within a region it is as without one, and elsewhere nothing changes`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let left = ParameterValue.region(
            Region(x: .pixels(0), y: .pixels(0), width: .pixels(12), height: .percent(100)))
        for other in [PixelLayout.gray, .grayAlpha, .rgb, .rgba] {
            let front = front(other, .u8)
            let whole = try filter(front, x: 1, y: 6, opacity: 70).render(picture)
            let none = try filter(front, x: 1, y: 6, opacity: 0).render(picture)
            let halves = [false, true].map { inverted in
                Result {
                    try filter(front, x: 1, y: 6, opacity: 70, ["within": left, "inverted": .boolean(inverted)])
                        .render(picture)
                }
            }
            for (inverted, half) in try zip([false, true], halves.map { try $0.get() }) {
                #expect(half.layout == whole.layout)
                let channels = whole.layout.channels
                let (found, covered, original) = (
                    half.doubles, whole.doubles, Self.inLayout(whole.layout, none).doubles
                )
                var worst = 0.0
                for index in found.indices {
                    let column = index / channels % Self.rect.width
                    let wanted = (column < 12) != inverted ? covered : original
                    let alpha = whole.layout.hasAlpha ? wanted[index / channels * channels + channels - 1] : 1
                    if alpha != 0 { worst = max(worst, abs(found[index] - wanted[index])) }
                }
                #expect(worst <= (format == .f32 ? 1e-5 : 1), "\(other) \(inverted)")
            }
        }
    }

    /// A gray picture with three equal channels, if colours are wanted.
    private static func inLayout(_ layout: PixelLayout, _ picture: AnyRaster) -> AnyRaster {
        guard picture.layout != layout else { return picture }
        var result = AnyRaster(zeroed: picture.rect, layout: layout, format: picture.format)
        Overlay([]).render(KernelSource(picture), into: &result)
        return result
    }

    private func front(_ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 17, height: 13), layout, format, seed: 5)
    }

    /// Source-over by definition, the front picture interpolated linearly between its pixels and nothing around them.
    private func truth(
        _ picture: AnyRaster, _ front: AnyRaster, x: Double, y: Double, opacity: Double, _ layout: PixelLayout
    ) -> TruePixels {
        let (behind, own) = (TruePixels(picture, light: .encoded), TruePixels(front, light: .encoded))
        let (full, ownFull) = (picture.format.full, front.format.full)
        func sample(_ column: Double, _ row: Double, _ channel: Int) -> Double {
            var sum = 0.0
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (px, py) = (Int(column.rounded(.down)) + dx, Int(row.rounded(.down)) + dy)
                let weight = max(0, 1 - abs(column - Double(px))) * max(0, 1 - abs(row - Double(py)))
                guard front.rect.contains(x: px, y: py) else { continue }
                let hasAlpha = front.layout.hasAlpha
                let colors = front.layout.removingAlpha.channels
                let value =
                    channel < 3
                    ? own.value(px, py, colors == 1 ? 0 : channel, .clamp)
                    : hasAlpha ? own.value(px, py, colors, .clamp) : ownFull
                sum += weight * value / ownFull * full * opacity
            }
            return sum
        }
        var values: [Double] = []
        for py in picture.rect.rows {
            for px in picture.rect.columns {
                let color = (0..<4).map { sample(Double(px) - x, Double(py) - y, $0) }
                let gray = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
                for channel in 0..<layout.channels {
                    let isAlpha = layout.hasAlpha && channel == layout.channels - 1
                    let stored = isAlpha ? behind.channels - 1 : picture.layout.channels < 3 ? 0 : channel
                    let over = isAlpha ? color[3] : layout.channels < 3 ? gray : color[channel]
                    values.append(over + behind.value(px, py, stored, .clamp) * (1 - color[3] / full))
                }
            }
        }
        return TruePixels(rect: picture.rect, channels: layout.channels, values: values)
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `every layout and format lies over every other one`(layout: PixelLayout, format: SampleFormat) throws {
        for other in PixelLayout.allCases {
            for otherFormat in SampleFormat.allCases {
                let (picture, front) = (Pattern.noise.picture(Self.rect, layout, format), front(other, otherFormat))
                for (x, y, opacity) in [(3.0, 7.0, 100.0), (-9.25, 20.5, 40)] {
                    let filter = try filter(front, x: x, y: y, opacity: opacity)
                    let truth = truth(
                        picture, front, x: x, y: y, opacity: opacity / 100, filter.outputLayout(for: layout))
                    #expect(worstError(try filter.render(picture), truth) <= format.allowedError, "\(other)")
                }
            }
        }
    }

    @Test func `a coloured picture gives a gray one colours, a gray one leaves it gray`() throws {
        #expect(try filter(front(.rgba, .u8), x: 0, y: 0).outputLayout(for: .gray) == .rgb)
        #expect(try filter(front(.rgb, .u8), x: 0, y: 0).outputLayout(for: .grayAlpha) == .rgba)
        #expect(try filter(front(.grayAlpha, .u8), x: 0, y: 0).outputLayout(for: .gray) == .gray)
    }

    @Test func `what it does not touch keeps its bytes, colours under alpha 0 included`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let result = try filter(front(.rgba, .u8), x: 10, y: 10).render(picture)
        let above = PixelRect(columns: -5..<28, rows: 3..<10)
        #expect(result.cropped(to: above).hasSameBytes(as: picture.cropped(to: above)))
    }

    @Test(arguments: [(100.0, 0.0), (-100, 0), (0, 100), (0, -100), (1e8, -1e8)])
    func `a picture beside the input changes nothing`(x: Double, y: Double) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        #expect(try filter(front(.rgba, .u8), x: x, y: y).render(picture).hasSameBytes(as: picture))
    }

    @Test func `tiles have the bytes of the whole`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
        let filter = try filter(front(.rgba, .u8), x: 4.3, y: 8.8, opacity: 70)
        let whole = try filter.render(picture)
        for tile in [PixelRect(x: 4, y: 8, width: 1, height: 1), PixelRect(x: 0, y: 3, width: 9, height: 20)] {
            #expect(try filter.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }

    @Test func `at opacity 0 nothing is done`() throws {
        #expect(try filter(front(.rgb, .u8), x: 0, y: 0, opacity: 0).isIdentity)
    }

    @Test func `white stays white and black stays black behind fronts of the same colour`() throws {
        // A rounding error of the first front would be the whole range after a burn or a dodge.
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 1)
        func picture(_ value: Float, _ alpha: (Int) -> Float) -> AnyRaster {
            .f32(Raster(rect: rect, layout: .rgba, samples: (0..<256).flatMap { [value, value, value, alpha($0)] }))
        }
        for (value, mode) in [(Float(1), BlendMode.colorBurn), (0, .colorDodge)] {
            for opacity in [1, 0.7, 0.313] {
                var result = AnyRaster.u8(
                    Raster(rect: rect, layout: .rgb, samples: Array(repeating: UInt8(value * 255), count: 256 * 3)))
                let before = result
                let fronts = [
                    Overlay.Front(picture(value) { Float($0) / 255 }, x: 0, y: 0, opacity: opacity),
                    Overlay.Front(picture(1 - value) { _ in 1 }, x: 0, y: 0, mode: mode),
                ]
                Overlay(fronts).render(KernelSource(before), into: &result)
                #expect(result == before, "\(mode) \(opacity)")
            }
        }
    }
}
