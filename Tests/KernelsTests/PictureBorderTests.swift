import Catalogs
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The border of one colour, compared with a look at each pixel.
struct PictureBorderTests {
    private func content(
        of picture: AnyRaster, _ color: BackgroundColor? = nil, tolerance: Double = 0.04, band: Int = 7
    ) -> PixelRect {
        let border = PictureBorder(
            width: picture.rect.width, height: picture.rect.height, layout: picture.layout, format: picture.format)
        for top in stride(from: 0, to: picture.rect.height, by: band) {
            let rows = top..<min(top + band, picture.rect.height)
            border.add(picture.cropped(to: PixelRect(columns: picture.rect.columns, rows: rows)))
        }
        return border.content(within: color, tolerance: tolerance)
    }

    /// The pixels of a picture, premultiplied, and rounded to samples as they are when they are compared.
    private func premultiplied(_ picture: AnyRaster) -> [[Double]] {
        let (channels, full) = (picture.layout.channels, picture.format.full)
        let samples = picture.doubles
        return (0..<picture.rect.area).map { pixel in
            let values = Array(samples[pixel * channels..<(pixel + 1) * channels])
            guard picture.layout.hasAlpha else { return values }
            let alpha = values[channels - 1]
            return values.dropLast().map { value in
                let product = value * alpha / full
                return picture.format == .f32 ? Double(Float(product)) : (product + 0.5).rounded(.down)
            } + [alpha]
        }
    }

    private func twin(_ picture: AnyRaster, near color: [Double], tolerance: Double) -> PixelRect {
        let allowed = tolerance * picture.format.full
        let pixels = premultiplied(picture)
        let width = picture.rect.width
        let others = pixels.indices.filter { index in
            zip(pixels[index], color).contains { abs($0 - $1) > allowed }
        }
        guard !others.isEmpty else { return .empty }
        let (x, y) = (others.map { $0 % width }, others.map { $0 / width })
        return PixelRect(columns: (x.min() ?? 0)..<(x.max() ?? 0) + 1, rows: (y.min() ?? 0)..<(y.max() ?? 0) + 1)
    }

    private static let layouts: [PixelLayout] = [.gray, .grayAlpha, .rgb, .rgba]

    @Test(arguments: layouts, SampleFormat.allCases)
    func `what is kept is what a look at each pixel keeps`(layout: PixelLayout, format: SampleFormat) {
        var random = SplitMix64(seed: 3)
        for seed in 0..<12 {
            let rect = PixelRect(x: 0, y: 0, width: 3 + Int(random.next() % 21), height: 2 + Int(random.next() % 19))
            // A border of nearly one colour around noise.
            let level = Double(random.next() % 100) / 100
            let noise = Pattern.noise.picture(rect, layout, format, seed: UInt64(seed))
            let part = PixelRect(
                x: Int(random.next() % UInt64(rect.width)), y: Int(random.next() % UInt64(rect.height)),
                width: 1 + Int(random.next() % 9), height: 1 + Int(random.next() % 9)
            ).intersection(rect)
            var picture = bordered(rect, layout, format, level: level, error: 0.02, &random)
            picture.paste(noise.cropped(to: part))
            let pixels = premultiplied(picture)
            let (last, bottom) = (rect.width - 1, (rect.height - 1) * rect.width)
            for tolerance in [0, 0.015, 0.05, 0.3] {
                let corners = [0, last, bottom, bottom + last].map {
                    twin(picture, near: pixels[$0], tolerance: tolerance)
                }
                let expected = corners.map(\.area).min()
                let found = content(of: picture, tolerance: tolerance, band: 1 + seed)
                #expect(corners.contains(found) && found.area == expected, "\(rect) \(part) \(tolerance)")
            }
        }
    }

    private func bordered(
        _ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat, level: Double, error: Double,
        _ random: inout SplitMix64
    ) -> AnyRaster {
        func samples<Sample: PixelSample>(_: Sample.Type) -> Raster<Sample> {
            Raster(
                rect: rect, layout: layout,
                samples: (0..<rect.area * layout.channels).map { _ in
                    Sample(rounding: (level + error * (Double(random.next() % 1000) / 500 - 1)) * Sample.full)
                })
        }
        return switch format {
        case .u8: .u8(samples(UInt8.self))
        case .u16: .u16(samples(UInt16.self))
        case .f32: .f32(samples(Float.self))
        }
    }

    private func gray(_ rows: [[UInt8]]) -> AnyRaster {
        .u8(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: rows[0].count, height: rows.count), layout: .gray,
                samples: rows.flatMap(\.self)))
    }

    @Test func `bars above and below are cut off, and dark parts at the sides are not`() {
        let film = gray([[0, 0, 0, 0], [0, 90, 0, 80], [70, 60, 50, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
        #expect(content(of: film) == PixelRect(x: 0, y: 1, width: 4, height: 2))
    }

    @Test func `a corner that belongs to the contents does not matter`() {
        let page = gray([[9, 255, 255, 255], [9, 30, 255, 255], [255, 255, 255, 255]])
        #expect(content(of: page) == PixelRect(x: 0, y: 0, width: 2, height: 2))
    }

    @Test func `a given colour is the only one that counts`() {
        let page = gray([[255, 255, 255, 255], [255, 0, 0, 255], [255, 0, 7, 255], [255, 255, 255, 255]])
        let (white, black) = (
            BackgroundColor(red: 255, green: 255, blue: 255, alpha: 255),
            BackgroundColor(red: 0, green: 0, blue: 0, alpha: 255)
        )
        #expect(content(of: page, white) == PixelRect(x: 1, y: 1, width: 2, height: 2))
        #expect(content(of: page, black) == page.rect)
    }

    @Test func `the tolerance is the largest difference of the border`() {
        let page = gray([[100, 110], [90, 111]])
        let color = BackgroundColor(red: 100, green: 100, blue: 100, alpha: 255)
        #expect(content(of: page, color, tolerance: 10.0 / 255) == PixelRect(x: 1, y: 1, width: 1, height: 1))
        #expect(content(of: page, color, tolerance: 11.0 / 255).isEmpty)
    }

    @Test func `transparent pixels are alike, whatever their colour`() {
        let glass = AnyRaster.u8(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: 4, height: 1), layout: .grayAlpha,
                samples: [200, 0, 10, 0, 10, 255, 90, 0]))
        #expect(content(of: glass) == PixelRect(x: 2, y: 0, width: 1, height: 1))
        let transparent = BackgroundColor(red: 0, green: 0, blue: 0, alpha: 0)
        #expect(content(of: glass, transparent) == PixelRect(x: 2, y: 0, width: 1, height: 1))
    }

    @Test func `a picture of one colour is nothing but border`() {
        #expect(content(of: gray([[7, 7], [7, 8]])).isEmpty)
        #expect(content(of: gray([[7]])).isEmpty)
    }

    @Test func `NaN is no border, and infinities differ from every number`() {
        func row(_ samples: [Float]) -> AnyRaster {
            .f32(
                Raster(
                    rect: PixelRect(x: 0, y: 0, width: samples.count, height: 1), layout: .gray, samples: samples))
        }
        #expect(content(of: row([0, 0, .nan, 0, 0])) == PixelRect(x: 2, y: 0, width: 1, height: 1))
        #expect(content(of: row([1, -.infinity, 1, .infinity, 1])) == PixelRect(x: 1, y: 0, width: 3, height: 1))
    }

    @Test func `all frames of an animation count`() {
        let border = PictureBorder(width: 4, height: 3, layout: .gray, format: .u8)
        border.add(gray([[0, 0, 0, 0], [0, 9, 99, 0], [0, 0, 0, 0]]))
        border.add(gray([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 88]]))
        #expect(border.content(within: nil, tolerance: 0.04) == PixelRect(x: 2, y: 1, width: 2, height: 2))
    }
}
