import Catalogs
import Filters
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

/// Masks that would change something else than their author wants.
struct MaskFitTests {
    private static let rect = PixelRect(x: 0, y: 0, width: 80, height: 60)

    private func misfit(
        _ size: (width: Int, height: Int), isBlack: Bool = false, isOwn: Bool, _ more: [String: ParameterValue] = [:]
    ) throws -> MaskOptions.Misfit? {
        var mask = GrayPicture(width: size.width, height: size.height)
        if !isBlack {
            let rect = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            mask.paste(AnyRaster.u8(Raster(rect: rect, layout: .gray, repeating: 255)))
        }
        let registry = FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(picture: { [mask] _, _ in mask }, layer: { _, _ in throw UnreadableLayer() }))
        let reference = ParameterValue.picture(PictureReference(path: "/mask.png", isOwn: isOwn))
        let chain = try Chain([.gaussian(3, more.merging(["mask": reference]) { $1 })], registry: registry)
        return chain.misfit(chain.plan(input: Self.rect, layout: .rgba))?.cause
    }

    @Test func `a black mask is a mistake, unless it belongs to one picture`() throws {
        #expect(try misfit((8, 6), isBlack: true, isOwn: false) == .blackMask)
        #expect(try misfit((8, 6), isBlack: true, isOwn: true) == nil)
        #expect(try misfit((8, 6), isOwn: true) == nil)
    }

    @Test func `a mask of one picture may not be turned, and may have any other shape`() throws {
        #expect(try misfit((6, 8), isOwn: true) == .turnedMask(PictureSize(width: 6, height: 8)))
        #expect(try misfit((600, 801), isOwn: true) == .turnedMask(PictureSize(width: 600, height: 801)))
        #expect(try misfit((512, 512), isOwn: true) == nil)
        #expect(try misfit((300, 900), isOwn: true) == nil)
        #expect(try misfit((6, 8), isOwn: false) == nil)
    }

    @Test func `a mask of one picture in its own size lies on the picture`() throws {
        let far: [String: ParameterValue] = ["mask_x": .length(.pixels(80))]
        let near: [String: ParameterValue] = ["mask_x": .length(.pixels(79))]
        #expect(try misfit((6, 8), isOwn: true, far) == .maskOutside)
        #expect(try misfit((6, 8), isBlack: true, isOwn: true, near) == nil)
        #expect(try misfit((6, 8), isOwn: false, far) == .blackMask)
    }

    @Test func `an outline outside of the picture is a mistake`() throws {
        func misfit(_ ring: [Double], grow: Double = 0) throws -> MaskOptions.Misfit? {
            let set = RegionSet(
                [], outlines: [RegionOutline(rings: [ring], grow: grow)], of: PictureSize(width: 160, height: 120))
            let chain = try Chain([.gaussian(3, ["within": .regions(set)])], registry: .builtIn)
            return chain.misfit(chain.plan(input: Self.rect, layout: .rgba))?.cause
        }
        #expect(try misfit([10, 10, 50, 10, 30, 60]) == nil)
        #expect(try misfit([170, 10, 200, 10, 190, 60]) == .regionOutside)
        #expect(try misfit([170, 10, 200, 10, 190, 60], grow: 30) == nil)
    }

    @Test(arguments: [[1, 2, 3], [1, 2, .nan, 4, 5, 6], [1, 2, .infinity, 4, 5, 6], [1, 2, 2e9, 4, 5, 6]])
    func `a worker refuses outlines that no coordinator makes`(ring: [Double]) {
        let set = RegionSet([], outlines: [RegionOutline(rings: [ring])])
        #expect(throws: FilterError.self) {
            try Chain([.gaussian(3, ["within": .regions(set)])], registry: .builtIn)
        }
    }
}
