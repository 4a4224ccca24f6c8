import Catalogs
import Filters
import Foundation
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// `shadows-highlights` and `clarity` against their formulas in float64.
struct LocalToneFilterTests {
    private static let rect = PixelRect(x: 3, y: -5, width: 41, height: 33)

    /// The blurred luma around each pixel, by a Gaussian in float64; nil where nothing is visible.
    private static func surroundings(_ picture: AnyRaster, radius: Double) -> [Double?] {
        let samples = picture.doubles.map { $0 / picture.format.full }
        let (channels, colors) = (picture.layout.channels, picture.layout.removingAlpha.channels)
        let hasAlpha = channels > colors
        let lumas = stride(from: 0, to: samples.count, by: channels).flatMap { pixel -> [Float] in
            let luma =
                colors == 1
                ? samples[pixel]
                : 0.2126 * samples[pixel] + 0.7152 * samples[pixel + 1] + 0.0722 * samples[pixel + 2]
            return hasAlpha ? [Float(luma), Float(samples[pixel + colors])] : [Float(luma)]
        }
        let gray = AnyRaster.f32(Raster(rect: picture.rect, layout: hasAlpha ? .grayAlpha : .gray, samples: lumas))
        let blurred = TruePixels(gray, light: .encoded).gaussian(
            sigmaX: radius, sigmaY: radius, edge: .clamp, output: picture.rect
        ).values
        guard hasAlpha else { return blurred }
        return stride(from: 0, to: blurred.count, by: 2).map { index in
            blurred[index + 1] == 0 ? nil : blurred[index] / blurred[index + 1]
        }
    }

    /// - Parameter truth: from straight colours, their luma and that of the surroundings.
    private func check(
        _ name: String, _ values: [String: ParameterValue], radius: Double, _ layout: PixelLayout,
        _ format: SampleFormat, _ truth: ([Double], Double, Double) -> [Double]
    ) throws {
        let filter = try FilterRegistry.builtIn.make(name, values.merging(["radius": .number(radius)]) { $1 })
        for pattern in [Pattern.photograph, .steps] {
            let picture = pattern.picture(Self.rect, layout, format)
            let result = try filter.render(picture)
            let around = Self.surroundings(picture, radius: radius)
            let (before, after) = (picture.doubles.map { $0 / format.full }, result.doubles.map { $0 / format.full })
            let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
            var worst = 0.0
            for pixel in 0..<Self.rect.area {
                let start = pixel * channels
                let color = Array(before[start..<start + colors])
                if channels > colors {
                    #expect(after[start + colors] == before[start + colors])
                    if before[start + colors] == 0 {
                        #expect(after[start..<start + colors].allSatisfy { $0 == 0 })
                        continue
                    }
                }
                let luma = colors == 1 ? color[0] : 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
                for (channel, value) in truth(color, luma, around[pixel] ?? luma).enumerated() {
                    let wanted = format == .f32 ? value : min(max(value, 0), 1)
                    worst = max(worst, abs(after[start + channel] - wanted))
                }
            }
            #expect(worst * format.full <= (format == .u8 ? 1 : format == .u16 ? 60 : 1e-3), "\(pattern) \(layout)")
        }
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `shadows and highlights are a power that their surroundings choose`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        for (shadows, highlights) in [(100.0, 0.0), (50, -80), (-40, 30)] {
            try check(
                "shadows-highlights", ["shadows": .number(shadows), "highlights": .number(highlights)], radius: 4,
                layout, format
            ) { color, _, around in
                let stops = shadows / 100 * max(0, 1 - 2 * around) + highlights / 100 * max(0, 2 * around - 1)
                return color.map { $0 > 0 ? pow($0, pow(2, -stops)) : $0 }
            }
        }
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `clarity adds the difference from the surroundings, most in the middle`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        for amount in [80.0, -60] {
            try check("clarity", ["amount": .number(amount)], radius: 3, layout, format) { color, luma, around in
                color.map { $0 + amount / 100 * max(0, 4 * luma * (1 - luma)) * (luma - around) }
            }
        }
    }

    @Test(arguments: ["shadows-highlights", "clarity"], SampleFormat.allCases)
    func `one colour stays one colour under any alpha, and clarity leaves it`(
        name: String, format: SampleFormat
    ) throws {
        let filter = try FilterRegistry.builtIn.make(name, ["radius": .number(3)])
        var random = SplitMix64(seed: 8)
        let level = (0.2 * format.full).rounded(format == .f32 ? .toNearestOrEven : .down)
        let samples = (0..<Self.rect.area).flatMap { _ -> [Double] in
            let alpha = (Double(random.next() % 5) / 4 * format.full).rounded(format == .f32 ? .toNearestOrEven : .down)
            return alpha == 0 ? [0, 0, 0, 0] : [level, level, level, alpha]
        }
        let picture: AnyRaster =
            switch format {
            case .u8: .u8(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { UInt8($0) }))
            case .u16: .u16(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { UInt16($0) }))
            case .f32: .f32(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { Float($0) }))
            }
        let result = try filter.render(picture).doubles
        let visible = stride(from: 0, to: result.count, by: 4).filter { result[$0 + 3] > 0 }.map { result[$0] }
        let spread = (visible.max() ?? 0) - (visible.min() ?? 0)
        #expect(spread <= (format == .f32 ? 1e-5 : format == .u16 ? 8 : 1))
        if name == "clarity" { #expect(visible.allSatisfy { abs($0 - level) <= (format == .f32 ? 1e-5 : 1) }) }
    }

    @Test(arguments: ["shadows-highlights", "clarity"])
    func `a pixel alone in a transparent picture is its own surroundings`(name: String) throws {
        var samples = [UInt8](repeating: 0, count: Self.rect.area * 4)
        samples.replaceSubrange(4 * 600..<4 * 601, with: [128, 128, 128, 255])
        let picture = AnyRaster.u8(Raster(rect: Self.rect, layout: .rgba, samples: samples))
        let filter = try FilterRegistry.builtIn.make(name, ["radius": .number(130)])
        let result = try filter.render(picture).doubles
        #expect(abs(result[4 * 600] - 128) <= 1 && result[4 * 600 + 3] == 255)
    }

    @Test(arguments: ["shadows-highlights", "clarity"])
    func `floats of any value crash nothing, and damage only what reads them`(name: String) throws {
        let rect = PixelRect(x: 0, y: 0, width: 60, height: 1)
        var samples = [Float](repeating: 0.25, count: 180)
        samples.replaceSubrange(0..<9, with: [.nan, 0.5, 0.5, .infinity, 0.5, 2, -.infinity, -3, 1e30])
        let filter = try FilterRegistry.builtIn.make(name, ["radius": .number(1)])
        let result = try filter.render(.f32(Raster(rect: rect, layout: .rgb, samples: samples))).doubles
        #expect(result[90...].allSatisfy { $0.isFinite })
    }

    @Test func `nothing is changed by nothing`() throws {
        let shadows = try FilterRegistry.builtIn.make("shadows-highlights", ["shadows": .number(0)])
        #expect(shadows.isIdentity)
        #expect(try FilterRegistry.builtIn.make("clarity", ["amount": .number(0)]).isIdentity)
    }
}
