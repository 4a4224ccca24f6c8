import Catalogs
import Foundation
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Linear light by the curve of a picture's profile.
struct TransferCurveTests {
    /// A curve, and what it is.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let curve: ToneCurve
        let light: @Sendable (Double) -> Double
    }

    private static let table = (0...1024).map { pow(Double($0) / 1024, 1.8) }

    static let cases = [
        Case(testDescription: "ProPhoto", curve: .power(g: 1.8, c: 1 / 16, d: 1 / 32)) {
            $0 < 1 / 32 ? $0 / 16 : pow($0, 1.8)
        },
        Case(testDescription: "Adobe RGB", curve: .power(g: 563.0 / 256)) { pow($0, 563.0 / 256) },
        Case(
            testDescription: "a power with an offset",
            curve: .power(g: 2, a: 0.9, b: 0.1, c: 0.1, d: 0.1, e: 0, f: 0.01)
        ) {
            $0 < 0.1 ? 0.1 * $0 + 0.01 : pow(0.9 * $0 + 0.1, 2)
        },
        Case(testDescription: "a table", curve: .table(table)) { value in
            let (place, last) = (value * 1024, 1023)
            let index = min(Int(place), last)
            return table[index] + (table[index + 1] - table[index]) * (place - Double(index))
        },
        Case(testDescription: "sRGB", curve: .sRGB, light: trueLinear),
    ]

    @Test(arguments: cases)
    func `a curve is what its profile says, and turns back`(example: Case) {
        #expect(example.curve.rises)
        for step in 0...5000 {
            let value = Double(step) / 5000
            let light = example.curve.decode(value)
            #expect(abs(light - example.light(value)) < 1e-12)
            #expect(abs(example.curve.encode(light) - value) < 1e-9, "\(value)")
            #expect(step == 0 || example.curve.decode(-value) == -light)
        }
    }

    private func copied(_ picture: AnyRaster, _ curve: TransferCurve) -> AnyRaster {
        let reader = PixelReader(KernelSource(picture, curve: curve), layout: picture.layout, light: .linear)
        var writer = PixelWriter(
            AnyRaster(zeroed: picture.rect, layout: picture.layout, format: picture.format), like: reader)
        reader.write(picture.rect, to: &writer)
        return writer.raster
    }

    @Test(arguments: cases)
    func `every 8-bit and 16-bit value survives every curve`(example: Case) {
        let curve = TransferCurve([example.curve])
        let bytes = PixelRect(x: 0, y: 0, width: 256, height: 1)
        let words = PixelRect(x: 0, y: 0, width: 256, height: 256)
        let small = AnyRaster.u8(Raster(rect: bytes, layout: .gray, samples: Array(0...255)))
        let large = AnyRaster.u16(Raster(rect: words, layout: .gray, samples: Array(0...65535)))
        #expect(copied(small, curve) == small)
        #expect(copied(large, curve) == large)
    }

    @Test(arguments: cases)
    func `light becomes the nearest sample`(example: Case) {
        let rect = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let reader = PixelReader(
            KernelSource(AnyRaster(zeroed: rect, layout: .gray, format: .u8), curve: TransferCurve([example.curve])),
            layout: .gray, light: .linear)
        for step in 0..<4000 {
            let value = (Double(step) + 0.5) / 4000 * 255
            var writer = PixelWriter(AnyRaster(zeroed: rect, layout: .gray, format: .u8), like: reader)
            writer.write([example.light(value / 255) * 255].span, x: 0, y: 0)
            // sRGB's light goes through 16 bits.
            #expect(abs(writer.raster.doubles[0] - value) <= 0.5 + (example.curve == .sRGB ? 0.06 : 1e-9), "\(value)")
        }
    }

    @Test func `channels have curves of their own`() {
        let powers = [1.0, 1.8, 2.6]
        let curve = TransferCurve(powers.map { .power(g: $0) })
        let rect = PixelRect(x: 0, y: 0, width: 16, height: 16)
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(rect, .rgba, format)
            let read = PixelReader(KernelSource(picture, curve: curve), layout: .rgba, light: .linear).floats(in: rect)
            for (index, value) in read.samples.enumerated() where index % 4 < 3 {
                let pixel = index / 4 * 4
                let alpha = picture.doubles[pixel + 3] / format.full
                let light = pow(picture.doubles[index] / format.full, powers[index % 4]) * alpha
                #expect(abs(Double(value) - light) < 1e-6)
            }
        }
    }

    @Test(arguments: [
        ToneCurve.power(g: 0), .power(g: 2, a: -1, b: 1), .table([1, 0]), .table([0.5, 0.5]), .table([0, 1, 0.5, 1]),
        .power(g: .nan),
    ])
    func `what falls or stays is no curve to work by`(curve: ToneCurve) {
        #expect(!curve.rises)
    }
}
