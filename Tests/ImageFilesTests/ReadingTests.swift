import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// Files of sorts that Penumbra reads but never writes.
@Suite struct ReadingTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    @Test func `one bit becomes gray`() throws {
        let builder = TIFFBuilder(width: 10, height: 2, bitsPerSample: 1, data: [0b1010_1010, 0b1000_0000, 0xFF, 0x40])
        _ = try workspace.write(builder.build(), to: "bits.tif")
        let decoded = try workspace.load("bits.tif")
        #expect(decoded.raster.layout == .gray && decoded.raster.format == .u8)
        #expect(
            decoded.raster.bytes == [255, 0, 255, 0, 255, 0, 255, 0, 255, 0] + [
                255, 255, 255, 255, 255, 255, 255, 255, 0, 255,
            ])
    }

    @Test func `white is zero is turned round`() throws {
        let builder = TIFFBuilder(width: 2, height: 1, photometric: .whiteIsZero, data: [0, 200])
        _ = try workspace.write(builder.build(), to: "white.tif")
        #expect(try workspace.load("white.tif").raster.bytes == [255, 55])
    }

    @Test func `a palette becomes RGB`() throws {
        let png = PNGBuilder(
            width: 3, height: 1, colorType: .palette, data: [2, 0, 1], palette: [1, 2, 3, 4, 5, 6, 7, 8, 9])
        _ = try workspace.write(png.build(), to: "palette.png")
        let decoded = try workspace.load("palette.png")
        #expect(decoded.raster.layout == .rgb)
        #expect(decoded.raster.bytes == [7, 8, 9, 1, 2, 3, 4, 5, 6])

        let map = [UInt16(0x0100), 0x0700, 0x0200, 0x0800, 0x0300, 0x0900] + []
        let tiff = TIFFBuilder(
            width: 2, height: 1, bitsPerSample: 8, photometric: .palette,
            colorMap: (0..<768).map { map[$0 / 256 * 2 + min($0 % 256, 1)] }, data: [1, 0])
        _ = try workspace.write(tiff.build(), to: "palette.tif")
        #expect(try workspace.load("palette.tif").raster.bytes == [7, 8, 9, 1, 2, 3])
    }

    @Test(arguments: [PNGBuilder.ColorType.gray, .grayAlpha, .rgb, .rgba], [UInt8(8), 16])
    func `PNG samples are read as they are, interlaced or not`(type: PNGBuilder.ColorType, depth: UInt8) throws {
        let layout: PixelLayout =
            switch type {
            case .gray, .palette: .gray
            case .grayAlpha: .grayAlpha
            case .rgb: .rgb
            case .rgba: .rgba
            }
        let picture = Pictures.busy(width: 19, height: 11, layout: layout, format: depth == 8 ? .u8 : .u16)
        for isInterlaced in [false, true] {
            let png = PNGBuilder(
                width: 19, height: 11, bitDepth: depth, colorType: type, data: picture.bigEndianBytes,
                isInterlaced: isInterlaced)
            _ = try workspace.write(png.build(), to: "picture.png")
            let isEqual = try workspace.load("picture.png").raster == picture
            #expect(isEqual)
        }
    }

    @Test func `floats are taken as they are`() throws {
        let picture = AnyRaster.f32(
            Raster(rect: .init(x: 0, y: 0, width: 3, height: 1), layout: .gray, samples: [-0.25, 0.5, 7]))
        let tiff = TIFFBuilder(width: 3, height: 1, bitsPerSample: 32, kind: .float, data: picture.bytes)
        _ = try workspace.write(tiff.build(), to: "float.tif")
        #expect(try workspace.load("float.tif").raster == picture)
    }

    @Test func `premultiplied alpha is divided out`() throws {
        let tiff = TIFFBuilder(
            width: 2, height: 1, samplesPerPixel: 4, photometric: .rgb, alpha: 1, data: [50, 25, 0, 127, 9, 9, 9, 255])
        _ = try workspace.write(tiff.build(), to: "premultiplied.tif")
        let bytes = try workspace.load("premultiplied.tif").raster.bytes
        #expect(abs(Int(bytes[0]) - 100) <= 1 && abs(Int(bytes[1]) - 50) <= 1)
        #expect(bytes[4...] == [9, 9, 9, 255])
    }

    @Test func `the first page is the picture`() throws {
        let tiff = TIFFBuilder(width: 2, height: 1, data: [3, 4], pages: 3)
        _ = try workspace.write(tiff.build(), to: "pages.tif")
        let decoded = try workspace.load("pages.tif")
        #expect(decoded.header.pages == 3)
        #expect(decoded.header.height == 1 && decoded.raster.bytes == [3, 4])
    }

    @Test func `the content decides, not the name`() throws {
        try workspace.save(Pictures.busy(), as: "png", to: "picture.jpg")
        #expect(try workspace.load("picture.jpg").header.formatName == "png")
    }

    @Test func `progressive JPEG gives the same pixels as baseline`() throws {
        let picture = Pictures.smooth(width: 120, height: 90)
        try workspace.save(picture, as: "jpeg", to: "baseline")
        try workspace.save(picture, as: "jpeg", to: "progressive", save: .init(values: ["progressive": .boolean(true)]))
        let isEqual = try workspace.load("baseline").raster == workspace.load("progressive").raster
        #expect(isEqual)
        let bytes = try workspace.bytes("progressive")
        #expect(bytes.firstRange(of: [0xFF, 0xC2]) != nil)
    }

    @Test(arguments: [1, 7, 16, 29, 500])
    func `bands cover every row once, whatever their height`(bandHeight: Int) throws {
        let picture = Pictures.busy()
        try workspace.save(picture, as: "png", to: "picture")
        let isEqual = try workspace.load("picture", bandHeight: bandHeight).raster == picture
        #expect(isEqual)
    }

    @Test func `what the body throws comes back and ends the reading`() throws {
        struct Enough: Error {}
        try workspace.save(Pictures.busy(), as: "png", to: "picture")
        let decoder = try ImageDecoder(path: workspace.path("picture"), limits: .roomy, color: .keep)
        var bands = 0
        #expect(throws: Enough.self) {
            try decoder.readRows(bandHeight: 4) { _ in
                bands += 1
                if bands == 2 { throw Enough() }
            }
        }
        #expect(bands == 2)
    }
}
