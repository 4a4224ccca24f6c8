import Catalogs
import Geometry
import Raster
import Rendering
import TestSupport
import Testing

/// What a chain says it reads is what it reads.
struct RegionOfInterestTests {
    private let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 83, height: 61), .rgba)

    /// Notes what is read.
    private final class RecordingSource: PixelSource {
        let picture: AnyRaster
        private(set) var reads: [PixelRect] = []

        init(_ picture: AnyRaster) {
            self.picture = picture
        }

        var rect: PixelRect { picture.rect }
        var layout: PixelLayout { picture.layout }
        var format: SampleFormat { picture.format }

        func read(_ part: PixelRect) -> AnyRaster {
            reads.append(part)
            return picture.cropped(to: part)
        }
    }

    /// The picture with other noise wherever no rectangle lies.
    private func poisoned(outside rects: [PixelRect]) -> AnyRaster {
        var result = Pattern.noise.picture(picture.rect, picture.layout, picture.format, seed: 666)
        for rect in rects { result.paste(picture.cropped(to: rect)) }
        return result
    }

    @Test(arguments: ChainCase.single + ChainCase.several)
    func `pixels outside the region of interest change nothing`(chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        var random = SplitMix64(seed: 5)
        for _ in 0..<8 {
            let tile = PixelRect.random(in: plan.output, using: &random)
            let region = chain.regionOfInterest(for: tile, in: plan)
            let result = try chain.render(tile, from: picture)
            #expect(try chain.render(tile, from: poisoned(outside: region)) == result, "\(tile)")
        }
    }

    @Test(arguments: ChainCase.single + ChainCase.several)
    func `only rectangles of the region are read, and they lie in the picture`(chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        var random = SplitMix64(seed: 6)
        for _ in 0..<8 {
            let tile = PixelRect.random(in: plan.output, using: &random)
            let source = RecordingSource(picture)
            _ = try chain.render(tile, from: source)
            let region = chain.regionOfInterest(for: tile, in: plan)
            #expect(source.reads.allSatisfy { read in region.contains { $0.contains(read) } })
            #expect(region.allSatisfy { picture.rect.contains($0) })
        }
    }

    @Test func `halos of a chain add up`() throws {
        let chain = try Chain([.gaussian(2), .motion(10, 0), .gaussian(x: 0, y: 1)], registry: .builtIn)
        let plan = chain.plan(input: PixelRect(x: 0, y: 0, width: 500, height: 500), layout: .rgb)
        #expect(plan.halo == Halo(horizontal: 8 + 10, vertical: 8 + 4))
        let tile = PixelRect(x: 200, y: 220, width: 16, height: 8)
        #expect(chain.regionOfInterest(for: tile, in: plan) == [tile.expanded(by: plan.halo)])
    }

    @Test(arguments: ChainCase.single + ChainCase.several)
    func `a region is never larger than the tile with its halo`(chainCase: ChainCase) throws {
        let chain = try chainCase.make()
        let input = PixelRect(x: 0, y: 0, width: 900, height: 900)
        let plan = chain.plan(input: input, layout: .rgb)
        let tile = PixelRect(x: 400, y: 420, width: 64, height: 32)
        let bound = tile.expanded(by: plan.halo)
        #expect(chain.regionOfInterest(for: tile, in: plan).allSatisfy { bound.contains($0) })
    }

    @Test func `rectangles that several filters need are listed once`() throws {
        let wrap: [String: ParameterValue] = ["edge": .word("wrap")]
        let chain = try Chain([.gaussian(2, wrap), .gaussian(1, wrap)], registry: .builtIn)
        let input = PixelRect(x: 0, y: 0, width: 20, height: 20)
        let plan = chain.plan(input: input, layout: .rgb)
        #expect(chain.regionOfInterest(for: PixelRect(x: 0, y: 0, width: 4, height: 4), in: plan) == [input])
    }

    @Test func `wrap needs four rectangles for a corner`() throws {
        let chain = try Chain([.gaussian(1, ["edge": .word("wrap")])], registry: .builtIn)
        let plan = chain.plan(input: PixelRect(x: 0, y: 0, width: 100, height: 80), layout: .rgb)
        let region = chain.regionOfInterest(for: PixelRect(x: 0, y: 0, width: 10, height: 20), in: plan)
        #expect(
            region == [
                PixelRect(x: 0, y: 0, width: 14, height: 24), PixelRect(x: 96, y: 0, width: 4, height: 24),
                PixelRect(x: 0, y: 76, width: 14, height: 4), PixelRect(x: 96, y: 76, width: 4, height: 4),
            ])
    }
}
