import Catalogs
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

struct VignetteTests {
    private let rect = PixelRect(x: 11, y: -6, width: 57, height: 41)

    private struct Settings {
        var amount = 50.0
        var radius = 100.0
        var softness = 75.0
        var roundness = 0.0
        var x = 50.0
        var y = 50.0

        var values: [String: ParameterValue] {
            [
                "amount": .number(amount), "radius": .number(radius), "softness": .number(softness),
                "roundness": .number(roundness), "x": .number(x), "y": .number(y),
            ]
        }

        /// How much of the amount is at a pixel: from its place in units of the half-axes.
        func share(_ column: Int, _ row: Int, _ rect: PixelRect) -> Double {
            let (w, h) = (Double(rect.width), Double(rect.height))
            let corner = hypot(w / 2, h / 2)
            let axes = [w, h].map { side in sqrt(2) * side / 2 * (1 - roundness / 100) + corner * roundness / 100 }
            let dx = Double(column - rect.x) + 0.5 - w * x / 100
            let dy = Double(row - rect.y) + 0.5 - h * y / 100
            let distance = hypot(dx / axes[0], dy / axes[1])
            let width = max(radius / 100 * softness / 100, 1 / min(axes[0], axes[1]))
            let place = min(max(1 - (radius / 100 - distance) / width, 0), 1)
            return place * place * (1 + 2 * (1 - place))
        }

        func truth(_ rect: PixelRect) -> TruePixel {
            { colors, x, y in
                let strength = abs(amount) / 100 * share(x, y, rect)
                let goal = amount > 0 ? 0.0 : 1
                return colors.map { $0 * (1 - strength) + goal * strength }
            }
        }
    }

    private static let settings = [
        Settings(), Settings(amount: -80, radius: 70), Settings(amount: 100, softness: 0, roundness: 100),
        Settings(amount: 30, radius: 150, softness: 100, roundness: 40, x: 20, y: 75),
    ]

    @Test(arguments: settings.indices, SampleFormat.allCases)
    func `it is within rounding of float64`(index: Int, format: SampleFormat) throws {
        let settings = Self.settings[index]
        let filter = try Shipped.filter("vignette", settings.values)
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(rect, layout, format)
            let error = worstError(try filter.render(picture), of: picture, settings.truth(rect))
            // A border of one pixel turns the error of a place into one of light.
            #expect(error <= format.roundingError * (format == .f32 && settings.softness == 0 ? 20 : 1), "\(layout)")
        }
    }

    @Test func `full amount makes the corners black and leaves the middle`() throws {
        let white = AnyRaster.u8(Raster(rect: rect, layout: .gray, repeating: 255))
        let filter = try Shipped.filter("vignette", ["amount": .number(100), "radius": .number(95)])
        let result = try filter.render(white).doubles
        #expect(result[0] == 0 && result[rect.width - 1] == 0 && result[rect.area - 1] == 0)
        #expect(result[rect.area / 2] == 255)
    }

    @Test func `it is symmetric about the middle`() throws {
        let white = AnyRaster.u16(Raster(rect: rect, layout: .gray, repeating: 60000))
        let result = try Shipped.filter("vignette").render(white).doubles
        #expect(result == result.reversed())
    }

    @Test func `it hangs on the picture, not on its place`() throws {
        let picture = Pattern.noise.picture(rect)
        let filter = try Shipped.filter("vignette")
        let moved = try filter.render(picture.translated(x: 1000, y: 500))
        #expect(try moved == filter.render(picture).translated(x: 1000, y: 500))
    }
}
