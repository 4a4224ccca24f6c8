import Catalogs
import FileAccess
import Foundation
import Geometry
import Glibc
import Raster
import TestSupport
import Testing

struct CanvasTests {
    private let folder: TemporaryFolder
    private let rect = PixelRect(x: 0, y: 0, width: 37, height: 29)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func header(_ format: SampleFormat = .u8, _ layout: PixelLayout = .rgb) -> CanvasHeader {
        CanvasHeader(rect: rect, layout: layout, format: format)
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `what bands write, rectangles read`(format: SampleFormat, layout: PixelLayout) throws {
        let picture = Pattern.noise.picture(rect, layout, format)
        let path = folder.file("canvas")
        let canvas = try Canvas(creating: path, header: header(format, layout))
        for band in TileGrid(extent: rect, tileWidth: rect.width, tileHeight: 8).tiles {
            try canvas.write(picture.cropped(to: band))
        }
        try canvas.flush()
        let again = try Canvas(opening: path, header: header(format, layout))
        for tile in TileGrid(extent: rect, tileWidth: 16, tileHeight: 11).tiles {
            #expect(try again.read(tile) == picture.cropped(to: tile))
        }
        #expect(try again.read(rect) == picture)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).elementsEqual(picture.bytes))
    }

    @Test func `a canvas can be a file that was opened before, and is not removed when the disk is full`() throws {
        let path = folder.file("canvas")
        func opener() -> FileOpener {
            let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            return FileOpener(read: [:], created: [Array(path.utf8): .descriptor(file)], scratch: nil)
        }
        let picture = Pattern.noise.picture(rect)
        try Canvas(creating: path, header: header(), openedBy: opener()).write(picture)
        #expect(try Canvas(opening: path, header: header()).read(rect) == picture)
        let endless = CanvasHeader(
            rect: PixelRect(x: 0, y: 0, width: 1 << 30, height: 1 << 28), layout: .rgba, format: .f32)
        #expect(throws: CanvasError.self) { try Canvas(creating: path, header: endless, openedBy: opener()) }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func `rectangles can be written too`() throws {
        let picture = Pattern.noise.picture(rect)
        let canvas = try Canvas(creating: folder.file("canvas"), header: header())
        for tile in TileGrid(extent: rect, tileWidth: 10, tileHeight: 10).tiles {
            try canvas.write(picture.cropped(to: tile))
        }
        #expect(try canvas.read(rect) == picture)
    }

    @Test func `a canvas starts black, at any origin`() throws {
        let moved = CanvasHeader(rect: rect.translated(x: -9, y: -5), layout: .gray, format: .u16)
        let canvas = try Canvas(creating: folder.file("canvas"), header: moved)
        let corner = PixelRect(x: -9, y: -5, width: 2, height: 2)
        #expect(try canvas.read(corner).doubles == [0, 0, 0, 0])
        #expect(try canvas.read(PixelRect(x: -9, y: -5, width: 0, height: 2)).doubles.isEmpty)
    }

    @Test func `a place without room is an error when the canvas is made, and leaves no file`() throws {
        let path = folder.file("canvas")
        let huge = CanvasHeader(
            rect: PixelRect(x: 0, y: 0, width: 1 << 30, height: 1 << 28), layout: .rgba, format: .f32)
        #expect(throws: CanvasError(path: path, problem: .system(.allocate, code: EFBIG))) {
            try Canvas(creating: path, header: huge)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a canvas that is there already is never overwritten`() throws {
        let path = folder.file("canvas")
        _ = try Canvas(creating: path, header: header())
        let error = #expect(throws: CanvasError.self) { try Canvas(creating: path, header: header()) }
        #expect(error?.description == "cannot create the canvas \(path): File exists")
    }

    @Test func `a file of another size is no canvas of this picture`() throws {
        let path = folder.file("canvas")
        _ = try Canvas(creating: path, header: header())
        let error = #expect(throws: CanvasError.self) { try Canvas(opening: path, header: header(.u16)) }
        #expect(error?.description == "the canvas \(path) has 3219 bytes, but its picture has 6438")
    }

    @Test func `a file that shrinks while it is read is an error`() throws {
        let path = folder.file("canvas")
        let canvas = try Canvas(creating: path, header: header())
        #expect(truncate(path, 1000) == 0)
        #expect(throws: CanvasError(path: path, problem: .wrongSize(bytes: 1000, expected: 3219))) {
            try canvas.read(rect)
        }
    }

    @Test func `a canvas opened for reading refuses to be written`() throws {
        let path = folder.file("canvas")
        _ = try Canvas(creating: path, header: header())
        let canvas = try Canvas(opening: path, header: header())
        #expect(throws: CanvasError(path: path, problem: .system(.write, code: EBADF))) {
            try canvas.write(Pattern.noise.picture(rect))
        }
    }

    @Test func `a missing canvas is named`() {
        let error = #expect(throws: CanvasError.self) { try Canvas(opening: "/nowhere/canvas", header: header()) }
        #expect(error?.description == "cannot open the canvas /nowhere/canvas: No such file or directory")
    }

    @Test func `a header survives its JSON`() throws {
        let data = try JSONEncoder().encode(header(.f32, .rgba))
        #expect(try JSONDecoder().decode(CanvasHeader.self, from: data) == header(.f32, .rgba))
        #expect(header(.f32, .rgba).bytes == 37 * 29 * 16)
    }
}
