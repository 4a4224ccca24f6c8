import Catalogs
import Foundation
import Geometry
import ImageFiles
import Raster
import Testing

@Suite struct OrientationTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    @Test(arguments: 1...8, [SampleFormat.u8, .u16])
    func `pixels come upright whatever the tag`(tag: Int, format: SampleFormat) throws {
        let stored = Pictures.busy(width: 21, height: 13, layout: .rgb, format: format)
        try writeTIFF(stored, tag: tag)
        let decoded = try workspace.load("turned.tif", bandHeight: 4)
        let isUpright = decoded.raster == upright(stored, tag: tag)
        #expect(isUpright)
        #expect(decoded.header.orientation == tag)
        #expect(decoded.header.streams == (tag <= 2))
    }

    @Test func `a turned picture that is large goes through a scratch file`() throws {
        let stored = Pictures.busy(width: 300, height: 500)
        try writeTIFF(stored, tag: 6)
        let limits = DecodeLimits(maxPixels: .max, memoryBytes: 1000, scratchFolder: workspace.folder.path)
        let decoded = try workspace.load("turned.tif", bandHeight: 64, limits: limits)
        let isUpright = decoded.raster == upright(stored, tag: 6)
        #expect(isUpright)
    }

    @Test func `a scratch folder that is missing is said to be`() throws {
        try writeTIFF(Pictures.busy(), tag: 3)
        let limits = DecodeLimits(maxPixels: .max, memoryBytes: 0, scratchFolder: workspace.path("nowhere"))
        let error = #expect(throws: ImageFileError.self) { try workspace.load("turned.tif", limits: limits) }
        #expect(
            error?.description == workspace.path("turned.tif")
                + ": cannot be held whole to turn it upright: no such file or directory")
        #expect(error?.kind == .storage)
    }

    @Test(arguments: ["jpeg", "webp"])
    func `the tag is found in EXIF`(format: String) throws {
        let exif = ExifBuilder(main: [.short(0x0112, 6)]).build()
        try workspace.save(
            Pictures.smooth(width: 64, height: 48), as: format, to: "upright", metadata: ImageMetadata(exif: Blob(exif))
        )
        var bytes = try workspace.bytes("upright")
        let entry: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0]
        let index = try #require(bytes.firstRange(of: entry)).upperBound - 2
        bytes[index] = 6
        _ = try workspace.write(bytes, to: "turned")
        let upright = try workspace.load("upright")
        let turned = try workspace.load("turned")
        #expect(upright.header.orientation == 1)
        #expect(turned.header.orientation == 6)
        #expect(turned.header.width == 48 && turned.header.height == 64)
        let isTurned = turned.raster == self.upright(upright.raster, tag: 6)
        #expect(isTurned)
    }

    private func writeTIFF(_ picture: AnyRaster, tag: Int) throws {
        let builder = TIFFBuilder(
            width: picture.rect.width, height: picture.rect.height, samplesPerPixel: 3,
            bitsPerSample: picture.format.bytes * 8, photometric: .rgb, orientation: UInt16(tag),
            data: picture.bytes)
        _ = try workspace.write(builder.build(), to: "turned.tif")
    }

    /// What the EXIF standard says of each tag, pixel by pixel: where the file's first row and column lie as seen.
    private func upright(_ stored: AnyRaster, tag: Int) -> AnyRaster {
        let (w, h) = (stored.rect.width, stored.rect.height)
        let swaps = tag >= 5
        let rect = PixelRect(x: 0, y: 0, width: swaps ? h : w, height: swaps ? w : h)
        func source(_ x: Int, _ y: Int) -> (Int, Int) {
            switch tag {
            case 2: (w - 1 - x, y)
            case 3: (w - 1 - x, h - 1 - y)
            case 4: (x, h - 1 - y)
            case 5: (y, x)
            case 6: (y, h - 1 - x)
            case 7: (w - 1 - y, h - 1 - x)
            case 8: (w - 1 - y, x)
            default: (x, y)
            }
        }
        func turn<Sample: PixelSample>(_ raster: Raster<Sample>) -> AnyRaster {
            var result = Raster<Sample>(rect: rect, layout: raster.layout, repeating: Sample(rounding: 0))
            for y in rect.rows {
                for x in rect.columns {
                    let (sx, sy) = source(x, y)
                    for channel in 0..<raster.layout.channels {
                        result.samples[result.index(x: x, y: y) + channel] =
                            raster.samples[raster.index(x: sx, y: sy) + channel]
                    }
                }
            }
            return Sample.erase(result)
        }
        return switch stored {
        case .u8(let raster): turn(raster)
        case .u16(let raster): turn(raster)
        case .f32(let raster): turn(raster)
        }
    }
}
