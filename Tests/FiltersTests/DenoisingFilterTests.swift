import Catalogs
import Filters
import Foundation
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// `non-local-means` and `guided` against their definitions in float64.
struct DenoisingFilterTests {
    private static let rect = PixelRect(x: -3, y: 2, width: 29, height: 21)
    /// More than one part of the picture, and no multiple of vectors.
    private static let large = PixelRect(x: 3, y: -8, width: 203, height: 70)

    private static func truth(_ picture: AnyRaster, _ edge: Edge, _ light: Light) -> TruePixels {
        TruePixels(picture, light: light, addsAlpha: edge == .transparent && !picture.layout.hasAlpha)
    }

    private func nonLocal(
        _ strength: Double, _ patch: Int, _ search: Int, _ picture: AnyRaster, edge: Edge = .clamp,
        light: Light = .encoded
    ) throws -> Double {
        let filter = try FilterRegistry.builtIn.make(
            "non-local-means",
            [
                "strength": .number(strength), "patch": .integer(patch), "search": .integer(search),
                "edge": .word(edge.rawValue), "light": .word(light.rawValue),
            ])
        #expect(filter.halo == Halo(horizontal: patch + search, vertical: patch + search))
        let truth = Self.truth(picture, edge, light)
            .nonLocalMeans(strength / 100 * picture.format.full, patch: patch, search: search, edge)
        return worstError(try filter.render(picture), truth, light: light)
    }

    private func guided(
        _ radius: Int, _ strength: Double, _ picture: AnyRaster, edge: Edge = .clamp, light: Light = .encoded
    ) throws -> Double {
        let filter = try FilterRegistry.builtIn.make(
            "guided",
            [
                "radius": .integer(radius), "strength": .number(strength), "edge": .word(edge.rawValue),
                "light": .word(light.rawValue),
            ])
        #expect(filter.halo == Halo(horizontal: 2 * radius, vertical: 2 * radius))
        let truth = Self.truth(picture, edge, light)
            .guided(
                radius, strength / 100 * picture.format.full, full: picture.format.full,
                hasAlpha: picture.layout.hasAlpha || edge == .transparent, edge, isCutOff: picture.format != .f32)
        return worstError(try filter.render(picture), truth, light: light)
    }

    /// Half a level is rounding.
    private func bound(_ format: SampleFormat) -> Double {
        switch format {
        case .u8: 0.6
        case .u16: 4
        case .f32: 5e-5
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `non-local means are means of pixels with similar surroundings`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        for (strength, patch, search) in [(0.1, 1, 2), (8, 0, 3), (20, 2, 1), (100, 3, 4)] {
            let picture = Pattern.photograph.picture(Self.rect, layout, format)
            #expect(try nonLocal(strength, patch, search, picture) <= bound(format), "\(strength) \(patch) \(search)")
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `the guided filter fits lines in windows`(format: SampleFormat, layout: PixelLayout) throws {
        for (radius, strength) in [(1, 0.5), (2, 10), (5, 30), (13, 100)] {
            for pattern in [Pattern.photograph, .noise] {
                let picture = pattern.picture(Self.rect, layout, format)
                #expect(try guided(radius, strength, picture) <= bound(format), "\(radius) \(strength) \(pattern)")
            }
        }
    }

    @Test(arguments: Pattern.allCases, Edge.allCases)
    func `every pattern and edge, on pictures smaller than the window too`(pattern: Pattern, edge: Edge) throws {
        for rect in [
            PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 5, y: -7, width: 6, height: 9), Self.rect,
        ] {
            for layout in [PixelLayout.rgb, .grayAlpha] {
                #expect(try nonLocal(10, 1, 3, pattern.picture(rect, layout), edge: edge) <= 0.6, "\(layout)")
                #expect(try guided(3, 12, pattern.picture(rect, layout), edge: edge) <= 0.6, "\(layout)")
            }
        }
    }

    @Test func `parts of a large picture meet without a seam`() throws {
        let picture = Pattern.photograph.picture(Self.large, .rgb, .u16)
        #expect(try nonLocal(5, 1, 1, picture) <= 4)
        let wide = Pattern.noise.picture(PixelRect(x: -2, y: 0, width: 3300, height: 6), .gray, .u16)
        #expect(try guided(2, 10, wide) <= 4)
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `strips of the guided filter do not depend on what is rendered`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let kernel = GuidedSmoothing(radius: 60, strength: 0.1)
        let picture = Pattern.photograph.picture(PixelRect(x: -7, y: 3, width: 1150, height: 9), layout, format)
        func render(_ part: PixelRect) -> AnyRaster {
            var result = AnyRaster(zeroed: part, layout: layout, format: format)
            let source = KernelSource(clamping: picture, reach: kernel.halo)
            kernel.render(source, light: .encoded, within: nil, into: &result)
            return result
        }
        let whole = render(picture.rect)
        for (x, width, rows) in [(-7, 300, 3..<12), (490, 30, 5..<6), (400, 743, 7..<12)] {
            let part = PixelRect(columns: x..<x + width, rows: rows)
            #expect(render(part) == whole.cropped(to: part))
        }
    }

    @Test func `linear light is filtered as light`() throws {
        #expect(try nonLocal(10, 1, 2, Pattern.noise.picture(Self.rect), light: .linear) <= 2.3)
        #expect(try guided(3, 10, Pattern.noise.picture(Self.rect), light: .linear) <= 2.3)
    }

    /// Two flat halves with noise of ±6 levels.
    private static let noisy: AnyRaster = {
        var random = SplitMix64(seed: 3)
        let samples = (0..<60 * 60).map { UInt8(($0 % 60 < 30 ? 60 : 190) + Int(random.next() % 13) - 6) }
        return .u8(Raster(rect: PixelRect(x: 0, y: 0, width: 60, height: 60), layout: .gray, samples: samples))
    }()

    @Test(arguments: ["non-local-means", "guided"])
    func `the noise goes, and the edge stays`(name: String) throws {
        let values: [String: ParameterValue] = ["strength": .number(name == "guided" ? 8 : 5)]
        let result = try FilterRegistry.builtIn.make(name, values).render(Self.noisy).doubles
        func deviation(_ values: [Double]) -> Double {
            // Windows with the edge in them keep the noise of both halves.
            let flat = values.enumerated().filter { abs($0.offset % 60 - 30) > 17 }
            let errors = flat.map { $0.element - ($0.offset % 60 < 30 ? 60 : 190) }
            return (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
        }
        #expect(deviation(result) < 0.45 * deviation(Self.noisy.doubles))
        let rows = stride(from: 0, to: result.count, by: 60)
        #expect(rows.allSatisfy { result[$0 + 30] - result[$0 + 29] > 95 })
    }

    @Test func `radius 0 of the guided filter is the identity`() throws {
        #expect(try FilterRegistry.builtIn.make("guided", ["radius": .integer(0)]).isIdentity)
    }

    @Test func `values out of range are refused`() {
        #expect {
            try FilterRegistry.builtIn.make("guided", ["strength": .number(0.1)])
        } throws: {
            "\($0)" == "guided: 'strength' is 0.1, but must be in 0.5…100.0"
        }
        #expect {
            try FilterRegistry.builtIn.make("non-local-means", ["search": .integer(26)])
        } throws: {
            "\($0)" == "non-local-means: 'search' is 26.0, but must be in 1.0…25.0"
        }
    }
}

extension TruePixels {
    fileprivate func nonLocalMeans(_ strength: Double, patch: Int, search: Int, _ edge: Edge) -> TruePixels {
        var result = self
        let count = Double((2 * patch + 1) * (2 * patch + 1) * channels)
        for (pixel, (y, x)) in rect.rows.flatMap({ y in rect.columns.map { (y, $0) } }).enumerated() {
            var (sums, weights) = ([Double](repeating: 0, count: channels), 0.0)
            for dy in -search...search {
                for dx in -search...search {
                    var distance = 0.0
                    for (j, i) in (-patch...patch).flatMap({ j in (-patch...patch).map { (j, $0) } }) {
                        for channel in 0..<channels {
                            let difference =
                                value(x + i, y + j, channel, edge) - value(x + dx + i, y + dy + j, channel, edge)
                            distance += difference * difference
                        }
                    }
                    let weight = exp(-distance / count / (strength * strength))
                    for channel in 0..<channels { sums[channel] += weight * value(x + dx, y + dy, channel, edge) }
                    weights += weight
                }
            }
            for channel in 0..<channels { result.values[pixel * channels + channel] = sums[channel] / weights }
        }
        return result
    }

    fileprivate func guided(
        _ radius: Int, _ strength: Double, full: Double, hasAlpha: Bool, _ edge: Edge, isCutOff: Bool
    ) -> TruePixels {
        let colors = hasAlpha ? channels - 1 : channels
        /// Alpha, luma and a channel, not multiplied.
        func values(_ x: Int, _ y: Int, _ channel: Int) -> (alpha: Double, luma: Double, value: Double) {
            let alpha = hasAlpha ? value(x, y, colors, edge) / full : 1
            guard alpha > 0 else { return (0, 0, 0) }
            let straight = (0..<colors).map { value(x, y, $0, edge) / alpha }
            let luma =
                colors == 1 ? straight[0] : 0.2126 * straight[0] + 0.7152 * straight[1] + 0.0722 * straight[2]
            return (alpha, luma, straight[channel])
        }
        struct Line {
            let weight: Double
            var a = 0.0
            var b = 0.0
        }
        var known: [[Int]: Line] = [:]
        func line(_ x: Int, _ y: Int, _ channel: Int) -> Line {
            if let line = known[[x, y, channel]] { return line }
            let inside = (y - radius...y + radius).flatMap { y in
                (x - radius...x + radius).map { values($0, y, channel) }
            }
            let total = inside.reduce(0) { $0 + $1.alpha }
            var line = Line(weight: total / Double(inside.count))
            if total > 0 {
                func mean(_ term: (Double, Double) -> Double) -> Double {
                    inside.reduce(0) { $0 + $1.alpha * term($1.luma, $1.value) } / total
                }
                let (luma, color) = (mean { luma, _ in luma }, mean { _, value in value })
                let variance = mean { value, _ in (value - luma) * (value - luma) }
                line.a = mean { ($0 - luma) * ($1 - color) } / (variance + strength * strength)
                line.b = color - line.a * luma
            }
            known[[x, y, channel]] = line
            return line
        }
        var result = self
        for (pixel, (y, x)) in rect.rows.flatMap({ y in rect.columns.map { (y, $0) } }).enumerated() {
            for channel in 0..<colors {
                let lines = (y - radius...y + radius).flatMap { y in
                    (x - radius...x + radius).map { line($0, y, channel) }
                }
                let total = lines.reduce(0) { $0 + $1.weight }
                let own = values(x, y, channel)
                let a = lines.reduce(0) { $0 + $1.weight * $1.a }
                let b = lines.reduce(0) { $0 + $1.weight * $1.b }
                let color = total > 0 ? (a * own.luma + b) / total : 0
                result.values[pixel * channels + channel] =
                    own.alpha * (isCutOff ? min(max(color, 0), full) : color)
            }
        }
        return result
    }
}
