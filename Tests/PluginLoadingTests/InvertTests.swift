import Catalogs
import Filters
import Geometry
import PluginLoading
import Raster
import TestSupport
import Testing

/// The plugin that comes with Penumbra, as it was built beside this test.
struct InvertTests {
    private let filter: any Filter

    init() throws {
        let folder = PluginFolder(try PluginFixture.buildFolder, isImplicit: true)
        let loaded = PluginLoader(reservedNames: []).load([folder])
        let (plugins, problems) = (loaded.plugins, loaded.problems)
        #expect(problems == [])
        filter = try #require(plugins.first { $0.name == "invert" }).entry.makeFilter([:])
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `colours become full minus themselves, alpha stays, and nothing shows under alpha 0`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let picture = Pattern.noise.picture(PixelRect(x: -2, y: 7, width: 31, height: 17), layout, format)
        let before = picture.doubles
        let after = try filter.render(picture).doubles
        let channels = layout.channels
        for index in before.indices {
            let alpha = layout.hasAlpha ? before[index / channels * channels + channels - 1] : format.full
            let isAlpha = layout.hasAlpha && index % channels == channels - 1
            let negative = format == .f32 ? Double(1 - Float(before[index])) : format.full - before[index]
            #expect(after[index] == (isAlpha ? before[index] : alpha == 0 ? 0 : negative))
        }
    }

    @Test func `twice is once where there is no alpha`() throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 31, height: 17))
        #expect(try filter.render(filter.render(picture)) == picture)
    }

    @Test func `it needs no pixel but its own`() {
        let tile = PixelRect(x: 3, y: 4, width: 5, height: 6)
        #expect(filter.regionOfInterest(for: tile, in: PixelRect(x: 0, y: 0, width: 50, height: 50)) == [tile])
        #expect(filter.halo.isEmpty)
    }
}
