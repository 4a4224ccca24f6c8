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

    @Test func `gaussian, rendering version 2`() throws {
        #expect(try digest(.gaussian(4.2), .rgb, .u8) == "84b51630cc7f2561ee58ed3c4c000c06")
        #expect(
            try digest(.gaussian(4.2, ["light": .word("linear")]), .rgba, .u16)
                == "416ad184e1e6ac8e03304dd20b866e86")
        #expect(try digest(.gaussian(x: 0.7, y: 11), .grayAlpha, .f32) == "ee0cfa8ffdaadb0bf923f2242afca08b")
    }

    @Test func `motion, rendering version 2`() throws {
        #expect(try digest(.motion(40, 90), .rgb, .u8) == "742f69c5b1fe2770227f1950b2d8ec9f")
        #expect(
            try digest(.motion(9.7, 17.3, ["light": .word("linear")]), .rgba, .f32)
                == "3f5a96084f26a6062b14dd1052eaf27b")
        #expect(
            try digest(.motion(9.7, 17.3, ["samples": .word("continuous")]), .grayAlpha, .u16)
                == "435cbe28491f7d1cc6f7fa7d916a0302")
    }
}
