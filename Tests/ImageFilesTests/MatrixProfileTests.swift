import Catalogs
import Foundation
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Profiles of three curves and three primaries, by which pictures of 16 bits become sRGB as in float64.
@Suite struct MatrixProfileTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// A curve as a profile has it, and what it is.
    struct Curve: Sendable, CustomStringConvertible {
        let description: String
        let profile: [UInt8]
        let light: @Sendable (Double) -> Double
        /// Close to sRGB's curve, which stands for it where light is converted.
        var isSRGB: Bool { description == "kind 3" || description == "a table" }
    }

    private static let sRGB = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

    /// In 65535ths, as profiles have them.
    private static let table = (0...1024).map { (trueLinear(Double($0) / 1024) * 65535).rounded() / 65535 }

    static let curves = [
        Curve(description: "a power", profile: ProfileBuilder.rgb(gamma: 1.75)) { pow($0, 1.75) },
        Curve(description: "a table", profile: ProfileBuilder.rgb(table: table)) { value in
            let (place, last) = (value * Double(table.count - 1), table.count - 2)
            let index = min(Int(place), last)
            return table[index] + (table[index + 1] - table[index]) * (place - Double(index))
        },
        Curve(description: "two points", profile: ProfileBuilder.rgb(table: [0.25, 0.75])) { 0.25 + $0 / 2 },
        Curve(description: "kind 0", profile: ProfileBuilder.rgb(parametric: 0, [1.5])) { pow($0, 1.5) },
        Curve(description: "kind 1", profile: ProfileBuilder.rgb(parametric: 1, [2, 1.25, -0.25])) {
            pow(max(0, 1.25 * $0 - 0.25), 2)
        },
        Curve(description: "kind 2", profile: ProfileBuilder.rgb(parametric: 2, [2, 1.25, -0.5, 0.125])) {
            pow(max(0, 1.25 * $0 - 0.5), 2) + 0.125
        },
        Curve(description: "kind 3", profile: ProfileBuilder.rgb(parametric: 3, sRGB)) { trueLinear($0) },
        Curve(description: "kind 4", profile: ProfileBuilder.rgb(parametric: 4, sRGB + [0.0625, 0.0625])) {
            min(1, trueLinear($0) + 0.0625)
        },
    ]

    /// The worst difference of a converted picture to what its pixels should be, on the scale of 65535.
    private func worst(
        _ picture: AnyRaster, _ profile: [UInt8], _ truth: ([Double]) -> [Double]
    ) throws -> Double {
        try workspace.save(picture, as: "png", to: "profiled", metadata: ImageMetadata(icc: Blob(profile)))
        let decoded = try workspace.load("profiled", color: .srgb)
        #expect(decoded.raster.layout == picture.layout && decoded.raster.format == .u16)
        #expect(decoded.metadata.icc == nil && decoded.metadata.isConverted)
        let (before, after, channels) = (picture.values, decoded.raster.values, picture.layout.channels)
        var worst = 0.0
        for start in stride(from: 0, to: before.count, by: channels) {
            let wanted = truth(Array(before[start..<start + 3])) + before[(start + 3)..<(start + channels)]
            for (channel, value) in wanted.enumerated() {
                worst = max(worst, abs(after[start + channel] - value) * 65535)
            }
        }
        return worst
    }

    @Test(arguments: [TruePrimaries.sRGB, .displayP3, .adobeRGB], [PixelLayout.rgb, .rgba])
    func `any colours of other primaries are right to 16 bits`(primaries: TruePrimaries, layout: PixelLayout) throws {
        let gamma = 563.0 / 256
        let picture = Pictures.busy(width: 150, height: 100, layout: layout, format: .u16)
        let error = try worst(picture, ProfileBuilder.rgb(gamma: gamma, primaries)) {
            primaries.inSRGB($0, gamma: gamma)
        }
        #expect(error <= 8)
    }

    @Test(arguments: curves)
    func `every kind of curve is followed`(curve: Curve) throws {
        let picture = Pictures.busy(width: 150, height: 100, format: .u16)
        #expect(try worst(picture, curve.profile) { TruePrimaries.sRGB.inSRGB(light: $0.map(curve.light)) } <= 8)
    }

    @Test func `alpha keeps its bits`() throws {
        let picture = Pictures.busy(width: 150, height: 100, layout: .rgba, format: .u16)
        let profile = ImageMetadata(icc: Blob(ProfileBuilder.rgb(gamma: 1.75, .adobeRGB)))
        try workspace.save(picture, as: "png", to: "profiled", metadata: profile)
        let decoded = try workspace.load("profiled", color: .srgb).raster
        let alphas = { (raster: AnyRaster) in stride(from: 3, to: raster.values.count, by: 4).map { raster.values[$0] }
        }
        #expect(alphas(decoded) == alphas(picture))
    }

    @Test func `a profile with a damaged byte is read, or left to the colour library, or refused`() throws {
        let profile = ProfileBuilder.rgb(parametric: 4, Self.sRGB + [0, 0])
        let picture = Pictures.busy(width: 3, height: 2, format: .u16)
        for index in stride(from: 128, to: profile.count, by: 3) {
            var damaged = profile
            damaged[index] ^= 0xFF
            try workspace.save(picture, as: "png", to: "damaged", metadata: ImageMetadata(icc: Blob(damaged)))
            let raster = try? workspace.load("damaged", color: .srgb).raster  // a refusal is as good
            #expect(raster == nil || raster?.layout == .rgb)
        }
    }
}
