import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// TIFF files of floats that libvips does not read, or not as ours.
@Suite struct FloatTIFFTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// What is stored: exact in every size, with values below 0 and above 1, and the smallest numbers of 16 bits.
    private func value(_ index: Int) -> Float {
        index % 7 == 0 ? Float(index % 1000) / 16_777_216 : Float(index % 2048) / 1024 - 0.5
    }

    private func half(_ value: Float) -> [UInt8] {
        let bits = Float16(value).bitPattern
        return [UInt8(bits & 255), UInt8(bits >> 8)]
    }

    private func double(_ value: Float) -> [UInt8] {
        withUnsafeBytes(of: Double(value).bitPattern.littleEndian) { Array($0) }
    }

    private func builder(_ bits: Int, samples: Int, width: Int = 40, height: Int = 100) -> TIFFBuilder {
        let data = (0..<width * height * samples).flatMap { bits == 16 ? half(value($0)) : double(value($0)) }
        var builder = TIFFBuilder(width: width, height: height, data: data)
        builder.samplesPerPixel = samples
        builder.bitsPerSample = bits
        builder.kind = .float
        builder.photometric = samples < 3 ? .blackIsZero : .rgb
        builder.alpha = samples == 2 || samples == 4 ? 2 : nil
        return builder
    }

    @Test(arguments: [16, 64], [1, 2, 3, 4])
    func `floats of 16 and 64 bits are read as those of 32, from strips and from tiles`(
        bits: Int, samples: Int
    ) throws {
        for isTiled in [false, true] { try expectValues(bits, samples, isTiled) }
    }

    private func expectValues(_ bits: Int, _ samples: Int, _ isTiled: Bool) throws {
        var builder = builder(bits, samples: samples)
        builder.tileSize = isTiled ? 32 : nil
        _ = try workspace.write(builder.build(), to: "floats.tif")
        let read = try workspace.load("floats.tif")
        #expect(read.raster.format == .f32 && read.raster.layout.channels == samples)
        let expected = (0..<40 * 100 * samples).map { Double(value($0)) }
        #expect(read.raster.values == expected)
    }

    @Test(arguments: [16, 64])
    func `parts, turned pictures and further pages are the same`(bits: Int) throws {
        var builder = builder(bits, samples: 3)
        builder.pages = 3
        _ = try workspace.write(builder.build(), to: "floats.tif")
        let whole = try workspace.load("floats.tif").raster
        let rects = [PixelRect(x: 3, y: 50, width: 20, height: 41), PixelRect(x: 0, y: 7, width: 40, height: 2)]
        let parts = try ImageDecoder(path: workspace.path("floats.tif"), limits: .roomy, color: .keep).readRegions(
            rects)
        for (part, rect) in zip(parts, rects) { #expect(part == whole.cropped(to: rect)) }
        let last = try ImageDecoder(path: workspace.path("floats.tif"), limits: .roomy, color: .keep, pages: .page(2))
        try last.readRows(bandHeight: 100) { #expect($0 == whole) }
        builder.orientation = 6
        _ = try workspace.write(builder.build(), to: "turned.tif")
        let turned = try workspace.load("turned.tif")
        #expect(turned.raster.rect.width == 100 && turned.raster.format == .f32)
        #expect(turned.raster.values.sorted() == whole.values.sorted())
    }

    private func page(_ number: Int) throws -> AnyRaster {
        let decoder = try ImageDecoder(
            path: workspace.path("mixed.tif"), limits: .roomy, color: .keep, pages: .page(number))
        var raster: AnyRaster?
        try decoder.readRows(bandHeight: decoder.header.height) { raster = $0 }
        return try #require(raster)
    }

    @Test(arguments: [16, 64])
    func `pages with samples of other kinds are what they are`(bits: Int) throws {
        let floats = builder(bits, samples: 1)
        let numbers = (0..<40 * 100).map { UInt16($0) }
        let whole = TIFFBuilder(
            width: 40, height: 100, bitsPerSample: 16, data: numbers.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        let half = builder(16, samples: 1)
        let expected = (0..<40 * 100).map { Double(value($0)) }
        for isFirst in [true, false] {
            var first = isFirst ? floats : whole
            first.others = [isFirst ? whole : floats, half]
            _ = try workspace.write(first.build(), to: "mixed.tif")
            let (found, plain) = (try page(isFirst ? 0 : 1), try page(isFirst ? 1 : 0))
            #expect(found.format == .f32 && found.values == expected)
            #expect(plain.format == .u16 && plain.values == numbers.map { Double($0) / 65535 })
            #expect(try page(2).values == expected)
            #expect(try workspace.load("mixed.tif").raster == (isFirst ? found : plain))
        }
    }

    @Test func `a page of 32-bit integers is refused, also beside one of 64-bit floats`() throws {
        var integers = builder(64, samples: 4)
        integers.kind = .unsigned
        integers.bitsPerSample = 32
        integers.others = [builder(64, samples: 4)]
        _ = try workspace.write(integers.build(), to: "mixed.tif")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("mixed.tif") }
        #expect(
            error?.description
                == "\(workspace.path("mixed.tif")): TIFF with 32-bit integer samples, which Penumbra does not read")
        #expect(try page(1).values == (0..<40 * 100 * 4).map { Double(value($0)) })
    }

    @Test func `every number of 16 bits is what the processor takes it for`() throws {
        let numbers = (0...UInt16.max).filter { Float16(bitPattern: $0).isFinite }
        let data = numbers.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        var builder = TIFFBuilder(width: numbers.count, height: 1, bitsPerSample: 16, data: data)
        builder.kind = .float
        _ = try workspace.write(builder.build(), to: "all.tif")
        #expect(try workspace.load("all.tif").raster.values == numbers.map { Double(Float16(bitPattern: $0)) })
    }

    @Test func `the nearest float stands for each of 64 bits, whatever comes first in the file`() throws {
        let numbers = [0.1, -1 / 3.0, 1e-30, 0, 3e38, .leastNonzeroMagnitude, 1e300, -2.5, 0x1.000001p0, 0x1.0000011p0]
        for isBig in [false, true] {
            let data = numbers.flatMap { number in
                withUnsafeBytes(of: isBig ? number.bitPattern.bigEndian : number.bitPattern.littleEndian) { Array($0) }
            }
            var builder = TIFFBuilder(width: numbers.count, height: 1, bitsPerSample: 64, data: data)
            builder.kind = .float
            builder.isBigEndian = isBig
            _ = try workspace.write(builder.build(), to: "doubles.tif")
            let values = try workspace.load("doubles.tif").raster.values
            #expect(values == numbers.map { Double(Float($0)) })
        }
    }

    @Test func `what cannot be read so is refused with what to do`() throws {
        var multiplied = builder(16, samples: 4)
        multiplied.alpha = 1
        var inverted = builder(16, samples: 1)
        inverted.photometric = .whiteIsZero
        for (builder, words) in [
            (multiplied, "TIFF with floating-point samples that are multiplied by alpha, which Penumbra does not read"),
            (
                inverted,
                "TIFF with 16-bit floating-point samples that are neither RGB nor gray, which Penumbra does not read; "
                    + "store it in 32 bits"
            ),
        ] {
            _ = try workspace.write(builder.build(), to: "refused.tif")
            let error = #expect(throws: ImageFileError.self) { try workspace.load("refused.tif") }
            #expect(error?.description == "\(workspace.path("refused.tif")): \(words)")
        }
    }
}
