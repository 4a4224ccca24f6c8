import Catalogs
import Geometry
import Raster
import TestSupport
import Testing

struct RasterTests {
    private let rect = PixelRect(x: -3, y: 5, width: 7, height: 6)

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `a crop pasted back changes nothing`(format: SampleFormat, layout: PixelLayout) {
        let picture = Pattern.noise.picture(rect, layout, format)
        let part = PixelRect(x: -1, y: 6, width: 4, height: 3)
        var copy = picture
        copy.paste(picture.cropped(to: part))
        #expect(copy == picture)
        #expect(picture.cropped(to: rect) == picture)
    }

    @Test(arguments: SampleFormat.allCases)
    func `pasting overwrites the part and nothing else`(format: SampleFormat) {
        let picture = Pattern.noise.picture(rect, .rgb, format)
        let part = PixelRect(x: 0, y: 7, width: 2, height: 2)
        var copy = picture
        copy.paste(AnyRaster(zeroed: part, layout: .rgb, format: format))
        for y in rect.rows {
            for x in rect.columns {
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                let expected = part.contains(pixel) ? [0, 0, 0] : picture.cropped(to: pixel).doubles
                #expect(copy.cropped(to: pixel).doubles == expected)
            }
        }
    }

    @Test(arguments: [SampleFormat.u8, .u16], SampleFormat.allCases)
    func `every value becomes the nearest one of another format`(from: SampleFormat, to: SampleFormat) {
        let full = from == .u8 ? 255 : 65535
        let rect = PixelRect(x: 0, y: 0, width: full + 1, height: 1)
        let values: AnyRaster =
            from == .u8
            ? .u8(Raster(rect: rect, layout: .gray, samples: (0...full).map { UInt8($0) }))
            : .u16(Raster(rect: rect, layout: .gray, samples: (0...full).map { UInt16($0) }))
        let found = values.converted(to: to).doubles
        for value in 0...full {
            let part = Double(value) / Double(full)
            let nearest =
                switch to {
                case .u8: (part * 255).rounded(.toNearestOrAwayFromZero)
                case .u16: (part * 65535).rounded(.toNearestOrAwayFromZero)
                case .f32: Double(Float(part))
                }
            #expect(found[value] == nearest)
        }
    }

    @Test(arguments: [SampleFormat.u8, .u16])
    func `floats outside of the range of integers become the ends of it`(format: SampleFormat) {
        let rect = PixelRect(x: 0, y: 0, width: 5, height: 1)
        let floats = AnyRaster.f32(Raster(rect: rect, layout: .gray, samples: [-1, .nan, 0.5, 2, .infinity]))
        let full = format == .u8 ? 255.0 : 65535
        #expect(floats.converted(to: format).doubles == [0, 0, (full / 2).rounded(), full, full])
    }

    @Test(arguments: SampleFormat.allCases)
    func `bytes make the same raster again`(format: SampleFormat) {
        let picture = Pattern.noise.picture(rect, .grayAlpha, format)
        let copy = picture.withBytes { AnyRaster(bytes: $0, rect: rect, layout: .grayAlpha, format: format) }
        #expect(copy == picture)
    }

    @Test func `an empty part has no samples`() {
        let picture = Pattern.noise.picture(rect)
        #expect(picture.cropped(to: PixelRect(x: 0, y: 5, width: 0, height: 2)).doubles.isEmpty)
    }
}

struct PixelSampleTests {
    @Test(arguments: [(-0.6, 0), (-0.5, 0), (0.49, 0), (0.5, 1), (1.5, 2), (254.49, 254), (254.5, 255), (1e300, 255)])
    func `8-bit samples round half up and clamp`(value: Double, expected: UInt8) {
        #expect(UInt8(rounding: value) == expected)
    }

    @Test(arguments: [(-1e300, 0), (0.5, 1), (65534.5, 65535), (65535.5, 65535), (.infinity, 65535)])
    func `16-bit samples round half up and clamp`(value: Double, expected: UInt16) {
        #expect(UInt16(rounding: value) == expected)
    }

    @Test func `not a number is 0 in integers, and in floats always the same bits`() {
        #expect(UInt8(rounding: .nan) == 0)
        #expect(UInt16(rounding: -.nan) == 0)
        #expect(Float(rounding: -.nan).bitPattern == Float.nan.bitPattern)
        #expect(Float(rounding: Double(nan: 5, signaling: false)).bitPattern == Float.nan.bitPattern)
    }

    @Test func `floats are not clamped`() {
        #expect(Float(rounding: -2.5) == -2.5)
        #expect(Float(rounding: 1e300) == .infinity)
    }
}

struct ConversionTests {
    @Test func `every 8-bit sample survives the way through wider formats`() {
        let all = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 256, height: 1), layout: .gray, samples: Array(0...255)))
        for format in SampleFormat.allCases {
            #expect(all.converted(to: format).converted(to: .u8) == all)
        }
    }

    @Test func `full intensity stays full`() {
        for format in SampleFormat.allCases {
            let white = AnyRaster.u16(
                Raster(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), layout: .gray, samples: [65535]))
            #expect(white.converted(to: format).doubles == [format.full])
        }
    }

    @Test func `clearing touches only colours under alpha 0`() {
        let rect = PixelRect(x: 0, y: 0, width: 3, height: 1)
        let picture = Raster<UInt8>(rect: rect, layout: .grayAlpha, samples: [9, 0, 9, 1, 9, 255])
        let cleared = AnyRaster.u8(picture).clearingTransparent()
        #expect(cleared.doubles == [0, 0, 9, 1, 9, 255])
        let opaque = AnyRaster.u8(Raster(rect: rect, layout: .gray, samples: [0, 9, 0]))
        #expect(opaque.clearingTransparent() == opaque)
    }
}
