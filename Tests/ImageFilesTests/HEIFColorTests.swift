import Catalogs
import Foundation
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// The colours of HEIF files with several pictures, with tiles, and with none but those of the coded picture.
@Suite(.enabled("this libvips writes AVIF") { try ImageFormats.descriptors().contains { $0.name == "avif" } })
struct HEIFColorTests {
    private let workspace: Workspace
    private let item: HEIFBuilder.Item

    init() throws {
        workspace = try Workspace()
        try workspace.save(Pictures.smooth(), as: "avif", to: "one", save: .init(values: ["quality": .integer(95)]))
        item = try #require(HEIFBuilder.Item(of: try workspace.bytes("one")))
    }

    private let sRGB = (1, 13)
    private let displayP3 = (12, 13)
    private let pq = (9, 16)

    private func picture(_ codes: (Int, Int)?) -> HEIFBuilder.Item {
        var result = item
        result.properties += codes.map { [HEIFBuilder.nclx($0.0, $0.1)] } ?? []
        return result
    }

    private func grid(_ codes: (Int, Int)?) -> HEIFBuilder.Item {
        let properties = [HEIFBuilder.size(64, 48)] + (codes.map { [HEIFBuilder.nclx($0.0, $0.1)] } ?? [])
        return HEIFBuilder.Item(kind: "grid", properties: properties, data: HEIFBuilder.grid(64, 48))
    }

    private func hidden(_ item: HEIFBuilder.Item) -> HEIFBuilder.Item {
        var result = item
        result.isHidden = true
        return result
    }

    private func open(_ builder: HEIFBuilder, _ pages: PageChoice = .first) throws -> ImageDecoder {
        _ = try workspace.write(builder.build(), to: "pictures")
        return try ImageDecoder(path: workspace.path("pictures"), limits: .roomy, color: .srgb, pages: pages)
    }

    private func expectRefusal(_ words: String, _ builder: HEIFBuilder, _ pages: PageChoice = .first) {
        let error = #expect(throws: ImageFileError.self) { try open(builder, pages) }
        #expect(error?.description == "\(workspace.path("pictures")): AVIF with \(words)")
    }

    @Test func `each picture of a file has its own colours`() throws {
        for codes in [[sRGB, displayP3], [displayP3, sRGB]] {
            var builder = HEIFBuilder(items: codes.map(picture))
            for (page, code) in codes.enumerated() {
                let decoder = try open(builder, .page(page))
                #expect(decoder.header.pages == 2 && decoder.metadata.isConverted == (code == displayP3))
            }
            for primary in 1...2 {
                builder.primary = primary
                #expect(try open(builder).metadata.isConverted == (codes[primary - 1] == displayP3))
            }
        }
        let mixed = HEIFBuilder(items: [picture(sRGB), picture(pq)])
        #expect(try !open(mixed, .page(0)).metadata.isConverted)
        expectRefusal("HDR colours (PQ), which Penumbra does not read", mixed, .page(1))
    }

    @Test func `thumbnails and hidden tiles are no pages, and pages go by their numbers`() throws {
        let thumbnailed = HEIFBuilder(
            items: [picture(sRGB), picture(displayP3), picture(displayP3), picture(sRGB)], primary: 4,
            references: [("thmb", 2, [4])], listed: [4, 3, 2, 1])
        let tiled = HEIFBuilder(
            items: [hidden(picture(nil)), grid(sRGB), hidden(picture(nil)), grid(displayP3)], primary: 2,
            references: [("dimg", 2, [1]), ("dimg", 4, [3])])
        for (builder, converted) in [(thumbnailed, [false, true, false]), (tiled, [false, true])] {
            for (page, isConverted) in converted.enumerated() {
                let decoder = try open(builder, .page(page))
                #expect(decoder.header.pages == converted.count && decoder.metadata.isConverted == isConverted)
            }
        }
    }

    @Test func `where pages cannot be told apart, pictures of several colours are refused`() throws {
        // libheif takes an item that is listed twice for one.
        var builder = HEIFBuilder(items: [picture(sRGB), picture(displayP3)], listed: [1, 1, 2])
        expectRefusal(
            "pictures in several colours whose order is unclear, which Penumbra does not read; "
                + "save each of them in a file of its own", builder, .page(1))
        builder.items = [picture(displayP3), picture(displayP3)]
        #expect(try open(builder, .page(1)).metadata.isConverted)
        // More parts than any real file has.
        builder = HEIFBuilder(
            items: (1...14).map { _ in picture(sRGB) }, references: (1...14).map { ("dimg", $0, Array(1001...5000)) },
            listed: [1] + Array(1...14))
        expectRefusal(
            "more pictures, in an unclear order, than can be compared, which Penumbra does not read; "
                + "save each of them in a file of its own", builder, .page(1))
    }

    @Test func `a grid without colours has those of its tiles`() throws {
        for code in [displayP3, sRGB] {
            let builder = HEIFBuilder(
                items: [grid(nil), hidden(picture(code))], references: [("dimg", 1, [2])])
            #expect(try open(builder).metadata.isConverted == (code == displayP3))
        }
        let own = HEIFBuilder(items: [grid(sRGB), hidden(picture(displayP3))], references: [("dimg", 1, [2])])
        #expect(try !open(own).metadata.isConverted)
    }

    @Test func `a picture whose properties say nothing has the colours of its AV1 header`() throws {
        #expect(try !open(HEIFBuilder(items: [item])).metadata.isConverted)
        let coded = try #require(item.coding(12, 13))
        #expect(try open(HEIFBuilder(items: [coded])).metadata.isConverted)
        #expect(
            try open(HEIFBuilder(items: [grid(nil), hidden(coded)], references: [("dimg", 1, [2])])).metadata
                .isConverted)
        var stated = coded
        stated.properties.append(HEIFBuilder.nclx(1, 13))
        #expect(try !open(HEIFBuilder(items: [stated])).metadata.isConverted)
        let hdr = HEIFBuilder(items: [try #require(item.coding(9, 18))])
        expectRefusal("HDR colours (HLG), which Penumbra does not read", hdr)
    }

    @Test func `a sequence of pictures is refused by name`() throws {
        expectRefusal(
            "an animation (image sequence), which Penumbra does not read; make an animated WebP or GIF of it",
            HEIFBuilder(items: [picture(sRGB)], isSequence: true))
    }

    @Test func `boxes that lie trap nothing`() throws {
        let builder = HEIFBuilder(
            items: [grid(nil), hidden(try #require(item.coding(12, 13)))], references: [("dimg", 1, [2])])
        let bytes = builder.build()
        for place in 0..<min(500, bytes.count) {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[place] = value
                _ = try workspace.write(damaged, to: "damaged")
                for pages in [PageChoice.first, .page(1)] {
                    // Whatever it says, it is a picture or an error.
                    _ = try? ImageDecoder(path: workspace.path("damaged"), limits: .roomy, color: .srgb, pages: pages)
                }
            }
        }
    }
}
