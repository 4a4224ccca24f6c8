import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// By which curve the pixels of a file become linear light: that of the profile that they are to be read with.
@Suite struct ProfileCurveTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func curves(_ profile: [UInt8]?, layout: PixelLayout = .rgb, color: ColorPolicy = .keep) throws
        -> [ToneCurve]
    {
        let picture = Pictures.busy(layout: layout)
        try workspace.save(picture, as: "png", to: "picture", metadata: ImageMetadata(icc: profile.map(Blob.init)))
        return try ImageDecoder(path: workspace.path("picture"), limits: .roomy, color: color).curve.curves
    }

    private func worst(_ curve: ToneCurve, _ truth: (Double) -> Double) -> Double {
        (0...1000).map { abs(min(1, curve.decode(Double($0) / 1000)) - truth(Double($0) / 1000)) }.max() ?? 1
    }

    @Test(arguments: MatrixProfileTests.curves)
    func `every kind of curve is taken from the profile`(curve: MatrixProfileTests.Curve) throws {
        let curves = try curves(curve.profile)
        #expect(curves.count == 1)
        #expect(worst(curves[0]) { curve.light($0) } <= (curve.isSRGB ? 1e-4 : 1e-5))
    }

    @Test func `each channel has its own`() throws {
        let curves = try curves(ProfileBuilder.rgb(gammas: [1.75, 2, 2.25]))
        for (curve, gamma) in zip(curves, [1.75, 2, 2.25]) { #expect(worst(curve) { pow($0, gamma) } < 1e-12) }
        #expect(curves.count == 3)
    }

    @Test func `gray has the curve of gray`() throws {
        let curves = try curves(ProfileBuilder.gray(gamma: 1.5), layout: .gray)
        #expect(curves.count == 1)
        #expect(worst(curves[0]) { pow($0, 1.5) } < 1e-12)
    }

    @Test func `profiles that say sRGB's curve in their own digits mean sRGB's`() throws {
        let table = (0...1023).map { trueLinear(Double($0) / 1023) }
        #expect(try curves(ProfileBuilder.rgb(table: table)) == [.sRGB])
        let parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        #expect(try curves(ProfileBuilder.rgb(parametric: 3, parameters)) == [.sRGB])
    }

    @Test func `a picture without a profile, and one that was converted, has sRGB's`() throws {
        #expect(try curves(nil) == [.sRGB])
        #expect(try curves(ProfileBuilder.rgb(gamma: 1.8), color: .srgb) == [.sRGB])
    }

    @Test func `a curve that falls or stays is not taken, but sRGB's`() throws {
        #expect(try curves(ProfileBuilder.rgb(table: [1, 0])) == [.sRGB])
        #expect(try curves(ProfileBuilder.rgb(table: [0.5, 0.5, 0.5])) == [.sRGB])
    }

    @Test func `a profile of tables alone has no curve of its own`() {
        #expect(TransferCurve(profile: ProfileBuilder.invertedBlack()).curves == [.sRGB])
        #expect(TransferCurve(profile: [1, 2, 3]).curves == [.sRGB])
    }
}
