import Catalogs
import Filters
import Geometry
import Raster
import TestSupport
import Testing

/// What filters do with radius 0, and with samples that are no ordinary numbers.
struct SpecialValuesTests {
    private static let filters: [(String, [String: ParameterValue])] = [
        ("gaussian", ["radius": .number(2)]), ("motion", ["radius": .number(5), "angle": .number(33)]),
        ("box", ["radius": .number(3.5)]), ("disc", ["radius": .number(4.3)]),
        ("lens-blur", ["radius": .number(4.3), "blades": .integer(5)]),
        ("sharpen", ["radius": .number(2), "amount": .number(0.5)]),
        ("zoom", [:]), ("spin", ["angle": .number(20)]),
        ("variable", ["radius": .number(4), "gradient": .word("radial"), "sharp": .length(.pixels(0))]),
    ]
    /// In these channels see each other.
    private static let coupled: [(String, [String: ParameterValue])] = [("bilateral", ["radius": .number(1)])]

    @Test(arguments: [
        ("gaussian", ParameterValue.number(0)), ("gaussian", .pair(x: 0, y: 0)), ("gaussian", .number(-0.0)),
        ("motion", .number(0)), ("box", .number(0)), ("box", .pair(x: 0, y: 0)), ("disc", .number(0)),
        ("lens-blur", .number(0)),
        ("sharpen", .number(0)), ("median", .integer(0)), ("variable", .number(0)),
    ])
    func `radius 0 is the identity, whatever else is asked for`(name: String, radius: ParameterValue) throws {
        for values in [[:], ["edge": .word("transparent")], ["extent": .word("expand")]] as [[String: ParameterValue]] {
            #expect(try FilterRegistry.builtIn.make(name, values.merging(["radius": radius]) { $1 }).isIdentity)
        }
    }

    @Test func `a radius along one axis is no identity`() throws {
        #expect(try !FilterRegistry.builtIn.make("gaussian", ["radius": .pair(x: 0, y: 1)]).isIdentity)
    }

    @Test(arguments: filters)
    func `NaN spreads as far as the kernel and no farther`(name: String, values: [String: ParameterValue]) throws {
        let filter = try FilterRegistry.builtIn.make(name, values)
        let rect = PixelRect(x: 0, y: 0, width: 600, height: 40)
        guard case .f32(var raster) = Pattern.noise.picture(rect, .rgb, .f32) else { return }
        let clean = try filter.render(.f32(raster))
        raster.samples[raster.index(x: 513, y: 20) + 1] = .nan
        let result = try filter.render(.f32(raster))
        let reach = PixelRect(x: 513, y: 20, width: 1, height: 1).expanded(by: filter.halo(in: rect))
        for y in rect.rows {
            for x in rect.columns {
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                let (before, after) = (clean.cropped(to: pixel).doubles, result.cropped(to: pixel).doubles)
                #expect(before[0] == after[0] && before[2] == after[2], "other channels do not see it")
                #expect(before[1] == after[1] || (after[1].isNaN && reach.contains(x: x, y: y)))
            }
        }
        #expect(result.cropped(to: PixelRect(x: 513, y: 20, width: 1, height: 1)).doubles[1].isNaN)
    }

    @Test(
        arguments: filters + coupled + [("median", ["radius": .integer(2)]), ("median", ["radius": .integer(4)])])
    func `huge and infinite samples do not crash any format or layout`(
        name: String, values: [String: ParameterValue]
    ) throws {
        let rect = PixelRect(x: 0, y: 0, width: 16, height: 16)
        for layout in PixelLayout.allCases {
            for light in ["encoded", "linear"] {
                for value in [Float.greatestFiniteMagnitude, .infinity, -.infinity, .nan, -1e30] {
                    var raster = Raster<Float>(rect: rect, layout: layout, repeating: 0.5)
                    raster.samples[100] = value
                    let filter = try FilterRegistry.builtIn.make(name, values.merging(["light": .word(light)]) { $1 })
                    #expect(try filter.render(.f32(raster)).rect == rect)
                }
            }
        }
    }

    @Test func `floats outside 0…1 are not clamped`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 30, height: 30)
        for value in [-4, 9] as [Float] {
            let flat = AnyRaster.f32(Raster(rect: rect, layout: .rgb, repeating: value))
            for (name, values) in Self.filters + Self.coupled {
                let result = try FilterRegistry.builtIn.make(name, values).render(flat)
                for sample in result.doubles { #expect(abs(sample - Double(value)) <= 1e-5) }
            }
        }
    }
}
