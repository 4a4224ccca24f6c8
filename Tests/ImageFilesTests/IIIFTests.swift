import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Folders of the IIIF Image API at level 0.
@Suite struct IIIFTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    /// What `info.json` says.
    private struct Info: Decodable {
        struct Size: Decodable, Hashable {
            let width: Int
            let height: Int
        }
        struct Tiles: Decodable {
            let width: Int
            let scaleFactors: [Int]
        }
        let context: String
        let id: String
        let type: String
        let `protocol`: String
        let profile: String
        let width: Int
        let height: Int
        let maxWidth: Int?
        let sizes: [Size]?
        let tiles: [Tiles]

        enum CodingKeys: String, CodingKey {
            case context = "@context"
            case id, type, `protocol`, profile, width, height, maxWidth, sizes, tiles
        }
    }

    private static let values: [String: ParameterValue] = ["id": .text("https://example.org/iiif/a")]

    @discardableResult
    private func write(_ picture: AnyRaster, to name: String = "a", _ more: [String: ParameterValue] = [:]) throws
        -> Info
    {
        let values = Self.values.merging(more) { $1 }
        try workspace.save(picture, as: "iiif", to: name, save: SaveOptions(values: values))
        return try info(name)
    }

    private func info(_ name: String = "a") throws -> Info {
        try JSONDecoder().decode(Info.self, from: Data(workspace.bytes("\(name)/info.json")))
    }

    private func files(_ name: String = "a") throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: workspace.path(name))
        return Set(all.filter { $0.hasSuffix("default.jpg") || !$0.contains("/") && $0.hasSuffix(".json") })
    }

    /// The size of a picture in the folder.
    private func size(_ file: String) throws -> [Int] {
        let shape = try workspace.load("a/\(file)").header.shape
        return [shape.width, shape.height]
    }

    /// The files that `info.json` promises, with their sizes: those that a viewer asks for.
    private func promised(_ info: Info) -> [String: [Int]] {
        var files: [String: [Int]] = [:]
        for size in info.sizes ?? [] {
            files["full/\(size.width),\(size.height)/0/default.jpg"] = [size.width, size.height]
        }
        // The algorithm of the specification's implementation notes.
        for tiles in info.tiles {
            for factor in tiles.scaleFactors {
                let side = tiles.width * factor
                for top in stride(from: 0, to: info.height, by: side) {
                    for left in stride(from: 0, to: info.width, by: side) {
                        let (width, height) = (min(side, info.width - left), min(side, info.height - top))
                        let size = [(width + factor - 1) / factor, (height + factor - 1) / factor]
                        let isWhole = width == info.width && height == info.height
                        let region = isWhole ? "full" : "\(left),\(top),\(width),\(height)"
                        files["\(region)/\(size[0]),\(size[1])/0/default.jpg"] = size
                    }
                }
            }
        }
        return files
    }

    @Test(arguments: [(700, 400), (1, 1), (512, 512), (513, 1), (1, 700), (1025, 513), (130, 90)], [128, 512])
    func `every picture that the description promises is there in its size, and no other`(
        shape: (width: Int, height: Int), tile: Int
    ) throws {
        let info = try write(
            Pictures.smooth(width: shape.width, height: shape.height), ["tile_size": .integer(tile)])
        #expect(info.context == "http://iiif.io/api/image/3/context.json" && info.type == "ImageService3")
        #expect(info.protocol == "http://iiif.io/api/image" && info.profile == "level0")
        #expect(info.id == "https://example.org/iiif/a" && info.tiles[0].width == tile)
        #expect([info.width, info.height] == [shape.width, shape.height] && info.maxWidth == nil)
        let promised = promised(info)
        for (file, wanted) in promised { #expect(try size(file) == wanted, "\(file)") }
        #expect(try size("full/max/0/default.jpg") == [shape.width, shape.height])
        #expect(try files() == Set(promised.keys).union(["info.json", "full/max/0/default.jpg"]))
    }

    @Test(arguments: [(600, 600), (1024, 1001), (128, 501), (2000, 2000)])
    func `the largest whole picture has a limit, tiles have none`(limit: Int, longerSide: Int) throws {
        let info = try write(
            Pictures.smooth(width: 1001, height: 2001), ["max_size": .integer(limit), "tile_size": .integer(256)])
        // The halves of 2001 are 1001, 501, 251, 126. No whole picture is limited to less than a tile.
        let expected = limit >= 1001 ? 1001 : 501
        #expect(info.maxWidth == expected)
        #expect(try size("full/max/0/default.jpg") == [(expected + 1) / 2, expected])
        for (file, wanted) in promised(info) { #expect(try size(file) == wanted, "\(file)") }
        #expect(try size("0,0,256,256/256,256/0/default.jpg") == [256, 256])
    }

    @Test(arguments: [PixelLayout.gray, .rgb, .rgba, .grayAlpha], [SampleFormat.u8, .u16, .f32])
    func `pictures of all kinds are written`(layout: PixelLayout, format: SampleFormat) throws {
        try write(Pictures.smooth(width: 300, height: 200, layout: layout, format: format))
        let whole = try workspace.load("a/full/max/0/default.jpg").raster
        #expect(whole.layout == layout.removingAlpha)
        let expected = OutputConversion(
            from: layout, format, to: try workspace.requireFormat("iiif"), save: SaveOptions()
        ).convert(Pictures.smooth(width: 300, height: 200, layout: layout, format: format))
        #expect(whole.largestDifference(from: expected) < 0.03)
    }

    @Test func `tiles and whole pictures show what their names say`() throws {
        let picture = Pictures.smooth(width: 1000, height: 700)
        try write(picture, ["tile_size": .integer(256), "quality": .integer(100)])
        let tile = try workspace.load("a/256,512,256,188/256,188/0/default.jpg").raster
        let part = picture.cropped(to: PixelRect(x: 256, y: 512, width: 256, height: 188)).translated(x: -256, y: -512)
        #expect(tile.largestDifference(from: part) < 0.02)
        let half = try workspace.load("a/512,512,488,188/244,94/0/default.jpg").raster
        let values = half.values
        // A pixel of half the size is the mean of four.
        let (column, row) = (100, 50)
        var mean = 0.0
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            mean += picture.values[((512 + 2 * row + y) * 1000 + 512 + 2 * column + x) * 3]
        }
        #expect(abs(values[(row * 244 + column) * 3] - mean / 4) < 0.02)
    }

    @Test func `small whole pictures are as bright as the picture`() throws {
        // Every mean of two neighbours is half a step above a level.
        let picture = Pictures.picture(width: 2048, height: 2048, layout: .gray, format: .u8) { x, _, _ in
            Double(100 + x % 2) / 255
        }
        try write(picture, ["quality": .integer(100)])
        let small = try workspace.load("a/full/128,128/0/default.jpg").raster.values
        let mean: Double = small.reduce(0, +) / Double(small.count) * 255
        #expect(abs(mean - 100.5) <= 0.51)
    }

    @Test func `the same picture gives the same bytes`() throws {
        for name in ["a", "b"] { try write(Pictures.busy(width: 700, height: 600), to: name) }
        #expect(try files("a") == files("b"))
        for file in try files("a") { #expect(try workspace.bytes("a/\(file)") == workspace.bytes("b/\(file)")) }
    }

    @Test func `what the rows throw comes back as it is, and nothing stays`() throws {
        struct Trouble: Error, Equatable {}
        #expect(throws: Trouble()) {
            try ImageEncoder.write(
                to: workspace.path("a"), format: try workspace.requireFormat("iiif"),
                save: SaveOptions(values: Self.values),
                shape: ImageShape(width: 600, height: 900, layout: .rgb, sampleFormat: .u8), metadata: ImageMetadata()
            ) { rows in
                if rows.contains(700) { throw Trouble() }
                return AnyRaster(zeroed: PixelRect(columns: 0..<600, rows: rows), layout: .rgb, format: .u8)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: workspace.path("a")))
    }

    @Test func `a folder that is there is not touched, and the message names it`() throws {
        try FileManager.default.createDirectory(atPath: workspace.path("a"), withIntermediateDirectories: false)
        let error = #expect(throws: ImageFileError.self) { try write(Pictures.smooth()) }
        #expect(error?.description == "\(workspace.path("a")): cannot be created: file exists")
        #expect(FileManager.default.fileExists(atPath: workspace.path("a")))
    }

    @Test func `without an address nothing is written`() throws {
        let error = #expect(throws: ImageFileError.self) {
            try workspace.save(Pictures.smooth(), as: "iiif", to: "a")
        }
        #expect(error?.description == "\(workspace.path("a")): save.id has no such value for IIIF")
    }

    @Test func `the address is text in JSON, whatever it has`() throws {
        let info = try write(Pictures.smooth(), ["id": .text("https://e.org/\"\\\u{1}é")])
        #expect(info.id == "https://e.org/\"\\\u{1}é")
    }
}
