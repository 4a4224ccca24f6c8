package import Catalogs
import Geometry
import ImageFiles
import JobModel
package import Raster

/// Example pictures as files.
package enum PictureFiles {
    package struct Unsupported: Error {
        package let path: String
    }

    /// Writes a picture in the format that the name asks for.
    ///
    /// - Parameter profile: an ICC profile to embed.
    package static func write(
        _ picture: AnyRaster, to path: String, options: [String: ParameterValue] = [:], profile: [UInt8]? = nil
    ) throws {
        let ext = path.split(separator: ".").last.map(String.init) ?? ""
        guard let format = ImageFormats.all.first(where: { $0.descriptor.extensions.contains(ext) }) else {
            throw Unsupported(path: path)
        }
        let shape = ImageShape(
            width: picture.rect.width, height: picture.rect.height, layout: picture.layout,
            sampleFormat: picture.format)
        try ImageEncoder.write(
            to: path, format: format, save: SaveOptions(values: options), shape: shape,
            metadata: ImageMetadata(icc: profile.map { Blob($0) })
        ) { rows in
            picture.cropped(to: PixelRect(columns: picture.rect.columns, rows: rows))
        }
    }

    /// Writes an animation of pictures that have one size, shown for 100 milliseconds each.
    package static func write(
        frames: [AnyRaster], to path: String, options: [String: ParameterValue] = [:]
    ) throws {
        let ext = path.split(separator: ".").last.map(String.init) ?? ""
        guard let format = ImageFormats.all.first(where: { $0.descriptor.extensions.contains(ext) }),
            let first = frames.first
        else { throw Unsupported(path: path) }
        let height = first.rect.height
        let rect = PixelRect(x: 0, y: 0, width: first.rect.width, height: height * frames.count)
        var film = AnyRaster(zeroed: rect, layout: first.layout, format: first.format)
        for (index, frame) in frames.enumerated() { film.paste(frame.translated(x: 0, y: index * height)) }
        try ImageEncoder.write(
            to: path, format: format, save: SaveOptions(values: options),
            shape: ImageShape(
                width: rect.width, height: height, layout: first.layout, sampleFormat: first.format),
            frames: frames.count,
            metadata: ImageMetadata(animation: .init(delays: frames.map { _ in 100 }, repetitions: 0))
        ) { _ in film }
    }

    /// All frames of an animation; of any other file its picture.
    package static func readFrames(_ path: String) throws -> [AnyRaster] {
        let decoder = try ImageDecoder(
            path: path, limits: DecodeLimits(maxPixels: 1_000_000_000), color: .keep, pages: .animation)
        var frames: [AnyRaster] = []
        try decoder.readFrames { frames.append($0) }
        return frames
    }

    package static func read(_ path: String) throws -> AnyRaster {
        let decoder = try ImageDecoder(path: path, limits: DecodeLimits(maxPixels: 1_000_000_000), color: .keep)
        let header = decoder.header
        var picture = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: header.width, height: header.height), layout: header.layout,
            format: header.sampleFormat)
        try decoder.readRows(bandHeight: 256) { picture.paste($0) }
        return picture
    }

    /// The ICC profile of a file; nil if it has none.
    package static func profile(of path: String) throws -> [UInt8]? {
        try ImageDecoder(path: path, limits: DecodeLimits(maxPixels: 1_000_000_000), color: .keep).metadata.icc?.bytes
    }

    /// The left half of one picture beside the right half of another of the same size, with a line between.
    package static func halves(_ left: AnyRaster, _ right: AnyRaster) -> AnyRaster {
        let middle = left.rect.width / 2
        var result = left
        result.paste(right.cropped(to: PixelRect(columns: middle..<left.rect.width, rows: left.rect.rows)))
        let line = PixelRect(columns: middle - 1..<middle + 1, rows: left.rect.rows)
        let white = Array(repeating: UInt8.max, count: line.area * left.layout.channels)
        result.paste(.u8(Raster(rect: line, layout: left.layout, samples: white)))
        return result
    }
}
