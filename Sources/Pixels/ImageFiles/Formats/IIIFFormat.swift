package import Catalogs
import JobModel

/// The IIIF Image API 3.0 at level 0: a folder that any web server can offer, with `info.json`, the picture at every power of
/// two in tiles, and whole pictures. <https://iiif.io/api/image/3.0/>
///
/// Level 0 requires JPEG. Pictures carry no metadata; a profile is converted to sRGB.
package struct IIIFFormat: ImageFormat {
    package let title = "IIIF"
    // Whole pictures and tiles are about three times as many pixels.
    package let cost = CodecCost(decode: 0, encode: 30)
    package let holdsGray = true
    package let loader = Loader.own()
    package let neededClass: String? = "VipsForeignSaveJpegTarget"

    package let descriptor = FormatDescriptor(
        name: "iiif", extensions: ["iiif"], canRead: false, canWrite: true, sampleFormats: [.u8], holdsAlpha: false,
        holdsProfile: false, holdsTexts: false,
        isFolder: true, isLossless: false, largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [
            ParameterDescriptor(
                "id", .address,
                summary:
                    "Sets the address at which the folder is served, without a slash at its end. It may have fields of the picture",
                requiredLike: "https://example.org/iiif/{stem}"),
            ParameterDescriptor(
                "tile_size", .integer(minimum: 128, maximum: 4096), fallback: .integer(512), unit: "px",
                summary: "Sets the side of a tile"),
            ParameterDescriptor(
                "max_size", .integer(minimum: 128, maximum: 65500), fallback: .integer(16384), unit: "px",
                summary: "Limits the longer side of whole pictures. Tiles always show all pixels"),
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "Sets how much detail is kept"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { false }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let jpeg = JPEGFormat()
        return try jpeg.saver(
            for: shape, options: FormatOptions(try pictureValues(options), of: jpeg.descriptor))
    }

    package func service(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> IIIFService? {
        IIIFService(
            id: try options.text("id"), width: shape.width, height: shape.height,
            tileSize: try options.integer("tile_size"), largestSide: try options.integer("max_size"),
            save: SaveOptions(values: try pictureValues(options)))
    }

    /// The options of each JPEG.
    private func pictureValues(_ options: FormatOptions) throws(SaveError) -> [String: ParameterValue] {
        ["quality": .integer(try options.integer("quality"))]
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libjpeg"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}

/// The pictures in a folder of the IIIF Image API, and their description.
package struct IIIFService: Hashable, Sendable {
    /// The picture at a fraction of its size.
    struct Level: Hashable {
        /// The size is divided by it, and rounded up.
        let factor: Int
        let width: Int
        let height: Int
        /// Whether it has tiles that are not the whole picture.
        let isTiled: Bool
        /// The sizes as which the whole picture is written, as ``IIIFNames/path(_:_:)`` takes them.
        let wholeSizes: [String]

        fileprivate var longerSide: Int { max(width, height) }
    }

    let tileSize: Int
    /// From the picture's own size to that of a thumbnail.
    let levels: [Level]
    /// How each picture is written.
    let save: SaveOptions
    private let id: String
    /// The sizes of whole pictures that viewers may choose from, from the smallest.
    private let sizes: [Level]
    /// The longer side of the largest whole picture. Nil if it is the picture itself.
    private let limit: Int?

    /// The longer side of the smallest whole picture is at most this.
    private static let thumbnailSide = 128

    /// - Parameter largestSide: limits the longer side of whole pictures. (It is at least that of a tile, because viewers ask for no
    ///   tile that is larger than the largest whole picture.)
    init(id: String, width: Int, height: Int, tileSize: Int, largestSide: Int, save: SaveOptions) {
        let sizes = Self.sizes(width, height)
        let wanted = sizes.firstIndex { max($0.width, $0.height) <= largestSide } ?? sizes.count - 1
        let largest = min(wanted, sizes.lastIndex { max($0.width, $0.height) >= tileSize } ?? 0)
        let levels = sizes.enumerated().map { index, size in
            let isTile = max(size.width, size.height) <= tileSize
            // A viewer asks for a level of one tile as a whole picture. The largest one exists by its size, too, only if it is small.
            let hasOwnSize = index > largest || index == largest && isTile
            return Level(
                factor: 1 << index, width: size.width, height: size.height, isTiled: !isTile,
                wholeSizes: (index == largest ? [IIIFNames.largest] : [])
                    + (hasOwnSize ? ["\(size.width),\(size.height)"] : []))
        }
        self.id = id
        self.tileSize = tileSize
        self.levels = levels
        self.save = save
        self.sizes = levels.filter { level in level.wholeSizes.contains { $0 != IIIFNames.largest } }.reversed()
        limit = largest == 0 ? nil : levels[largest].longerSide
    }

    /// The picture's size, and its halves down to a thumbnail.
    private static func sizes(_ width: Int, _ height: Int) -> [(width: Int, height: Int)] {
        var sizes = [(width: width, height: height)]
        while let last = sizes.last, max(last.width, last.height) > thumbnailSide {
            sizes.append(((last.width + 1) / 2, (last.height + 1) / 2))
        }
        return sizes
    }

    /// The content of `info.json`.
    var description: String {
        let sizes = sizes.map { "{\"width\": \($0.width), \"height\": \($0.height)}" }
        // The first level of one tile is the last one that viewers need tiles of.
        let tiled = levels.prefix { $0.isTiled }.count
        let factors = levels.prefix(tiled + 1).map { "\($0.factor)" }
        var lines = [
            "\"@context\": \"http://iiif.io/api/image/3/context.json\"", "\"id\": \(Self.quoted(id))",
            "\"type\": \"ImageService3\"", "\"protocol\": \"http://iiif.io/api/image\"", "\"profile\": \"level0\"",
            "\"width\": \(levels[0].width)", "\"height\": \(levels[0].height)",
        ]
        if let limit { lines.append("\"maxWidth\": \(limit)") }
        if !sizes.isEmpty { lines.append("\"sizes\": [\(sizes.joined(separator: ", "))]") }
        lines.append(
            "\"tiles\": [{\"width\": \(tileSize), \"scaleFactors\": [\(factors.joined(separator: ", "))]}]")
        return "{\n  " + lines.joined(separator: ",\n  ") + "\n}\n"
    }

    /// A text as JSON has it.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }
}

extension IIIFService.Level {
    /// The tiles of a row of tiles: their columns in this level, and the region of the picture that each shows.
    ///
    /// - Parameters:
    ///   - rows: the rows of the tiles in this level.
    ///   - picture: the level of the picture's own size.
    func tiles(
        _ rows: Range<Int>, side: Int, of picture: IIIFService.Level
    ) -> [(columns: Range<Int>, path: String)] {
        stride(from: 0, to: width, by: side).map { left in
            let columns = left..<min(left + side, width)
            let (x, y) = (left * factor, rows.lowerBound * factor)
            // A tile at the edge shows what is left of the picture.
            let (regionWidth, regionHeight) = (
                min(side * factor, picture.width - x), min(side * factor, picture.height - y)
            )
            return (
                columns,
                IIIFNames.path("\(x),\(y),\(regionWidth),\(regionHeight)", "\(columns.count),\(rows.count)")
            )
        }
    }
}
