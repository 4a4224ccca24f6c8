import Catalogs
import Coordination
import Foundation
import JobModel
import JobStorage
import WorkerProtocol

extension Catalog {
    /// Two filters that share a parameter's name, and two formats.
    ///
    /// - Parameters:
    ///   - gaussian: its rendering version.
    ///   - later: a parameter that an older version did not have.
    static func make(
        gaussian: Int = 1, later: ParameterDescriptor? = nil, versions: [String: String] = ["rendering": "1"]
    ) -> Catalog {
        Catalog(
            versions: versions,
            filters: [
                FilterDescriptor(
                    name: "gaussian", kind: .area, summary: "Blurs", renderingVersion: gaussian,
                    parameters: [radius(10)] + (later.map { [$0] } ?? []),
                    origin: versions["gaussian"] == nil ? .builtIn : .plugin(path: "/plugins/libgaussian.so")),
                FilterDescriptor(
                    name: "motion", kind: .area, summary: "Blurs along a line", renderingVersion: 1,
                    parameters: [radius(40)]),
            ], formats: [.make("png"), .make("webp")])
    }

    private static func radius(_ fallback: Double) -> ParameterDescriptor {
        ParameterDescriptor("radius", .number(minimum: 0, maximum: 1000), fallback: .number(fallback), summary: "Width")
    }
}

extension FormatDescriptor {
    static func make(_ name: String) -> FormatDescriptor {
        FormatDescriptor(
            name: name, extensions: [name], canRead: true, canWrite: true, sampleFormats: [.u8], holdsAlpha: true,
            isLossless: true, largestSide: 16_383,
            options: [
                ParameterDescriptor(
                    "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82), summary: "Quality")
            ])
    }
}

extension FilterInvocation {
    static func gaussian(_ radius: Double) -> FilterInvocation {
        FilterInvocation(filter: "gaussian", values: ["radius": .number(radius)])
    }

    static func motion(_ radius: Double) -> FilterInvocation {
        FilterInvocation(filter: "motion", values: ["radius": .number(radius)])
    }
}

extension Recipe {
    static func make(
        _ chain: [FilterInvocation] = [.gaussian(12)], color: ColorPolicy = .keep, format: String = "webp",
        save: SaveOptions = SaveOptions(), pages: PageChoice = .animation, catalog: Catalog = .make()
    ) -> Recipe {
        Recipe(chain: chain, color: color, format: format, save: save, pages: pages, catalog: catalog)
    }
}

extension OutputTemplate {
    /// `FOLDER/{stem}.EXT`
    static func stem(_ folder: String = "out/", ext: String = "webp") -> OutputTemplate {
        OutputTemplate(
            source: "\(folder){stem}.\(ext)", pieces: [.literal(folder), .field(.stem), .literal(".\(ext)")])
    }

    static let width = OutputTemplate(
        source: "out/{width}.webp", pieces: [.literal("out/"), .field(.width), .literal(".webp")])
}

extension JobSpec {
    static func make(
        _ name: String = "nightly", folder: String = "/jobs", outputs: [OutputTemplate] = [.stem()]
    ) -> JobSpec {
        JobSpec(
            name: name, manifestPath: "\(folder)/\(name).yaml", folder: folder, inputs: ["photos/*"],
            chain: [.gaussian(12)], outputs: outputs.map { JobOutput(template: $0) })
    }
}

extension FileStamp {
    static func make(inode: UInt64 = 1, size: Int = 100, modified: Int64 = 5, changed: Int64 = 5) -> FileStamp {
        FileStamp(device: 1, inode: inode, size: size, modified: modified, changed: changed)
    }

    /// The same file after a `touch`, or a copy of it.
    var touched: FileStamp { .make(inode: inode + 1000, size: size, modified: modified + 1, changed: changed + 1) }
}

extension Digest {
    static func make(_ number: UInt64) -> Digest { Digest(high: 7, low: number) }
}

extension OutputRecord {
    static func make(
        _ path: String = "/jobs/out/a.webp", input: String = "/jobs/photos/a.jpg", page: Int = 0, part: Int = 0,
        source: FileFacts = FileFacts(stamp: .make(inode: 1), digest: .make(1)), recipe: RecipeID = RecipeID(index: 0),
        file: FileFacts = FileFacts(stamp: .make(inode: 2), digest: .make(2)), isAdopted: Bool = false,
        pixels: EncodedPixels? = .make()
    ) -> OutputRecord {
        OutputRecord(
            path: path, input: input, page: page, part: part, source: source, recipe: recipe, file: file, width: 30,
            height: 20, isAdopted: isAdopted, pixels: pixels)
    }
}

extension EncodedPixels {
    static func make(_ number: UInt64 = 3, encoder: String = "libvips 8.14.1, libwebp 7.1.5") -> EncodedPixels {
        EncodedPixels(
            digest: .make(number),
            encoding: OutputEncoding(
                encoder: encoder, layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0"))
    }
}

/// What lies at a path now.
func stamp(at path: String, isFolder: Bool = false) -> FileStamp? {
    var place = OutputLookup()
    return place.stamp(at: path, isFolder: isFolder)
}

func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
}
