import Catalogs
import Filters
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

struct ColorAdjustTests {
    private let rect = PixelRect(x: 2, y: -4, width: 37, height: 29)

    private func filter(_ values: [String: Double]) throws -> any Filter {
        try Shipped.filter("color-adjust", values.mapValues { .number($0) })
    }

    /// The filter in the functions of the C library.
    private func truth(_ values: [String: Double], isGray: Bool) -> TruePixel {
        func value(_ name: String) -> Double { (values[name] ?? 0) / 100 }
        let stops = [value("temperature"), -value("tint"), -value("temperature")].map { pow(2, $0 / 2) }
        let light = zip([0.2126, 0.7152, 0.0722], stops).reduce(0) { $0 + $1.0 * $1.1 }
        let gains = stops.map { pow(2, values["exposure"] ?? 0) * (isGray ? 1 : $0 / light) }
        let offsets = ["shadows", "darks", "midtones", "lights", "highlights"].map { value($0) }
        let points = trueRising(offsets)
        return { colors, _, _ in
            let tones = zip(colors, gains).map { color, gain in
                let exposed = trueEncoded(trueLinear(color) * gain)
                return trueCurve(points, (exposed - 0.5) * (1 + value("contrast")) + 0.5)
            }
            let gray = tones[0] * 0.2126 + tones[1] * 0.7152 + tones[2] * 0.0722
            return isGray ? tones : tones.map { gray + ($0 - gray) * (1 + value("saturation")) }
        }
    }

    private static let settings: [[String: Double]] = [
        ["exposure": 1.5], ["exposure": -3], ["contrast": 60], ["contrast": -100], ["saturation": 80],
        ["saturation": -100], ["temperature": 70, "tint": -40], ["midtones": 20, "shadows": 5],
        ["shadows": 100, "darks": -20, "lights": 40, "highlights": -60],
        ["exposure": 1, "contrast": 90, "shadows": 20, "highlights": -20],
        [
            "exposure": 0.4, "temperature": -25, "tint": 10, "contrast": 15, "saturation": 30, "darks": -4, "lights": 6,
        ],
    ]

    @Test(arguments: settings.indices, SampleFormat.allCases)
    func `it is within rounding of float64`(index: Int, format: SampleFormat) throws {
        let values = Self.settings[index]
        let filter = try filter(values)
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(rect, layout, format)
            let truth = truth(values, isGray: layout.removingAlpha == .gray)
            let error = worstError(try filter.render(picture), of: picture, truth)
            #expect(error <= (format == .f32 ? 1e-5 : format.roundingError), "\(values) \(layout)")
        }
    }

    @Test func `floats beyond 0…1 go on along the same functions`() throws {
        let values = Self.settings[10]
        var samples: [Float] = []
        for step in 0..<300 { samples.append(Float(step) / 30 - 3) }
        let raster = Raster(rect: PixelRect(x: 0, y: 0, width: 100, height: 1), layout: .rgb, samples: samples)
        let error = worstError(
            try filter(values).render(.f32(raster)), of: .f32(raster), truth(values, isGray: false))
        #expect(error <= 2e-5)
    }

    @Test func `what contrast drives beyond black and white, shadows and highlights bring back`() throws {
        let ramp = PixelRect(x: 0, y: 0, width: 256, height: 1)
        let picture = AnyRaster.u8(Raster(rect: ramp, layout: .gray, samples: (0..<256).map { UInt8($0) }))
        let clipped = try filter(["contrast": 100]).render(picture).doubles
        #expect(clipped[0...60].allSatisfy { $0 == 0 } && clipped[195...].allSatisfy { $0 == 255 })
        let result = try filter(["contrast": 100, "shadows": 24, "highlights": -24]).render(picture).doubles
        for range in [30..<60, 195..<225] {
            #expect(Set(result[range]).count > 1 && result[range].allSatisfy { $0 > 0 && $0 < 255 }, "\(result[range])")
        }
    }

    @Test func `no tone becomes darker than one that was darker, whatever the curve's values are`() throws {
        let ramp = PixelRect(x: 0, y: 0, width: 512, height: 1)
        let picture = AnyRaster.f32(
            Raster(rect: ramp, layout: .gray, samples: (0..<512).map { Float($0) / 400 - 0.1 }))
        let names = ["shadows", "darks", "midtones", "lights", "highlights"]
        let steps: [Double] = [-100, -40, 0, 7, 100]
        var worst = Double.infinity
        for number in 0..<3125 {
            var (rest, values) = (number, ["contrast": [-60.0, 0, 100][number % 3]])
            for name in names {
                values[name] = steps[rest % 5]
                rest /= 5
            }
            let result = try filter(values).render(picture).doubles
            for (before, after) in zip(result, result.dropFirst()) { worst = min(worst, after - before) }
        }
        #expect(worst >= -2e-6)  // Of single precision, at heights of up to 10.
    }

    @Test func `a point that is moved far pushes its neighbours on`() throws {
        let picture = AnyRaster.f32(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: 5, height: 1), layout: .gray, samples: [0, 0.25, 0.5, 0.75, 1]))
        let result = try filter(["midtones": 40]).render(picture).doubles
        for (value, wanted) in zip(result, [0, 0.25, 0.9, 0.92, 1]) { #expect(abs(value - wanted) < 0.001) }
    }

    @Test func `a stop is twice the light`() throws {
        let flat = AnyRaster.f32(Raster(rect: rect, layout: .gray, repeating: 0.3))
        let result = try filter(["exposure": 1]).render(flat).doubles[0]
        #expect(abs(trueLinear(result) / trueLinear(Double(Float(0.3))) - 2) <= 1e-5)
    }

    @Test func `without saturation all colours are gray, and gray ones stay as they are`() throws {
        let result = try filter(["saturation": -100]).render(Pattern.noise.picture(rect)).doubles
        for pixel in 0..<rect.area { #expect(Set(result[pixel * 3..<pixel * 3 + 3]).count == 1) }
        let gray = AnyRaster.u16(Raster(rect: rect, layout: .rgb, repeating: 12345))
        #expect(try filter(["saturation": 70]).render(gray) == gray)
    }

    @Test func `white balance leaves gray pictures alone, and gray its luminance in light`() throws {
        let values = ["temperature": 60.0, "tint": 30.0]
        let gray = Pattern.noise.picture(rect, .gray, .u16)
        #expect(try filter(values).render(gray) == gray)
        let flat = AnyRaster.f32(Raster(rect: rect, layout: .rgb, repeating: 0.5))
        let result = try filter(values).render(flat).doubles.prefix(3).map(trueLinear)
        #expect(result[0] > result[2])
        #expect(abs(result[0] * 0.2126 + result[1] * 0.7152 + result[2] * 0.0722 - trueLinear(0.5)) <= 1e-5)
    }

    @Test func `a curve of rising points never falls`() throws {
        let ramp = (0..<65536).map { UInt16($0) }
        let picture = AnyRaster.u16(
            Raster(rect: PixelRect(x: 0, y: 0, width: 256, height: 256), layout: .gray, samples: ramp))
        let result = try filter(["darks": -24, "midtones": 20, "lights": -3]).render(picture).doubles
        for (before, after) in zip(result, result.dropFirst()) { #expect(before <= after) }
        #expect(result[0] == 0 && result[65535] == 65535)
    }
}

/// PCHIP through points at equal distances over 0…1, as Bézier pieces (de Casteljau).
/// The heights of the curve's points: those wanted, as near as they can be (by least squares, each weighing what it was
/// moved by, and a thousandth) where each lies 0.02 above the one before it. The formula of minima and maxima of means.
private func trueRising(_ offsets: [Double]) -> [Double] {
    let wanted = offsets.indices.map { Double($0) / 4 + offsets[$0] - 0.02 * Double($0) }
    let weights = offsets.map { abs($0) + 0.001 }
    func mean(_ range: ClosedRange<Int>) -> Double {
        range.reduce(0) { $0 + wanted[$1] * weights[$1] } / range.reduce(0) { $0 + weights[$1] }
    }
    return offsets.indices.map { index in
        let means = (0...index).map { first in (index..<5).map { mean(first...$0) }.min() ?? 0 }
        return (means.max() ?? 0) + 0.02 * Double(index)
    }
}

private func trueCurve(_ points: [Double], _ x: Double) -> Double {
    if zip(points, points.indices).allSatisfy({ abs($0 - Double($1) / 4) < 1e-12 }) { return x }
    let rises = (0..<4).map { points[$0 + 1] - points[$0] }
    func end(_ a: Double, _ b: Double) -> Double {
        let tangent = 1.5 * a - 0.5 * b
        if (tangent > 0) != (a > 0) || a == 0 { return 0 }
        return (a > 0) != (b > 0) && abs(tangent) > 3 * abs(a) ? 3 * a : tangent
    }
    let inner = (1..<4).map { index in
        let (a, b) = (rises[index - 1], rises[index])
        return a * b <= 0 ? 0 : 2 / (1 / a + 1 / b)
    }
    let tangents = [end(rises[0], rises[1])] + inner + [end(rises[3], rises[2])]
    func slope(_ tangent: Double, _ rise: Double) -> Double { abs(tangent) > abs(rise) ? tangent : rise }
    if x < 0 { return points[0] + 4 * x * slope(tangents[0], rises[0]) }
    if x > 1 { return points[4] + 4 * (x - 1) * slope(tangents[4], rises[3]) }
    let piece = min(Int(x * 4), 3)
    var handles = [
        points[piece], points[piece] + tangents[piece] / 3, points[piece + 1] - tangents[piece + 1] / 3,
        points[piece + 1],
    ]
    let t = x * 4 - Double(piece)
    while handles.count > 1 { handles = zip(handles, handles.dropFirst()).map { $0 * (1 - t) + $1 * t } }
    return handles[0]
}
