import Catalogs
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

/// Invariant 1 of the design: pixels do not depend on how a picture is cut into tiles.
struct TileInvarianceTests {
    private static let pictures = [
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 83, height: 61), .rgba, .u8),
        Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 61, height: 83), .rgb, .u16),
        Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 5, height: 97), .gray, .f32),
    ]

    private func check(_ chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        var random = SplitMix64(seed: 11)
        for picture in Self.pictures {
            let output = chain.plan(input: picture.rect, layout: picture.layout).output
            guard !output.isEmpty else { continue }
            let whole = try chain.render(output, from: picture)
            for _ in 0..<12 {
                let tile = PixelRect.random(in: output, using: &random)
                #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)), "\(tile)")
            }
        }
    }

    @Test(arguments: ChainCase.single)
    func `a random tile has the bytes of the whole picture`(chainCase: ChainCase) throws {
        try check(chainCase)
    }

    /// Tiles of an opaque part have no translucent pixel, and may take another way to the same pixels.
    private static func opaqueButForAHole(_ rect: PixelRect) -> AnyRaster {
        guard case .u8(var raster) = Pattern.noise.picture(rect, .rgba, .u8) else { return .empty }
        for y in rect.rows {
            for x in rect.columns {
                let isHole = (x - 20).magnitude < 3 && (y - 100).magnitude < 3
                raster.samples[raster.index(x: x, y: y) + 3] = isHole ? UInt8(x & 1) * 90 : 255
            }
        }
        return .u8(raster)
    }

    @Test(arguments: ChainCase.single)
    func `an opaque tile of a picture with a hole has the bytes of the whole picture`(chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        for picture in [
            Self.opaqueButForAHole(PixelRect(x: 0, y: 0, width: 170, height: 120)),
            Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 170, height: 120), .rgb, .u8),
        ] {
            let output = chain.plan(input: picture.rect, layout: picture.layout).output
            let whole = try chain.render(output, from: picture)
            let inside = PixelRect(x: 100, y: 40, width: 31, height: 29).intersection(output)
            let beside = PixelRect(x: 17, y: 70, width: 40, height: 31).intersection(output)
            for tile in [inside, beside] where !tile.isEmpty {
                #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)), "\(tile)")
            }
        }
    }

    /// In a tile, all pixels of these rows are opaque. In the whole picture, some are not.
    @Test(arguments: [0.5, 1.1, 1.4, 1.6, 1.8, 2.2, 2.3, 2.6, 4, 6], [1.0, 5, 10])
    func `sharpened pixels do not depend on what else their rows have`(radius: Double, amount: Double) throws {
        let picture = Self.opaqueButForAHole(PixelRect(x: 0, y: 0, width: 170, height: 120))
        let tile = PixelRect(x: 80, y: 80, width: 61, height: 33)
        for threshold in [0.0, 2] {
            let sharpen = FilterInvocation.family(
                "sharpen", .number(radius), ["amount": .number(amount), "threshold": .number(threshold)])
            let chain = try Chain([sharpen], registry: .builtIn)
            let whole = try chain.render(picture.rect, from: picture)
            #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }

    /// Wide rows are computed in parts.
    @Test(arguments: [(PixelLayout.rgb, 45_000), (.rgba, 34_000)])
    func `a wide picture has the bytes of its tiles if its radius varies`(layout: PixelLayout, width: Int) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: width, height: 5), layout, .u8)
        let chain = try Chain([.variable(20, "linear")], registry: .builtIn)
        let whole = try chain.render(picture.rect, from: picture)
        for x in [0, 16_300, 21_800, 33_000] {
            let tile = PixelRect(x: x, y: 0, width: 400, height: 5)
            #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)), "\(x)")
        }
    }

    @Test(arguments: ChainCase.several + ChainCase.geometry)
    func `tiles of chains too`(chainCase: ChainCase) throws {
        try check(chainCase)
    }

    @Test(arguments: [1, 7, 64, 4096])
    func `tiles of any size put together are the whole picture`(side: Int) throws {
        let chain = try Chain([.gaussian(2, ChainCase.expand), .motion(9, 60)], registry: .builtIn)
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 37, height: 23), .rgb)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        var stitched = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: .u8)
        for tile in TileGrid(extent: plan.output, tileWidth: side, tileHeight: side).tiles {
            stitched.paste(try chain.render(tile, from: picture))
        }
        #expect(try stitched == chain.render(plan.output, from: picture))
    }

    @Test(arguments: [-200.0, -193.047, -150, 200])
    func `the longest zooms read all that they need`(amount: Double) throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 301, height: 217), .gray, .f32)
        let chain = try Chain(
            [.zoom(amount, ["x": .length(.pixels(272.495)), "y": .length(.pixels(-3))])], registry: .builtIn)
        let whole = try chain.render(picture.rect, from: picture)
        for tile in TileGrid(extent: picture.rect, tileWidth: 64, tileHeight: 97).tiles {
            #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)), "\(tile)")
        }
    }

    @Test func `NaN and infinities change no bit between tiles`() throws {
        guard case .f32(var raster) = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 61, height: 47), .rgba, .f32)
        else { return }
        for (index, value) in [Float.nan, -.nan, .infinity, -.infinity, .nan].enumerated() {
            raster.samples[raster.index(x: 9 + 11 * index, y: 5 + 8 * index) + index % 4] = value
        }
        let picture = AnyRaster.f32(raster)
        let chain = try Chain([.gaussian(3), .motion(8, 30)], registry: .builtIn)
        let whole = try chain.render(picture.rect, from: picture)
        for tile in TileGrid(extent: picture.rect, tileWidth: 13, tileHeight: 10).tiles {
            #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)))
        }
    }
}

extension PixelRect {
    /// A rectangle with at least one pixel.
    static func random(in extent: PixelRect, using random: inout SplitMix64) -> PixelRect {
        let left = Int.random(in: extent.columns, using: &random)
        let top = Int.random(in: extent.rows, using: &random)
        return PixelRect(
            columns: left..<Int.random(in: left + 1...extent.right, using: &random),
            rows: top..<Int.random(in: top + 1...extent.bottom, using: &random))
    }
}
