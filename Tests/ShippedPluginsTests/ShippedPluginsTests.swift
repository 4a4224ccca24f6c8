import Catalogs
import Filters
import Geometry
import Raster
import TestSupport
import Testing

/// What holds of every plugin that comes with Penumbra.
struct ShippedPluginsTests {
    private let rect = PixelRect(x: -5, y: 3, width: 61, height: 47)

    @Test func `all are loaded together, and none complains`() throws {
        #expect(Shipped.problems == [])
        for name in Shipped.names { #expect(try Shipped.descriptor(name).name == name) }
    }

    @Test(arguments: Shipped.busy.indices)
    func `a region hides the right place of a picture that was cropped before`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        let region = Region(
            x: .pixels(9), y: .percent(25), width: .pixels(17), height: .pixels(11), cornerRadius: .pixels(0))
        let filter = try Shipped.filter(name, values.merging(["within": .region(region)]) { $1 })
        let kept = PixelRect(x: 19, y: 12, width: 31, height: 32)
        let picture = Pattern.noise.picture(kept)
        let result = try filter.render(picture)
        let place = PixelRect(x: 28, y: 20, width: 17, height: 11)
        for y in kept.rows {
            for x in kept.columns where !place.contains(x: x, y: y) {
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                #expect(result.cropped(to: pixel) == picture.cropped(to: pixel))
            }
        }
        let everywhere = try Shipped.filter(name, values).render(picture)
        #expect(result.cropped(to: place) == everywhere.cropped(to: place))
    }

    @Test(arguments: Shipped.names)
    func `a plugin says what it and its parameters do`(name: String) throws {
        let descriptor = try Shipped.descriptor(name)
        for text in [descriptor.summary] + descriptor.parameters.map(\.summary) {
            #expect(!text.isEmpty && !text.hasSuffix(".") && text.count <= 200, "\(text)")
        }
    }

    @Test(arguments: Shipped.busy.indices, SampleFormat.allCases)
    func `tiles have the bytes of the whole picture`(index: Int, format: SampleFormat) throws {
        let (name, values) = Shipped.busy[index]
        let filter = try Shipped.filter(name, values)
        var random = SplitMix64(seed: UInt64(index))
        for layout in PixelLayout.allCases {
            let picture = Pattern.photograph.picture(rect, layout, format)
            let whole = try filter.render(picture)
            for _ in 0..<6 {
                let x = Int.random(in: rect.columns, using: &random)
                let y = Int.random(in: rect.rows, using: &random)
                let tile = PixelRect(
                    columns: x..<Int.random(in: x + 1...rect.right, using: &random),
                    rows: y..<Int.random(in: y + 1...rect.bottom, using: &random))
                let part = try filter.render(picture, tile: tile)
                #expect(part.hasSameBytes(as: whole.cropped(to: tile)), "\(name) \(layout) \(tile)")
            }
        }
    }

    @Test(arguments: Shipped.busy.indices)
    func `within a region of whole pixels it does what it does everywhere, and outside nothing`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        let region = Region(x: .pixels(4 + 5), y: .pixels(8 - 3), width: .pixels(22), height: .pixels(30))
        let inside = PixelRect(x: 4, y: 8, width: 22, height: 30)
        let filter = try Shipped.filter(name, values)
        let regional = try Shipped.filter(name, values.merging(["within": .region(region)]) { $1 })
        for (layout, format) in [(PixelLayout.rgb, SampleFormat.u8), (.gray, .u16), (.rgb, .f32)] {
            let picture = Pattern.noise.picture(rect, layout, format)
            let (everywhere, result) = (try filter.render(picture), try regional.render(picture))
            #expect(result.cropped(to: inside).hasSameBytes(as: everywhere.cropped(to: inside)), "\(name)")
            let above = PixelRect(x: rect.x, y: rect.y, width: rect.width, height: 5)
            #expect(result.cropped(to: above).hasSameBytes(as: picture.cropped(to: above)))
        }
    }

    @Test(arguments: Shipped.busy.indices)
    func `samples that are no ordinary numbers stay where they are`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        let filter = try Shipped.filter(name, values)
        for layout in PixelLayout.allCases {
            for value in [Float.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e30] {
                guard case .f32(var raster) = Pattern.photograph.picture(rect, layout, .f32) else { return }
                let clean = try filter.render(.f32(raster))
                for channel in 0..<layout.channels { raster.samples[raster.index(x: 20, y: 20) + channel] = value }
                let result = try filter.render(.f32(raster))
                let reach = PixelRect(x: 20, y: 20, width: 1, height: 1).expanded(by: filter.halo)
                for far in [rect.y..<reach.y, reach.bottom..<rect.bottom] {
                    let part = PixelRect(columns: rect.columns, rows: far)
                    #expect(result.cropped(to: part).hasSameBytes(as: clean.cropped(to: part)), "\(name) \(value)")
                }
            }
        }
    }

    /// Values with which a filter has nothing to do.
    private static let idle: [(name: String, values: [String: ParameterValue])] = [
        ("color-adjust", [:]), ("grain", ["amount": .number(0)]), ("pixelate", ["size": .integer(1)]),
        ("vignette", ["amount": .number(0)]),
    ]

    @Test(arguments: idle.indices, SampleFormat.allCases)
    func `a filter with nothing to do changes no byte`(index: Int, format: SampleFormat) throws {
        let filter = try Shipped.filter(Self.idle[index].name, Self.idle[index].values)
        for layout in [PixelLayout.gray, .rgb] {
            let picture = Pattern.noise.picture(rect, layout, format)
            #expect(try filter.render(picture).hasSameBytes(as: picture))
        }
    }

    @Test func `every whole number survives the way to a filter and back`() throws {
        let filter = try Shipped.filter("grain", ["amount": .number(0)])
        let ramp = PixelRect(x: 0, y: 0, width: 256, height: 256)
        let deep = AnyRaster.u16(Raster(rect: ramp, layout: .gray, samples: (0..<65536).map { UInt16($0) }))
        let shallow = AnyRaster.u8(
            Raster(rect: ramp, layout: .gray, samples: (0..<65536).map { UInt8(truncatingIfNeeded: $0) }))
        for picture in [deep, shallow] { #expect(try filter.render(picture) == picture) }
    }

    @Test(arguments: Shipped.busy.indices)
    func `alpha stays as it is`(index: Int) throws {
        let (name, values) = Shipped.busy[index]
        guard name != "pixelate" else { return }  // whose squares have one alpha, too
        for layout in [PixelLayout.grayAlpha, .rgba] {
            let picture = Pattern.noise.picture(rect, layout)
            let result = try Shipped.filter(name, values).render(picture).doubles
            let channels = layout.channels
            for (index, sample) in picture.doubles.enumerated() where index % channels == channels - 1 {
                #expect(result[index] == sample)
            }
        }
    }
}
