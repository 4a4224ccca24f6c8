import Catalogs
import Digests
import Filters
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

    @Test func `gaussian, rendering version 4`() throws {
        let digests = try [
            digest(.gaussian(4.2), .rgb, .u8), digest(.gaussian(4.2, ["light": .word("linear")]), .rgba, .u16),
            digest(.gaussian(x: 0.7, y: 11), .grayAlpha, .f32), digest(.gaussian(30), .rgb, .u16),
            digest(.gaussian(x: 4, y: 0), .rgb, .u8), digest(.gaussian(30), .rgb, .u8),
            digest(.gaussian(60), .rgb, .u8), digest(.gaussian(60), .rgba, .u8),
        ]
        #expect(
            digests == [
                "84b51630cc7f2561ee58ed3c4c000c06", "d61bb3c1d95031241b6c932df3a4da3d",
                "9b654924e736d07607cc7b7a283d9b1a", "689989e9c559b5324d7f7f63090b5869",
                "84bcd019146ac2841c46b3b0549230ec", "0cc86984edeb71b641d697f657428523",
                "6fc1b45d82c2243cd460253bc88a261d", "d717c114fd0d52b80b5e63a98c4fb081",
            ])
    }

    @Test func `motion, rendering version 4`() throws {
        #expect(try digest(.motion(40, 90), .rgb, .u8) == "742f69c5b1fe2770227f1950b2d8ec9f")
        #expect(
            try digest(.motion(9.7, 17.3, ["light": .word("linear")]), .rgba, .f32)
                == "3f5a96084f26a6062b14dd1052eaf27b")
        #expect(
            try digest(.motion(9.7, 17.3, ["samples": .word("continuous")]), .grayAlpha, .u16)
                == "435cbe28491f7d1cc6f7fa7d916a0302")
        let continuous: [String: ParameterValue] = ["samples": .word("continuous")]
        let lines = try [
            digest(.motion(23.4, 33, continuous), .rgb, .u8), digest(.motion(31, -71, continuous), .rgba, .u8),
            digest(.motion(20, 45, continuous), .gray, .u8),
        ]
        #expect(
            lines == [
                "2aae473b2691c5118b59163d0a77ab3d", "f51351e832462cf3bb303969bfbf6e02",
                "4f94602eb881cd708ca5dc9fee350463",
            ])
    }

    @Test func `box, rendering version 3`() throws {
        #expect(
            try digest(.family("box", .number(2)), .rgb, .u8)
                == "70778502295a6feb84084b1cee2ff166")
        #expect(
            try digest(.family("box", .number(7.3)), .rgb, .u8)
                == "d3af8d142620ebddadbd9d56b838540b")
        #expect(
            try digest(.family("box", .number(140)), .rgba, .u8)
                == "b85f936be381e988341718822b9c0551")
        #expect(
            try digest(.family("box", .pair(x: 9.5, y: 3)), .grayAlpha, .f32)
                == "98c03c58b9afaa554f3cfef8aed102d3")
        #expect(try digest(.family("box", .pair(x: 2.5, y: 7)), .rgb, .u16) == "8d77086be0816237ae43cdb213a320c7")
    }

    @Test func `disc, rendering version 2`() throws {
        #expect(
            try digest(.family("disc", .number(5)), .rgb, .u8)
                == "7054d4778bd48a5844538320457d738e")
        #expect(
            try digest(.family("disc", .number(8.7)), .rgba, .u8)
                == "a183f656c84cf763e63b2713c279812b")
        #expect(
            try digest(.family("disc", .number(3.3)), .grayAlpha, .u16)
                == "df80c915b30bca5a49f6bb8485d2e5e2")
    }

    @Test func `sharpen, rendering version 4`() throws {
        #expect(
            try digest(.family("sharpen", .number(1)), .rgb, .u8)
                == "51e9b732dccc6fe82245f23db7894e1e")
        #expect(
            try digest(.family("sharpen", .number(6)), .rgba, .u8)
                == "836d9a6c82f8fcc913b7f77952337dd2")
        let large = try digest(.family("sharpen", .number(60)), .rgb, .u8)
        #expect(large == "30e285293c14e4d57073e026b38de20c")
        let opaque = try digest(.family("sharpen", .number(2), ["threshold": .number(3)]), .rgb, .f32)
        #expect(opaque == "6928505968f6a0bc2b936afd1434e648")
        let translucent = try [SampleFormat.u8, .f32].map {
            try digest(.family("sharpen", .number(2), ["threshold": .number(3)]), .rgba, $0)
        }
        #expect(translucent == ["0e58ca6f24ed3d85428c0c582a165c26", "3369ba12ea6bdecdff65a97dca8bd4eb"])
    }

    @Test func `median, rendering version 2`() throws {
        #expect(
            try digest(.family("median", .integer(2)), .rgb, .u8)
                == "78868e308a70f62c017828997dd6635f")
        #expect(
            try digest(.family("median", .integer(5)), .rgba, .u8)
                == "b38207539adea031cd7f7bce2f6cd92a")
        #expect(
            try digest(.family("median", .integer(4)), .grayAlpha, .f32)
                == "880a77695cd1252bf7c551104d3e6ce3")
    }

    @Test func `zoom, rendering version 3`() throws {
        let digests = try [
            digest(.zoom(20), .rgb, .u8), digest(.zoom(-150, ["light": .word("linear")]), .rgba, .u16),
            digest(.zoom(170), .grayAlpha, .f32),
        ]
        #expect(
            digests == [
                "84ddff03c1476e3952c127a5640eec71", "a90235cdbee4a527206bc547a812f251",
                "9da321eba3138aa0177792b87a4f0e7d",
            ])
    }

    @Test func `spin, rendering version 4`() throws {
        let digests = try [
            digest(.spin(10), .rgb, .u8), digest(.spin(75), .rgb, .u8), digest(.spin(130), .rgba, .u16),
            digest(.spin(90, ["light": .word("linear")]), .rgba, .u16), digest(.spin(360), .grayAlpha, .f32),
        ]
        #expect(
            digests == [
                "db81429f4be48206e109feb16c67467f", "969bbcf91b3c829a568a0a9b10359923",
                "3f3069c16f1995913f5e7b3b4b417b1b", "f6f574d58217d6b6baf1c98995e60bd3",
                "974fee7661023ee8b50bb1fc629b7330",
            ])
    }

    @Test func `bilateral, rendering version 3`() throws {
        let bilateral = FilterInvocation(filter: "bilateral", values: ["radius": .number(2.5)])
        #expect(try digest(bilateral, .rgb, .u8) == "4e6807a4b0a1e0b61b286dcf604cc38a")
        #expect(try digest(bilateral, .rgba, .u16) == "c8e47fd387d1e473e8cfbf71e45b085c")
        #expect(try digest(bilateral, .grayAlpha, .f32) == "1189203b1bf88225bba1d014217925ee")
        let grid = FilterInvocation(filter: "bilateral", values: ["radius": .number(5)])
        #expect(try digest(grid, .gray, .u8) == "79ef0fff82c6590b254f81c342b15588")
        #expect(try digest(grid, .gray, .u16) == "675bc7b1cd77843b87a78d8df4476e5c")
    }

    @Test func `variable, rendering version 3`() throws {
        var mask = GrayPicture(width: Self.rect.width, height: Self.rect.height)
        mask.paste(Pattern.noise.picture(Self.rect, .gray, .u8, seed: 2))
        let registry = FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { [mask] _, _ in mask }, layer: { _, _ in throw UnreadableLayer() }))
        let invocation = FilterInvocation(
            filter: "variable",
            values: ["radius": .number(9), "mask": .picture(PictureReference(path: "/mask.png"))])
        for (layout, format, digest) in [
            (PixelLayout.rgb, SampleFormat.u8, "a093a43f35ef0b417fad5c51f34e9f63"),
            (.rgba, .u16, "18edb90c4ddac97a8490942d544d32c1"),
        ] {
            let chain = try Chain([invocation], registry: registry)
            let picture = Pattern.noise.picture(Self.rect, layout, format)
            let result = try chain.render(Self.rect, from: picture)
            #expect(result.withBytes { Digest(of: $0) }.description == digest)
        }
    }

    @Test func `lens-blur, rendering version 1`() throws {
        func lens(_ values: [String: ParameterValue]) -> FilterInvocation {
            FilterInvocation(filter: "lens-blur", values: values.merging(["radius": .number(7)]) { $1 })
        }
        let digests = try [
            digest(lens([:]), .rgb, .u8),
            digest(lens(["blades": .integer(5), "curvature": .number(30), "gain": .number(4)]), .rgba, .u16),
        ]
        #expect(digests == ["53ce10296359615ac9ed755c972272c2", "02c089af64e6e5773d610223c2c06ce2"])
        var depth = GrayPicture(width: Self.rect.width, height: Self.rect.height)
        depth.paste(Pattern.photograph.picture(Self.rect, .gray, .u8, seed: 2))
        let registry = FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { [depth] _, _ in depth }, layer: { _, _ in throw UnreadableLayer() }))
        let layered = lens(["depth": .picture(PictureReference(path: "/depth.png")), "gain": .number(3)])
        let chain = try Chain([layered], registry: registry)
        let result = try chain.render(Self.rect, from: Pattern.noise.picture(Self.rect, .rgb, .u8))
        #expect(result.withBytes { Digest(of: $0) }.description == "54bdf337698e8628e5ae4248dba7089e")
    }

    @Test(arguments: [
        (
            "levels", ["gamma": ParameterValue.number(1.7), "black": .number(9)],
            ["d16dd34fe0d43135b84eef3e5a4c33c5", "e5aea09a8beb558a30993d993484bfca"]
        ),
        ("hue", ["angle": .number(77)], ["3de13bf97ed56bffa1bedaf501904ffa", "4446dba5096ef3989549e44d4c58cff9"]),
        (
            "white-balance", ["neutral": .color(red: 200, green: 180, blue: 150, alpha: 255)],
            ["74f98cbe6e2864e50c24e80fd5d69de1", "68f1b84ff8efb4ae7232c301c554dc76"]
        ),
        (
            "tone-map", ["exposure": .number(2), "peak": .number(900)],
            ["374966f85f33b3af1c802b6743a0d1f5", "78806301379974df07b3a7d486e0164f"]
        ),
    ])
    func `colours, rendering version 1`(filter: String, values: [String: ParameterValue], digests: [String]) throws {
        let invocation = FilterInvocation(filter: filter, values: values)
        let found = try [digest(invocation, .rgb, .u8), digest(invocation, .rgba, .f32)]
        #expect(found == digests)
    }

    @Test(arguments: [
        (
            "shadows-highlights",
            ["shadows": ParameterValue.number(70), "highlights": .number(-50), "radius": .number(5)],
            ["0252035fd0ee238cea86ce759aa9e1d5", "e09504eb49fcdff04013dffeff54d1c1"]
        ),
        (
            "clarity", ["amount": .number(80), "radius": .number(4)],
            ["055580915a853605528a75bbdc6d6ae9", "8d635b41a65ea3cd73b7b1e0f51474ec"]
        ),
    ])
    func `local tones, rendering version 2`(filter: String, values: [String: ParameterValue], digests: [String]) throws
    {
        let invocation = FilterInvocation(filter: filter, values: values)
        let found = try [digest(invocation, .rgb, .u8), digest(invocation, .rgba, .f32)]
        #expect(found == digests)
    }

    @Test func `straighten and perspective, rendering version 2`() throws {
        func digest(_ invocation: FilterInvocation, _ format: SampleFormat) throws -> String {
            let picture = Pattern.noise.picture(Self.rect, .rgb, format)
            let chain = try Chain([invocation], registry: .builtIn)
            let output = chain.plan(input: Self.rect, layout: .rgb).output
            return try chain.render(output, from: picture).withBytes { Digest(of: $0) }.description
        }
        let corners = [(5, 9), (90, 4), (97, 95), (2, 88)].map {
            Point(x: .percent(Double($0.0)), y: .percent(Double($0.1)))
        }
        let straighten = FilterInvocation(filter: "straighten", values: ["angle": .number(4)])
        let perspective = FilterInvocation(
            filter: "perspective", values: ["corners": .path(corners), "kernel": .word("lanczos3")])
        let words = try [digest(straighten, .u16), digest(perspective, .u16)]
        #expect(words == ["09ed278d896c7832865f27b53fdb94dc", "b4c0d8c46a1b4990a32bca976c861a76"])
        let bytes = try [digest(straighten, .u8), digest(perspective, .u8)]
        #expect(bytes == ["190172d0976e51260820ea651206bcb3", "8bb2d24e30fe5fb4ecc2490ebc3c06bd"])
    }
}
