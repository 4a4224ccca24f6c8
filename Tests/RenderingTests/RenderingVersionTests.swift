import Catalogs
import Digests
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

/// The very bytes of some pictures. They are the same on every CPU and with every C library; when they change, the
/// filter's rendering version must change too, or outputs that are out of date count as fresh.
struct RenderingVersionTests {
    private static let rect = PixelRect(x: 0, y: 0, width: 67, height: 45)

    private func digest(
        _ invocation: FilterInvocation, _ layout: PixelLayout, _ format: SampleFormat
    ) throws -> String {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let chain = try Chain([invocation], registry: .builtIn)
        return try chain.render(Self.rect, from: picture).withBytes { Digest(of: $0) }.description
    }

    @Test func `gaussian, rendering version 1`() throws {
        #expect(try digest(.gaussian(4.2), .rgb, .u8) == "8cf35bdd0599e3722e61ed08ac2b11f3")
        #expect(
            try digest(.gaussian(4.2, ["light": .word("linear")]), .rgba, .u16)
                == "c1e692b3d6e7b6148865843e1eaba865")
        #expect(try digest(.gaussian(x: 0.7, y: 11), .grayAlpha, .f32) == "e01bcfc5f7b8457792ed8eafdbdef94a")
    }

    @Test func `motion, rendering version 1`() throws {
        #expect(try digest(.motion(40, 90), .rgb, .u8) == "742f69c5b1fe2770227f1950b2d8ec9f")
        #expect(
            try digest(.motion(9.7, 17.3, ["light": .word("linear")]), .rgba, .f32)
                == "9c67f495a8699f96932b7cc0a6c4b8f0")
        #expect(
            try digest(.motion(9.7, 17.3, ["samples": .word("continuous")]), .grayAlpha, .u16)
                == "07a2dacd95b82c92f09f9019ff1754c9")
    }
}
