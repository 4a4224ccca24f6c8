import Catalogs
import ImageFiles
import JobModel
import Testing

/// What libraries wrote a file.
@Suite struct EncoderVersionsTests {
    @Test func `libraries are named by the files that are loaded, also by those that were removed since`() {
        let libraries = LoadedLibraries(
            maps: """
                7f00-7f01 r--p 00000000 fe:01 1234    /usr/lib/x86_64-linux-gnu/libjpeg.so.62.3.0
                7f01-7f02 r-xp 00001000 fe:01 1234    /usr/lib/x86_64-linux-gnu/libjpeg.so.62.3.0
                7f02-7f03 r--p 00000000 fe:01 1235    /usr/lib/x86_64-linux-gnu/libpng16.so.16.39.0 (deleted)
                7f03-7f04 r--p 00000000 fe:01 1236    /opt/my libs/libz.so
                7f04-7f05 r--p 00000000 fe:01 1237    /usr/lib/libwebpmux.so.3.0.10
                7f05-7f06 rw-p 00000000 00:00 0       [heap]
                """)
        #expect(libraries.described(["libpng", "libjpeg"]) == ["libpng16 16.39.0", "libjpeg 62.3.0"])
        #expect(libraries.described(["libz"]) == ["libz"])
        #expect(libraries.described(["libwebp", "libtiff"]) == [])
    }

    @Test(arguments: [
        ("jpeg", "libvips N, libjpeg N"), ("png", "libvips N, libpngN N, libz N"), ("webp", "libvips N, libwebp N"),
        ("tiff", "libvips N, libtiff N, libdeflate N, libz N"), ("ppm", "libvips N"), ("dzi", "libvips N, libjpeg N"),
        ("iiif", "libvips N, libjpeg N"),
        ("avif", "libvips N, libheif N, libaom N"),
    ])
    func `each format names its own libraries with their versions`(name: String, expected: String) throws {
        let format = try #require(ImageFormats.named(name))
        try VipsRuntime.prepare(format)
        let text = ImageEncoder.versions(of: format, save: SaveOptions())
        #expect(text.replacing(/[0-9]+(\.[0-9]+)*/, with: "N") == expected)
    }

    @Test func `libvips holds few rows between its steps`() throws {
        try VipsRuntime.start()
        #expect(VipsRuntime.hasLowBlocks)
    }

    @Test func `a TIFF names the library that its compression takes`() throws {
        let format = try #require(ImageFormats.named("tiff"))
        func text(_ compression: String) -> String {
            ImageEncoder.versions(of: format, save: SaveOptions(values: ["compression": .word(compression)]))
        }
        #expect(text("jpeg").contains("libjpeg") && !text("jpeg").contains("libz"))
        #expect(!text("none").contains("libdeflate"))
        #expect(text("zstd").contains("libzstd 1") && !text("zstd").contains("libdeflate"))
    }
}
