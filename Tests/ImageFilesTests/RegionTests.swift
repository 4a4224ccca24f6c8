import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// Parts of a picture are the same pixels as in the whole.
@Suite struct RegionTests {
    private let workspace: Workspace
    private let rects = [
        PixelRect(x: 10, y: 300, width: 41, height: 260), PixelRect(x: 0, y: 0, width: 1, height: 1),
        PixelRect(x: 130, y: 640, width: 70, height: 60), PixelRect(x: 0, y: 127, width: 200, height: 2),
    ]

    init() throws {
        workspace = try Workspace()
    }

    private func compare(_ name: String) throws {
        let whole = try workspace.load(name).raster
        let decoder = try ImageDecoder(path: workspace.path(name), limits: .roomy, color: .keep)
        let parts = try decoder.readRegions(rects)
        for (part, rect) in zip(parts, rects) {
            let isEqual = part == whole.cropped(to: rect)
            #expect(isEqual, "\(name) \(rect)")
        }
    }

    @Test(arguments: ["none", "deflate", "zstd", "lzw", "jpeg"], ["strips", "tiles", "pyramid", "bigtiff"])
    func `of TIFF`(compression: String, kind: String) throws {
        let picture = Pictures.busy(width: 200, height: 700)
        var values: [String: ParameterValue] = ["compression": .word(compression)]
        switch kind {
        case "tiles": values["tile"] = .boolean(true)
        case "pyramid": values["pyramid"] = .boolean(true)
        case "bigtiff": values["bigtiff"] = .word("on")
        default: break
        }
        try workspace.save(picture, as: "tiff", to: "picture.tif", save: SaveOptions(values: values))
        try compare("picture.tif")
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `of all samples and channels`(layout: PixelLayout, format: SampleFormat) throws {
        let picture = Pictures.busy(width: 200, height: 700, layout: layout, format: format)
        try workspace.save(picture, as: "tiff", to: "picture.tif")
        try compare("picture.tif")
    }

    @Test(arguments: ["jpeg", "png", "webp", "ppm", "gif", "jxl"])
    func `of other formats`(name: String) throws {
        try workspace.save(Pictures.busy(width: 200, height: 700), as: name, to: "picture")
        try compare("picture")
    }

    /// The last one is what writers state that have only one strip.
    @Test(arguments: [1, 8, 77, 700, 701, Int(UInt32.max)])
    func `of TIFF with strips of any height`(rowsPerStrip: Int) throws {
        let data = (0..<200 * 700).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ $0 >> 9) }
        let builder = TIFFBuilder(width: 200, height: 700, data: data, rowsPerStrip: rowsPerStrip)
        _ = try workspace.write(builder.build(), to: "strips.tif")
        try compare("strips.tif")
    }

    @Test(arguments: 1...8)
    func `of a turned picture`(orientation: Int) throws {
        let (width, height) = orientation >= 5 ? (700, 200) : (200, 700)
        let data = (0..<width * height).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ $0 >> 9) }
        let builder = TIFFBuilder(width: width, height: height, orientation: UInt16(orientation), data: data)
        _ = try workspace.write(builder.build(), to: "turned.tif")
        try compare("turned.tif")
    }
}
