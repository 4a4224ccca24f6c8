import Catalogs
import Filters
import Foundation
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// Projections of 8-bit pictures, whose loops use fixed point, against a slow twin and against float64.
struct WarpKernelTests {
    /// A projection, and the size of its output.
    struct Drawing: Sendable, CustomStringConvertible {
        let description: String
        let size: (width: Int, height: Int)
        let projection: @Sendable (PixelRect) -> Projection?

        /// A rotation about the middle, shown in the middle of the output.
        static func rotation(_ degrees: Double, _ width: Int, _ height: Int) -> Drawing {
            Drawing(description: "\(degrees)°, \(width) × \(height)", size: (width, height)) {
                Projection(degrees: degrees, center: (Double(width) / 2, Double(height) / 2), pivot: $0.center)
            }
        }

        /// Corners in shares of the picture.
        static func perspective(
            _ name: String, _ width: Int, _ height: Int, _ corners: [(Double, Double)]
        ) -> Drawing {
            Drawing(description: name, size: (width, height)) { rect in
                Projection(
                    rectangle: Double(width), Double(height),
                    to: corners.map {
                        (
                            Double(rect.x) + $0.0 * Double(rect.width) + 0.013,
                            Double(rect.y) + $0.1 * Double(rect.height) + 0.017
                        )
                    })
            }
        }

        var output: PixelRect { PixelRect(x: 0, y: 0, width: size.width, height: size.height) }
    }

    static let drawings: [Drawing] = [
        .rotation(0.001, 141, 67), .rotation(33, 90, 91), .rotation(89.999, 61, 150), .rotation(90, 43, 45),
        .rotation(-128.5, 133, 41), .rotation(179.99, 47, 39), .rotation(180, 46, 38), .rotation(7, 1, 1),
        .rotation(45, 3, 130), .rotation(45, 200, 2),
        .perspective("a sign from aside", 150, 70, [(0.1, 0.2), (0.9, 0.05), (0.95, 0.9), (0.05, 0.8)]),
        .perspective("corners outside of the picture", 60, 40, [(-0.4, -0.2), (1.3, -0.1), (1.1, 1.2), (-0.1, 1.4)]),
        // A pixel near the horizon shows up to 8 × 8 places.
        .perspective("up to the horizon", 40, 50, [(0.45, 0.02), (0.55, 0.02), (3, 1), (-2, 1)]),
        .perspective("a much smaller picture", 9, 7, [(0, 0), (1, 0), (1, 1), (0, 1)]),
    ]

    /// A picture with clear, translucent and opaque parts, so that blocks are drawn in all ways.
    private static func picture(_ size: (Int, Int), _ layout: PixelLayout, isOpaque: Bool) -> AnyRaster {
        let rect = PixelRect(x: -6, y: 11, width: size.0, height: size.1)
        guard case .u8(var raster) = Pattern.binaryNoise.picture(rect, layout, .u8), layout.hasAlpha, isOpaque
        else { return Pattern.noise.picture(rect, layout, .u8) }
        for pixel in 0..<rect.area { raster.samples[(pixel + 1) * layout.channels - 1] = 255 }
        return .u8(raster)
    }

    private static let halo = Halo(horizontal: 400, vertical: 400)

    private static let layouts: [(layout: PixelLayout, isOpaque: Bool)] = [
        (.gray, true), (.grayAlpha, false), (.rgb, true), (.rgba, false), (.rgba, true),
    ]

    /// - Parameter edge: an index of ``TwinEdges/all``.
    private func check(_ drawing: Drawing, _ kernel: Warp.Kernel, _ size: (Int, Int), edge: Int) {
        for (layout, isOpaque) in Self.layouts {
            let picture = Self.picture(size, layout, isOpaque: isOpaque)
            guard let projection = drawing.projection(picture.rect) else { continue }
            let source = KernelSource(picture, Self.halo, TwinEdges.all[edge])
            // Transparent edges give an alpha.
            let isClear = edge == 3
            let own = isClear ? layout.addingAlpha : layout
            var result = AnyRaster(zeroed: drawing.output, layout: own, format: .u8)
            Warp(projection, kernel, within: isClear ? picture.rect : nil).render(source, into: &result)
            let twin = FixedWarpTwin(source, kernel, projection, layout: own).picture(drawing.output)
            #expect(result.hasSameBytes(as: twin), "\(size) \(layout), opaque: \(isOpaque), edge \(edge)")
        }
    }

    @Test(arguments: drawings, Warp.Kernel.allCases)
    func `fixed-point projections are those of the slow twin`(drawing: Drawing, kernel: Warp.Kernel) {
        for edge in [0, 3] { check(drawing, kernel, (47, 39), edge: edge) }
    }

    @Test(arguments: [(1, 1), (1, 30), (29, 1), (5, 4)], Warp.Kernel.allCases)
    func `projections of tiny pictures are those of the slow twin, at all edges`(
        size: (Int, Int), kernel: Warp.Kernel
    ) {
        for drawing in [Self.drawings[1], Self.drawings[4], Self.drawings[10]] {
            for edge in TwinEdges.all.indices { check(drawing, kernel, size, edge: edge) }
        }
    }

    /// Black and white pixels have the steepest slopes, and so the largest errors of rounded places.
    @Test(arguments: drawings, [(Warp.Kernel.catmullRom, 0.85), (.lanczos3, 1)])
    func `fixed-point projections of black and white noise are within a level of float64`(
        drawing: Drawing, kernel: (kernel: Warp.Kernel, bound: Double)
    ) throws {
        for layout in [PixelLayout.gray, .rgb] {
            let rect = PixelRect(x: -6, y: 11, width: 47, height: 39)
            let picture = Pattern.binaryNoise.picture(rect, layout, .u8)
            let projection = try #require(drawing.projection(rect))
            let source = KernelSource(picture, Self.halo, TwinEdges.all[0])
            var result = AnyRaster(zeroed: drawing.output, layout: layout, format: .u8)
            Warp(projection, kernel.kernel).render(source, into: &result)
            let truth = TrueWarp(source, kernel.kernel, projection).values(drawing.output)
            let worst = zip(result.doubles, truth).reduce(0) { max($0, abs($1.0 - min(max($1.1, 0), 255))) }
            #expect(worst <= kernel.bound, "\(layout)")
        }
    }

    /// Blocks are drawn in four forms. Tiles begin blocks elsewhere, and so change which form a pixel is drawn in.
    @Test(arguments: drawings, Warp.Kernel.allCases)
    func `pixels do not depend on the tile`(drawing: Drawing, kernel: Warp.Kernel) throws {
        var random = SplitMix64(seed: 5)
        for layout in PixelLayout.allCases {
            // Opaque but for a few pixels.
            let rect = PixelRect(x: 3, y: -8, width: 90, height: 70)
            guard case .u8(var raster) = Pattern.noise.picture(rect, layout, .u8) else { continue }
            if layout.hasAlpha {
                for pixel in 0..<rect.area {
                    raster.samples[(pixel + 1) * layout.channels - 1] = pixel % 2000 < 3 ? 77 : 255
                }
            }
            let source = KernelSource(.u8(raster), Self.halo, TwinEdges.all[3])
            let warp = Warp(try #require(drawing.projection(rect)), kernel, within: rect)
            let own = layout.addingAlpha
            var whole = AnyRaster(zeroed: drawing.output, layout: own, format: .u8)
            warp.render(source, into: &whole)
            for _ in 0..<12 {
                var tile = AnyRaster(
                    zeroed: Self.part(of: drawing.output, &random), layout: own, format: .u8)
                warp.render(source, into: &tile)
                #expect(tile.hasSameBytes(as: whole.cropped(to: tile.rect)), "\(layout) \(tile.rect)")
            }
        }
    }

    private static func part(of rect: PixelRect, _ random: inout SplitMix64) -> PixelRect {
        func range(_ whole: Range<Int>) -> Range<Int> {
            let start = Int.random(in: whole, using: &random)
            return start..<Int.random(in: start + 1...whole.upperBound, using: &random)
        }
        return PixelRect(columns: range(rect.columns), rows: range(rect.rows))
    }

    @Test(arguments: Warp.Kernel.allCases)
    func `one colour stays that colour, and an opaque picture stays opaque inside`(kernel: Warp.Kernel) throws {
        let rect = PixelRect(x: 0, y: 0, width: 150, height: 130)
        for level: UInt8 in [0, 1, 100, 254, 255] {
            for layout in PixelLayout.allCases {
                let pixel =
                    [UInt8](repeating: level, count: layout.removingAlpha.channels) + (layout.hasAlpha ? [255] : [])
                let picture = AnyRaster.u8(
                    Raster(rect: rect, layout: layout, samples: (0..<rect.area).flatMap { _ in pixel }))
                let source = KernelSource(picture, Self.halo, TwinEdges.all[0])
                for drawing in Self.drawings {
                    var result = AnyRaster(zeroed: drawing.output, layout: layout, format: .u8)
                    Warp(try #require(drawing.projection(rect)), kernel).render(source, into: &result)
                    #expect(
                        result.bytes == (0..<drawing.output.area).flatMap { _ in pixel },
                        "\(drawing) \(layout) \(level)")
                }
            }
        }
    }
}

/// The definition of a fixed-point projection, pixel by pixel.
private struct FixedWarpTwin {
    let source: KernelSource
    let kernel: Warp.Kernel
    let projection: Projection
    let layout: PixelLayout
    private let weights: [[Int]]
    private let words: [SIMD4<Int>]

    init(_ source: KernelSource, _ kernel: Warp.Kernel, _ projection: Projection, layout: PixelLayout) {
        (self.source, self.kernel, self.projection, self.layout) = (source, kernel, projection, layout)
        words = Self.words(source.raster)
        weights = (0..<2048).map { phase in
            let exact = TrueWarp.weights(kernel, Double(phase) / 2048)
            var rounded = exact.map { Int(($0 * 16384).rounded()) }
            let largest = exact.indices.max { exact[$0] < exact[$1] } ?? 0
            rounded[largest] += 16384 - rounded.reduce(0, +)
            return rounded
        }
    }

    /// Four premultiplied words in 8.7 fixed point for each pixel of the raster.
    private static func words(_ picture: AnyRaster) -> [SIMD4<Int>] {
        let own = picture.layout
        let samples = picture.bytes.map { Int($0) }
        return stride(from: 0, to: samples.count, by: own.channels).map { start in
            let alpha = own.hasAlpha ? samples[start + own.channels - 1] : 255
            func word(_ color: Int) -> Int {
                (128 * samples[own.removingAlpha.channels == 1 ? start : start + color] * alpha + 127) / 255
            }
            return SIMD4(word(0), word(1), word(2), 128 * alpha)
        }
    }

    /// The sums around a place, in 1/2²⁰ of a sample.
    private func sums(_ x: Double, _ y: Double) -> SIMD4<Int> {
        let (column, row) = (phases(x), phases(y))
        let (along, across) = (weights[column & 2047], weights[row & 2047])
        let reach = along.count / 2
        var result = SIMD4<Int>.zero
        for (j, v) in across.enumerated() {
            var sum = SIMD4<Int>.zero
            let y = source.rows[clamp: (row >> 11) - reach + 1 + j]
            for (i, w) in along.enumerated() {
                let x = source.columns[clamp: (column >> 11) - reach + 1 + i]
                if x >= 0, y >= 0 { sum &+= w &* words[y * source.raster.rect.width + x] }
            }
            for channel in 0..<4 { result[channel] += v * (sum[channel] >> 15) }
        }
        return result
    }

    private func phases(_ place: Double) -> Int { Int(((place - 0.5) * 2048).rounded(.toNearestOrEven)) }

    private func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let count = TrueWarp.samples(projection, x, y)
        var sums = SIMD4<Int>.zero
        if count == 1 {
            let place = projection.place(Double(x) + 0.5, Double(y) + 0.5)
            sums = self.sums(place.x, place.y)
        } else {
            for j in 0..<count {
                for i in 0..<count {
                    let step = 1 / Double(count)
                    let place = projection.place(
                        Double(x) + (Double(i) + 0.5) * step, Double(y) + (Double(j) + 0.5) * step)
                    let own = self.sums(place.x, place.y)
                    for channel in 0..<4 { sums[channel] += own[channel] >> 6 }
                }
            }
            let factor = ((1 << 32) + count * count - 1) / (count * count)
            for channel in 0..<4 { sums[channel] = ((sums[channel] * factor) >> 32) << 6 }
        }
        var words = (0..<4).map { max(0, (sums[$0] + 4096) >> 13) }
        if layout.hasAlpha, words[3] > 255 * 128 {
            let factor = Float(255 * 128) / Float(words[3])
            words = words.dropLast().map { Int(Float($0) * factor + 0.5) } + [255 * 128]
        }
        let alpha = layout.hasAlpha ? min(255, (words[3] + 64) / 128) : 255
        let colors = words[0..<3].map { alpha == 0 ? 0 : UInt8(min(255, ($0 * 510 + alpha * 128) / (alpha * 256))) }
        return Array(colors[0..<layout.removingAlpha.channels]) + (layout.hasAlpha ? [UInt8(alpha)] : [])
    }

    func picture(_ rect: PixelRect) -> AnyRaster {
        let samples = rect.rows.flatMap { y in rect.columns.flatMap { pixel($0, y) } }
        return .u8(Raster(rect: rect, layout: layout, samples: samples))
    }
}

/// The definition of a projection in float64, for pictures without alpha.
private struct TrueWarp {
    let source: KernelSource
    let kernel: Warp.Kernel
    let projection: Projection

    init(_ source: KernelSource, _ kernel: Warp.Kernel, _ projection: Projection) {
        (self.source, self.kernel, self.projection) = (source, kernel, projection)
    }

    /// - Parameter place: from 0 to 1, from the last pixel before the place to the first behind it.
    static func weights(_ kernel: Warp.Kernel, _ place: Double) -> [Double] {
        let reach = kernel == .lanczos3 ? 3 : 2
        let raw = (1 - reach...reach).map { index -> Double in
            let d = abs(place - Double(index))
            guard kernel == .lanczos3 else {
                return d < 1
                    ? 1.5 * d * d * d - 2.5 * d * d + 1 : d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0
            }
            return d == 0 ? 1 : d < 3 ? 3 * sin(.pi * d) * sin(.pi * d / 3) / (.pi * .pi * d * d) : 0
        }
        let sum = raw.reduce(0, +)
        return raw.map { $0 / sum }
    }

    /// The number of places along each axis of a pixel: by how far its neighbourhood is moved, measured around its centre.
    static func samples(_ projection: Projection, _ x: Int, _ y: Int) -> Int {
        let (u, v) = (Double(x) + 0.5, Double(y) + 0.5)
        func length(_ dx: Double, _ dy: Double) -> Double {
            let (before, behind) = (projection.place(u - dx, v - dy), projection.place(u + dx, v + dy))
            return hypot(behind.x - before.x, behind.y - before.y)
        }
        let scale = 1e4 * max(length(0.5e-4, 0), length(0, 0.5e-4))
        return min(8, max(1, Int((scale - 0.25).rounded(.up))))
    }

    func values(_ rect: PixelRect) -> [Double] {
        rect.rows.flatMap { y in rect.columns.flatMap { value($0, y) } }
    }

    private func value(_ x: Int, _ y: Int) -> [Double] {
        guard case .u8(let raster) = source.raster else { return [] }
        let (count, channels) = (Self.samples(projection, x, y), raster.layout.channels)
        var result = [Double](repeating: 0, count: channels)
        for j in 0..<count {
            for i in 0..<count {
                let place = projection.place(
                    Double(x) + (Double(i) + 0.5) / Double(count), Double(y) + (Double(j) + 0.5) / Double(count))
                let (column, row) = ((place.x - 0.5).rounded(.down), (place.y - 0.5).rounded(.down))
                let across = Self.weights(kernel, place.y - 0.5 - row)
                let along = Self.weights(kernel, place.x - 0.5 - column)
                let reach = along.count / 2
                for (j, v) in across.enumerated() {
                    for (i, w) in along.enumerated() {
                        let start =
                            source.rows[clamp: Int(row) - reach + 1 + j] * raster.stride
                            + source.columns[clamp: Int(column) - reach + 1 + i] * channels
                        for channel in 0..<channels {
                            result[channel] += v * w * Double(raster.samples[start + channel]) / Double(count * count)
                        }
                    }
                }
            }
        }
        return result
    }
}
