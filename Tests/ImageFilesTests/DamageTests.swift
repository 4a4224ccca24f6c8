import Catalogs
import Foundation
import Geometry
import Glibc
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Files that must be errors, and what the errors say.
@Suite struct DamageTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func failure(_ name: String, limits: DecodeLimits = .roomy) -> ImageFileError? {
        #expect(throws: ImageFileError.self) { try workspace.load(name, limits: limits) }
    }

    // MARK: Files that are no pictures

    @Test func `a file that is missing`() throws {
        let error = failure("nothing.jpg")
        #expect(error?.description == workspace.path("nothing.jpg") + ": no such file")
        #expect(error?.kind == .missing)
    }

    @Test func `an empty file`() throws {
        let path = try workspace.write([], to: "empty.jpg")
        let error = failure("empty.jpg")
        #expect(error?.description == "\(path): empty file")
        #expect(error?.kind == .data)
    }

    @Test func `a folder`() throws {
        let folder = workspace.folder.appending(path: "folder.jpg")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        #expect(failure("folder.jpg")?.description == workspace.path("folder.jpg") + ": not a file")
    }

    @Test(arguments: ["notes, not pixels", "x", "RIFF", "GIF88a and more", "<html><p>not found</p></html>"])
    func `content that is of no known format`(content: String) throws {
        let path = try workspace.write(Array(content.utf8), to: "notes.jpg")
        let error = failure("notes.jpg")
        #expect(error?.description == "\(path): not a picture that Penumbra reads ('penumbra formats' lists them)")
        #expect(error?.kind == .data)
    }

    @Test func `a file that may not be read`() {
        let error = ImageFileError(path: "photos/x.jpg", .permission(.open))
        #expect(error.description == "photos/x.jpg: may not be opened (permission denied)")
        #expect(error.kind == .permission)
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, EBADF])
    func `what a process lacks is no fault of the picture or the disk`(code: Int32) {
        #expect(ImageFileError(path: "photos/x.jpg", opening: code).kind == .process)
        #expect(ImageFileError(path: "photos/x.jpg", .system(.create, errno: code)).kind == .process)
        #expect(ImageFileError(path: "photos/x.jpg", .system(.turn, errno: code)).kind == .process)
    }

    @Test(arguments: [EIO, ESTALE, ETIMEDOUT, EHOSTDOWN, ENOTCONN])
    func `what a disk or a server does not give is trouble of that file, and no damage of it`(code: Int32) {
        for error in [
            ImageFileError(path: "photos/x.jpg", opening: code), ImageFileError(path: "photos/x.jpg", reading: code),
        ] { #expect(error.kind == .unreadable) }
        #expect(
            ImageFileError(path: "photos/x.jpg", reading: EIO).description
                == "photos/x.jpg: cannot be read: input/output error")
    }

    @Test(arguments: [EIO, ESTALE, ENOSPC, EROFS])
    func `a disk that does not take what is written is no place for any picture`(code: Int32) {
        #expect(ImageFileError(path: "out/x.jpg", .system(.create, errno: code)).kind == .storage)
        #expect(ImageFileError(path: "out/x.jpg", .system(.write, errno: code)).kind == .storage)
    }

    // MARK: Size

    @Test func `more pixels than are allowed, known from the header`() throws {
        let png = PNGBuilder(width: 100_000, height: 100_000, colorType: .gray, data: [])
        let path = try workspace.write(png.head + png.chunk("IDAT", [0x78, 0x01]), to: "huge.png")
        let error = failure("huge.png", limits: DecodeLimits(maxPixels: 2_000_000_000))
        #expect(
            error?.description == """
                \(path): 100000 × 100000 pixels are more than max_pixels: 2000M; raise it if the picture \
                is meant
                """)
        #expect(error?.kind == .limit)
    }

    @Test func `exactly as many pixels as are allowed`() throws {
        try workspace.save(Pictures.busy(width: 20, height: 10), as: "png", to: "picture")
        #expect(try workspace.load("picture", limits: DecodeLimits(maxPixels: 200)).header.width == 20)
        #expect(failure("picture", limits: DecodeLimits(maxPixels: 199))?.kind == .limit)
    }

    // MARK: Truncation

    @Test(arguments: ["jpeg", "png", "webp", "tiff"], [10, 50, 90, 99])
    func `a truncated file`(format: String, percent: Int) throws {
        try workspace.save(Pictures.busy(width: 200, height: 300), as: format, to: "whole")
        let bytes = try workspace.bytes("whole")
        _ = try workspace.write(Array(bytes.prefix(bytes.count * percent / 100)), to: "part")
        #expect(failure("part")?.kind == .data)
    }

    @Test(arguments: ["jpeg", "png"])
    func `a truncated file of the kind that is decoded whole`(format: String) throws {
        let picture = Pictures.busy(width: 90, height: 80)
        if format == "jpeg" {
            try workspace.save(picture, as: "jpeg", to: "whole", save: .init(values: ["progressive": .boolean(true)]))
        } else {
            let png = PNGBuilder(width: 90, height: 80, colorType: .rgb, data: picture.bytes, isInterlaced: true)
            _ = try workspace.write(png.build(), to: "whole")
        }
        let bytes = try workspace.bytes("whole")
        for percent in [30, 60, 95] {
            _ = try workspace.write(Array(bytes.prefix(bytes.count * percent / 100)), to: "part")
            #expect(failure("part")?.kind == .data)
        }
    }

    @Test func `a truncated file that is turned`() throws {
        let tiff = TIFFBuilder(
            width: 50, height: 40, samplesPerPixel: 3, photometric: .rgb, orientation: 6,
            data: Pictures.busy(width: 50, height: 40).bytes)
        // This writer puts the directory last, so damage is made by cutting a strip's length short of the pixels.
        var bytes = tiff.build()
        bytes.removeSubrange(2000..<4000)
        _ = try workspace.write(bytes, to: "turned")
        #expect(failure("turned")?.kind == .data)
    }

    @Test func `what is said of a truncated file`() throws {
        try workspace.save(Pictures.busy(width: 300, height: 3000), as: "jpeg", to: "whole")
        let bytes = try workspace.bytes("whole")
        let path = try workspace.write(Array(bytes.prefix(bytes.count * 2 / 5)), to: "part.jpg")
        guard case .broken(let format, let rows, let height, let detail)? = failure("part.jpg")?.problem else {
            Issue.record("a truncated JPEG is broken")
            return
        }
        #expect(format == "JPEG" && height == 3000 && !detail.isEmpty)
        #expect((1100...1210).contains(rows))
        let error = ImageFileError(
            path: path, .broken(format: "JPEG", rows: 1184, height: 3000, detail: "Premature end of input file"))
        #expect(
            error.description
                == "\(path): broken JPEG: only 1,184 of 3,000 rows could be read (Premature end of input file)")
    }

    @Test func `a GIF that is cut off anywhere but behind one of its frames is refused`() throws {
        let gif = GIFBuilder(width: 12, height: 10, frames: 4)
        let bytes = gif.build()
        for length in 10..<bytes.count {
            let path = try workspace.write(Array(bytes.prefix(length)), to: "part.gif")
            for pages in [PageChoice.animation, .first] {
                let decoder = { try ImageDecoder(path: path, limits: .roomy, color: .keep, pages: pages) }
                if gif.ends.contains(length) {
                    // Only the trailer is missing, as far as anybody can tell.
                    #expect(throws: Never.self) { _ = try decoder() }
                } else {
                    #expect(throws: ImageFileError.self, "\(length) of \(bytes.count)") { _ = try decoder() }
                }
            }
        }
    }

    @Test func `of a GIF that is cut off the last whole frame is told`() throws {
        let gif = GIFBuilder(width: 40, height: 40, frames: 3)
        let bytes = gif.build()
        let path = try workspace.write(Array(bytes.prefix(gif.ends[1] + 300)), to: "part.gif")
        #expect(failure("part.gif")?.description == "\(path): broken GIF: cut off behind frame 2")
        #expect(failure("part.gif")?.kind == .data)
        _ = try workspace.write(Array(bytes.prefix(gif.ends[0] - 300)), to: "part.gif")
        #expect(failure("part.gif")?.description == "\(path): broken GIF: cut off in its first frame")
    }

    /// How a line of three pixels (48 bytes) is stored, and the width that the header names.
    private static let shortLines: [(compression: UInt8, statedWidth: Int, line: [UInt8]?)] = [
        (0, 4, nil),
        // 24 bytes of 0: a run, and behind zlib's compression.
        (1, 3, [23, 0]),
        (2, 3, [120, 156, 99, 96, 192, 14, 0, 0, 24, 0, 1]),
    ]

    // OpenEXR would fill them with what is left in memory from earlier pictures.
    @Test(arguments: shortLines)
    func `an OpenEXR whose lines have fewer bytes than their pixels need is refused`(
        _ stored: (compression: UInt8, statedWidth: Int, line: [UInt8]?)
    ) throws {
        var builder = OpenEXRBuilder(
            width: 3, rgba: Array(repeating: [0, 0, 0, 1], count: 6), statedWidth: stored.statedWidth,
            compression: stored.compression
        ) { stored.line ?? $0 }
        // OpenEXR accepts any attribute of this name that is of another type.
        builder.typeOfChromaticities = "string"
        for odd in [[], [0.5]] as [[Float]] {
            builder.chromaticities = odd
            let path = try workspace.write(builder.build(), to: "short.exr")
            #expect(
                failure("short.exr")?.description
                    == "\(path): broken OpenEXR: line 0 has fewer bytes than its pixels need")
            #expect(failure("short.exr")?.kind == .data)
        }
    }

    @Test(arguments: [(1, [47, 0]), (2, [120, 156, 99, 96, 32, 13, 0, 0, 0, 48, 0, 1])] as [(UInt8, [UInt8])])
    func `compressed lines of an OpenEXR that have all of their bytes are no damage`(
        compression: UInt8, line: [UInt8]
    ) throws {
        let builder = OpenEXRBuilder(
            width: 3, rgba: Array(repeating: [0, 0, 0, 1], count: 6), compression: compression
        ) { _ in line }
        _ = try workspace.write(builder.build(), to: "whole.exr")
        #expect(try workspace.load("whole.exr").header.height == 2)
    }

    @Test func `an OpenEXR that states an absurd width is refused before it is decoded`() throws {
        let builder = OpenEXRBuilder(
            width: 3, rgba: Array(repeating: [0, 0, 0, 1], count: 6), statedWidth: 134_217_776)
        let path = try workspace.write(builder.build(), to: "wide.exr")
        #expect(
            failure("wide.exr")?.description
                == "\(path): broken OpenEXR: it states 134217776 × 2 pixels, and no side may have more than 10000000")
    }

    @Test func `an OpenEXR that was not written to its end is refused`() throws {
        var bytes = OpenEXRBuilder(width: 1, rgba: Array(repeating: [0, 0, 0, 1], count: 3)).build()
        // The table ends before the lines, of which each has 24 bytes.
        let second = bytes.count - 3 * 24 - 2 * 8
        bytes.replaceSubrange(second..<(second + 8), with: Array(repeating: 0, count: 8))
        let path = try workspace.write(bytes, to: "part.exr")
        #expect(failure("part.exr")?.description == "\(path): broken OpenEXR: its table has no place for line 1")
    }

    @Test func `bytes behind a GIF's trailer are no damage`() throws {
        _ = try workspace.write(
            GIFBuilder(width: 12, height: 10, frames: 2).build() + Array(repeating: 0x21, count: 9), to: "tail.gif")
        #expect(try workspace.load("tail.gif").header.pages == 2)
    }

    /// What is done to a file of three pages, and what is said of it then.
    private static let brokenChains:
        [(damage: @Sendable ([UInt8], _ last: Int, _ first: [UInt8]) -> [UInt8], words: String)] =
            [
                ({ bytes, _, _ in Array(bytes.dropLast(60)) }, "page 3 is cut off"),
                ({ bytes, _, _ in Array(bytes.dropLast(2)) }, "page 3 is cut off"),
                ({ bytes, last, _ in bytes.replacing(at: last, with: [0x70, 0x70, 0x70, 0x70]) }, "page 4 is cut off"),
                ({ bytes, last, first in bytes.replacing(at: last, with: first) }, "its pages run in a circle"),
                // A copy that was given its size before its bytes.
                (
                    { bytes, _, _ in bytes.replacing(at: bytes.count - 136, with: Array(repeating: 0, count: 136)) },
                    "page 3 is cut off"
                ),
            ]

    @Test(arguments: brokenChains.indices, [false, true])
    func `a TIFF whose pages cannot be followed to the last one is refused`(index: Int, isBigEndian: Bool) throws {
        let tiff = TIFFBuilder(
            width: 9, height: 8, data: Array(repeating: 77, count: 72), pages: 3, isBigEndian: isBigEndian)
        let bytes = tiff.build()
        let (damage, words) = Self.brokenChains[index]
        let path = try workspace.write(damage(bytes, bytes.count - 4, Array(bytes[4..<8])), to: "pages.tif")
        for pages in [PageChoice.first, .animation, .page(0), .page(2)] {
            let error = #expect(throws: ImageFileError.self) {
                _ = try ImageDecoder(path: path, limits: .roomy, color: .keep, pages: pages)
            }
            #expect(error?.description == "\(path): broken TIFF: \(words)")
            #expect(error?.kind == .data)
        }
    }

    @Test func `a TIFF whose writer forgot the pointer behind the last page is whole`() throws {
        let tiff = TIFFBuilder(width: 9, height: 8, data: Array(repeating: 77, count: 72), pages: 3)
        _ = try workspace.write(tiff.build().dropLast(4), to: "pages.tif")
        #expect(try workspace.load("pages.tif").header.pages == 3)
    }

    /// Otherwise a file of a few megabytes would have billions of entries.
    @Test func `a TIFF whose pages share their entries is looked through up to a limit`() throws {
        let (pages, length) = (2000, 12 * 4096)
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + Array(repeating: 0, count: 8 * pages + length + 8)
        for page in 0..<pages {
            // Each page begins eight bytes behind the one before, and the last one leads to the first.
            let (start, next) = (8 + 8 * page, 8 + 8 * ((page + 1) % pages))
            bytes[start + 1] = 0x10
            for index in 0..<4 { bytes[start + 2 + length + index] = UInt8(truncatingIfNeeded: next >> (8 * index)) }
        }
        _ = try workspace.write(bytes, to: "shared.tif")
        let error = try #require(failure("shared.tif"))
        #expect(error.kind == .data)
        #expect(!error.description.contains("its pages run in a circle"))
    }

    @Test func `a BigTIFF that leads to a page behind its end is refused`() throws {
        try workspace.save(
            Pictures.busy(width: 30, height: 20), as: "tiff", to: "big.tif",
            save: SaveOptions(metadata: .strip, values: ["bigtiff": .word("on")]))
        let bytes = try workspace.bytes("big.tif")
        func number(at offset: Int) -> Int { bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let directory = number(at: 8)
        let pointer = directory + 8 + 20 * number(at: directory)
        let targets: [(bytes: [UInt8], words: String)] = [
            (Array(repeating: 0xFF, count: 8), "page 1 is cut off"),
            (Array(repeating: 0x7F, count: 8), "page 2 is cut off"),
            (Array(bytes[8..<16]), "its pages run in a circle"),
        ]
        for target in targets {
            let path = try workspace.write(bytes.replacing(at: pointer, with: target.bytes), to: "big.tif")
            #expect(failure("big.tif")?.description == "\(path): broken TIFF: \(target.words)")
        }
    }

    /// Three pages of 9×8 pixels, each of which is one strip of 72 bytes.
    private func threePages(isBigEndian: Bool = false) -> TIFFBuilder {
        TIFFBuilder(width: 9, height: 8, data: Array(repeating: 77, count: 72), pages: 3, isBigEndian: isBigEndian)
    }

    @Test(arguments: [false, true], [2, 3])
    func `a TIFF with pixels of any page behind its end is refused`(isBigEndian: Bool, page: Int) throws {
        let bytes = threePages(isBigEndian: isBigEndian).build()
        let place = bytes.value(of: 273, page: page, isBigEndian)
        // The last strip that fits, and the first one that does not.
        _ = try workspace.write(
            bytes.replacing(at: place, with: .number(bytes.count - 72, isBigEndian)), to: "pages.tif")
        #expect(try workspace.load("pages.tif").header.pages == 3)
        let path = try workspace.write(
            bytes.replacing(at: place, with: .number(bytes.count - 71, isBigEndian)), to: "pages.tif")
        for pages in [PageChoice.first, .page(0), .page(page - 1)] {
            let error = #expect(throws: ImageFileError.self) {
                _ = try ImageDecoder(path: path, limits: .roomy, color: .keep, pages: pages)
            }
            #expect(error?.description == "\(path): broken TIFF: the pixels of page \(page) are cut off")
            #expect(error?.kind == .data)
        }
    }

    @Test(arguments: [0, 72, 90, 1 << 30])
    func `a wrong length of an uncompressed strip that is whole is no damage`(length: Int) throws {
        let bytes = threePages().build()
        let moved = bytes.replacing(at: bytes.value(of: 273, page: 2), with: .number(bytes.count - 72))
        _ = try workspace.write(
            moved.replacing(at: bytes.value(of: 279, page: 2), with: .number(length)), to: "pages.tif")
        #expect(try workspace.load("pages.tif").header.pages == 3)
    }

    @Test func `a TIFF whose list of strips lies behind its end is refused`() throws {
        let tiff = TIFFBuilder(
            width: 9, height: 8, data: Array(repeating: 77, count: 72), rowsPerStrip: 2, pages: 2)
        let bytes = tiff.build()
        let path = try workspace.write(
            bytes.replacing(at: bytes.value(of: 273, page: 2), with: .number(bytes.count - 15)), to: "pages.tif")
        #expect(failure("pages.tif")?.description == "\(path): broken TIFF: the pixels of page 2 are cut off")
    }

    @Test func `a tile without an offset and a length is empty, and one behind the end is damage`() throws {
        var page = TIFFBuilder(width: 9, height: 8, data: Array(repeating: 77, count: 72))
        page.tileSize = 16
        var tiff = page
        tiff.others = [page]
        let bytes = tiff.build()
        let sparse = bytes.replacing(at: bytes.value(of: 324, page: 2), with: .number(0))
        _ = try workspace.write(sparse.replacing(at: bytes.value(of: 325, page: 2), with: .number(0)), to: "tiles.tif")
        #expect(try workspace.load("tiles.tif").header.pages == 2)
        let path = try workspace.write(
            bytes.replacing(at: bytes.value(of: 324, page: 2), with: .number(bytes.count - 255)), to: "tiles.tif")
        #expect(failure("tiles.tif")?.description == "\(path): broken TIFF: the pixels of page 2 are cut off")
    }

    @Test func `a compressed BigTIFF with a strip behind its end is refused`() throws {
        try workspace.save(
            Pictures.busy(width: 30, height: 20), as: "tiff", to: "big.tif",
            save: SaveOptions(metadata: .strip, values: ["bigtiff": .word("on")]))
        let bytes = try workspace.bytes("big.tif")
        func number(at offset: Int) -> Int { bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let directory = number(at: 8)
        let row = try #require(
            (0..<number(at: directory)).map { directory + 8 + 20 * $0 }.first { bytes[$0] == 17 && bytes[$0 + 1] == 1 })
        let target = (0..<8).map { UInt8(truncatingIfNeeded: (bytes.count - 1) >> (8 * $0)) }
        let path = try workspace.write(
            bytes.replacing(at: row + 2, with: [16, 0]).replacing(at: row + 12, with: target), to: "big.tif")
        #expect(failure("big.tif")?.description == "\(path): broken TIFF: the pixels of page 1 are cut off")
    }

    @Test(arguments: ["png", "jpeg"])
    func `a file of a format without pages has one alone`(format: String) throws {
        try workspace.save(Pictures.busy(width: 20, height: 10), as: format, to: "picture")
        let path = workspace.path("picture")
        #expect(throws: Never.self) {
            _ = try ImageDecoder(path: path, limits: .roomy, color: .keep, pages: .page(0))
        }
        let error = #expect(throws: ImageFileError.self) {
            _ = try ImageDecoder(path: path, limits: .roomy, color: .keep, pages: .page(4))
        }
        #expect(error?.description == "\(path): broken \(format.uppercased()): it has no page 5")
        #expect(error?.kind == .data)
    }

    // MARK: Corruption

    @Test func `a PNG chunk with a wrong checksum`() throws {
        try workspace.save(Pictures.busy(width: 200, height: 300), as: "png", to: "whole")
        var bytes = try workspace.bytes("whole")
        bytes[bytes.count / 2] ^= 0x55
        _ = try workspace.write(bytes, to: "corrupt")
        #expect(failure("corrupt")?.kind == .data)
    }

    @Test(arguments: ["deflate", "lzw"])
    func `compressed TIFF data that make no sense`(compression: String) throws {
        let save = SaveOptions(values: ["compression": .word(compression)])
        try workspace.save(Pictures.busy(width: 200, height: 300), as: "tiff", to: "whole", save: save)
        var bytes = try workspace.bytes("whole")
        for index in bytes.count / 2..<bytes.count / 2 + 40 { bytes[index] = 0xFF }
        _ = try workspace.write(bytes, to: "corrupt")
        #expect(failure("corrupt")?.kind == .data)
    }

    /// Unlike deflate, zstd in a TIFF has no checksum, so what was changed within a frame may be read as other pixels.
    @Test func `a TIFF whose zstd data are no frames, or whose blocks are overwritten`() throws {
        let save = SaveOptions(values: ["compression": .word("zstd")])
        try workspace.save(Pictures.busy(width: 200, height: 300), as: "tiff", to: "whole", save: save)
        let bytes = try workspace.bytes("whole")
        let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        let frame = try #require((0..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == magic })
        for range in [frame..<frame + 4, frame + 8..<frame + 2000] {
            var corrupt = bytes
            for index in range { corrupt[index] = 0 }
            _ = try workspace.write(corrupt, to: "corrupt")
            #expect(failure("corrupt")?.kind == .data)
        }
    }

    /// Each of these gave gray or garbled rows and a mere warning, were warnings not errors.
    @Test(arguments: ["on", "off"], [0.2, 0.5, 0.8, 0.97, 0.99, 0.995])
    func `JPEG data that end before the rows do`(subsampling: String, part: Double) throws {
        let save = SaveOptions(values: ["subsampling": .word(subsampling)])
        try workspace.save(Pictures.busy(width: 200, height: 296), as: "jpeg", to: "whole", save: save)
        var bytes = try workspace.bytes("whole")
        bytes.replaceSubrange(Int(Double(bytes.count) * part)..<bytes.count, with: [0xFF, 0xD9])
        _ = try workspace.write(bytes, to: "corrupt")
        #expect(failure("corrupt")?.kind == .data)
    }

    @Test func `bytes behind a JPEG's last row are no damage`() throws {
        try workspace.save(Pictures.busy(), as: "jpeg", to: "whole")
        let bytes = try workspace.bytes("whole")
        let before = try workspace.load("whole").raster
        for tail: [UInt8] in [[0xFF, 0xD9, 1, 2, 3], [0, 0, 0, 0, 0xFF, 0xD9], [0xFF, 0xFF, 0xFF, 0xD9]] {
            _ = try workspace.write(bytes.dropLast(2) + tail, to: "tail")
            let isEqual = try workspace.load("tail").raster == before
            #expect(isEqual)
        }
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"])
    func `damage anywhere never crashes`(format: String) throws {
        try workspace.save(Pictures.busy(width: 60, height: 50), as: format, to: "whole")
        let bytes = try workspace.bytes("whole")
        var random = SplitMix(state: 7)
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<3 {
                damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try workspace.write(damaged, to: "damaged")
            do {
                _ = try workspace.load("damaged", limits: DecodeLimits(maxPixels: 1_000_000))
            } catch {
                #expect(error is ImageFileError)
            }
        }
    }

    // MARK: What Penumbra does not read

    @Test func `sample formats that there is no place for`() throws {
        let cases: [(bits: Int, kind: TIFFBuilder.SampleKind, feature: String)] = [
            (32, .unsigned, "32-bit integer samples"), (16, .signed, "signed samples"),
        ]
        for (bits, kind, feature) in cases {
            let data = [UInt8](repeating: 0, count: bits / 2)
            let tiff = TIFFBuilder(width: 2, height: 2, bitsPerSample: bits, kind: kind, data: data)
            let path = try workspace.write(tiff.build(), to: "odd.tif")
            #expect(failure("odd.tif")?.description == "\(path): TIFF with \(feature), which Penumbra does not read")
        }
    }

    @Test func `floats that are multiplied by alpha`() throws {
        let tiff = TIFFBuilder(
            width: 1, height: 1, samplesPerPixel: 2, bitsPerSample: 32, kind: .float, alpha: 1,
            data: [UInt8](repeating: 0, count: 8))
        let path = try workspace.write(tiff.build(), to: "float.tif")
        #expect(
            failure("float.tif")?.description
                == "\(path): TIFF with floating-point samples that are multiplied by alpha, "
                + "which Penumbra does not read")
    }

    @Test func `a TIFF whose first page is a preview`() throws {
        let path = try workspace.write(
            TIFFBuilder(width: 1, height: 1, data: [1], subfileType: 1).build(), to: "preview.tif")
        #expect(
            failure("preview.tif")?.description
                == "\(path): TIFF with a mere preview as its first page, which Penumbra does not read")
    }

    @Test func `more channels than there is a layout for`() throws {
        let tiff = TIFFBuilder(
            width: 1, height: 1, samplesPerPixel: 5, photometric: .rgb, data: [1, 2, 3, 4, 5])
        let path = try workspace.write(tiff.build(), to: "five.tif")
        #expect(failure("five.tif")?.description == "\(path): TIFF with 5 channels, which Penumbra does not read")
    }
}

extension [UInt8] {
    /// With other bytes in the place of as many.
    fileprivate func replacing(at offset: Int, with bytes: [UInt8]) -> [UInt8] {
        var result = self
        result.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return result
    }

    /// Of four bytes, as a TIFF has it.
    fileprivate static func number(_ value: Int, _ isBigEndian: Bool = false) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * (isBigEndian ? 3 - $0 : $0))) }
    }

    /// Where the value of an entry of a TIFF's page lies, or the offset of its values. The entry is there.
    fileprivate func value(of tag: Int, page: Int, _ isBigEndian: Bool = false) -> Int {
        func number(_ offset: Int, _ length: Int) -> Int {
            let digits = self[offset..<offset + length]
            return (isBigEndian ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        var place = number(4, 4)
        for _ in 1..<page { place = number(place + 2 + 12 * number(place, 2), 4) }
        var row = place + 2
        while number(row, 2) != tag { row += 12 }
        return row + 8
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
