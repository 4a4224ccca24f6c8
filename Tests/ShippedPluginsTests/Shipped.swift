import Catalogs
import Filters
import Foundation
import Geometry
import PluginLoading
import Raster
import TestSupport
import Testing

/// The plugins that come with Penumbra, as they were built beside this test.
enum Shipped {
    static let names = ["color-adjust", "grain", "halftone", "invert", "pixelate", "posterize", "vignette"]

    /// By name; what could not be loaded is told in the second part.
    private static let loaded: (entries: [String: FilterEntry], problems: [String]) = {
        let folder = PluginFolder(buildFolder, isImplicit: true)
        let loaded = PluginLoader(reservedNames: []).load([folder])
        let (plugins, problems) = (loaded.plugins, loaded.problems)
        return (Dictionary(plugins.map { ($0.name, $0.entry) }) { first, _ in first }, problems)
    }()

    /// The folder of the running program, where the plugins of this package are built too.
    private static var buildFolder: String {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: link ?? CommandLine.arguments[0]).deletingLastPathComponent().path
    }

    static var problems: [String] { loaded.problems }

    /// Of the library.
    static func path(_ name: String) -> String? {
        if case .plugin(let path) = loaded.entries[name]?.descriptor.origin { path } else { nil }
    }

    static func descriptor(_ name: String) throws -> FilterDescriptor { try #require(loaded.entries[name]).descriptor }

    static func filter(_ name: String, _ values: [String: ParameterValue] = [:]) throws -> any Filter {
        try #require(loaded.entries[name], "\(name) is loaded").makeFilter(values)
    }

    /// A tile of every filter with values that make it do something.
    static let busy: [(name: String, values: [String: ParameterValue])] = [
        ("color-adjust", ["exposure": .number(0.7), "temperature": .number(30), "darks": .number(-5)]),
        ("color-adjust", ["contrast": .number(40), "saturation": .number(-60)]),
        ("grain", ["amount": .number(12)]), ("grain", ["size": .number(3.3), "monochrome": .boolean(false)]),
        ("halftone", ["size": .number(5.5), "screen": .word("euclidean")]),
        ("halftone", ["size": .number(4.5), "screen": .word("line"), "angle": .number(25)]),
        ("halftone", ["colors": .word("cmyk"), "screen": .word("diamond"), "sharpness": .number(60)]),
        ("invert", [:]), ("pixelate", ["size": .integer(7)]), ("posterize", ["levels": .integer(5)]),
        ("posterize", ["levels": .integer(3), "dither": .word("ordered")]),
        ("vignette", ["amount": .number(80), "softness": .number(40)]), ("vignette", ["amount": .number(-50)]),
    ]
}

/// What a filter of points should make of a pixel: from red, green and blue on a scale of 1, all the same in a gray
/// picture, and its place.
typealias TruePixel = (_ colors: [Double], _ x: Int, _ y: Int) -> [Double]

/// How far a filtered picture is from the truth at worst, on the samples' scale. Whole numbers are clamped; colours under
/// alpha 0 must be 0, and alpha must be what it was.
func worstError(_ result: AnyRaster, of picture: AnyRaster, _ truth: TruePixel) -> Double {
    let (before, after, full) = (picture.doubles, result.doubles, picture.format.full)
    let (channels, colored) = (picture.layout.channels, picture.layout.removingAlpha.channels)
    var worst = 0.0
    for pixel in 0..<picture.rect.area {
        let start = pixel * channels
        let stored = (0..<3).map { before[start + min($0, colored - 1)] / full }
        let (y, x) = pixel.quotientAndRemainder(dividingBy: picture.rect.width)
        let expected = truth(stored, picture.rect.x + x, picture.rect.y + y)
        for channel in 0..<channels {
            let isAlpha = channel == colored
            let isClear = picture.layout.hasAlpha && before[start + colored] == 0
            var value = isAlpha ? before[start + channel] : isClear ? 0 : expected[channel] * full
            if picture.format != .f32 { value = min(max(value, 0), full) }
            let error = abs(after[start + channel] - value)
            worst = error <= worst ? worst : error  // NaN is the worst
        }
    }
    return worst
}

extension SampleFormat {
    /// Half a step for rounding, and what single precision costs.
    var roundingError: Double {
        switch self {
        case .u8: 0.5001
        case .u16: 0.55
        case .f32: 2e-6
        }
    }
}
