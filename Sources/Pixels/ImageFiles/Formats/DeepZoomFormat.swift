package import Catalogs
import JobModel

/// Deep Zoom: a folder with the picture at every power of two, in tiles, for viewers that load only visible tiles.
///
/// Tiles carry no metadata; a profile is converted to sRGB.
/// <https://learn.microsoft.com/en-us/previous-versions/windows/silverlight/dotnet-windows-silverlight/cc645077(v=vs.95)>
package struct DeepZoomFormat: ImageFormat {
    package let title = "Deep Zoom"
    package let cost = CodecCost(decode: 0, encode: 25)
    package let holdsGray = true
    package let loader = Loader.own()
    package let neededClass: String? = "VipsForeignSaveDzFile"

    package let descriptor = FormatDescriptor(
        name: "dzi", extensions: ["dzi"], canRead: false, canWrite: true, sampleFormats: [.u8], holdsAlpha: false,
        holdsProfile: false, holdsTexts: false,
        isFolder: true, isLossless: false, largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [
            ParameterDescriptor(
                "tile_format", .choice(DeepZoomNames.Tile.allCases.map(\.rawValue)), fallback: .word("jpeg"),
                summary: "Chooses the format of the tiles"),
            ParameterDescriptor(
                "tile_size", .integer(minimum: 64, maximum: 4096), fallback: .integer(254), unit: "px",
                summary: "Sets the side of a tile, without its overlap"),
            ParameterDescriptor(
                "overlap", .integer(minimum: 0, maximum: 32), fallback: .integer(1), unit: "px",
                summary: "Sets how many pixels a tile shares with each neighbour"),
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "Sets how much detail 'jpeg' and 'webp' tiles keep"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { false }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let tiles: DeepZoomNames.Tile = try options.word("tile_format")
        let quality = try options.integer("quality")
        let suffix = ".\(tiles.fileExtension)" + (tiles == .png ? "" : "[Q=\(quality)]")
        return Saver(
            "dzsave",
            [
                "suffix": .text(suffix), "tile_size": .integer(try options.integer("tile_size")),
                "overlap": .integer(try options.integer("overlap")), "strip": .boolean(true),
            ])
    }

    package func libraries(for options: FormatOptions) -> [String] {
        // Wrong words were refused before anything was written.
        switch try? options.word("tile_format") as DeepZoomNames.Tile {
        case .jpeg: ["libjpeg"]
        case .png: ["libpng", "libspng", "libz"]
        case .webp: ["libwebp"]
        // Wrong words were refused before anything was written.
        case nil: []
        }
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}
