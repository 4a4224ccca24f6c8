package import Catalogs
import Geometry
import Raster

/// Radiance pictures (`.hdr`): floats of three bytes and a common exponent, read as f32. Their linear light is converted to the
/// curve of sRGB, as in all pictures. <https://radsite.lbl.gov/radiance/refer/filefmts.pdf>
///
/// Exposures and corrections in the header do not change the values. Other primaries than those of sRGB are converted, or kept as a
/// profile. Pictures in XYZ are refused.
package struct RadianceFormat: ReadOnlyFormat {
    package let title = "Radiance HDR"
    package let cost = CodecCost(decode: 10, encode: 0)
    package let loader = Loader.own([.linearPremultiplied])
    package let neededClass: String? = nil
    package let descriptor: FormatDescriptor = Self.reading("hdr", ["hdr", "rgbe"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        ["#?RADIANCE\n", "#?RGBE\n"].contains { head.starts(with: $0.utf8) }
    }

    package func picture(in file: InputFile) throws(OwnDecodingError) -> OwnPicture? {
        let file = OwnFile(file: file, isLittleEndian: false)
        let header = try RadianceHeader(file)
        let reader = RadianceRows(file, header)
        var picture = OwnPicture(shape: reader.shape) { try reader.rows($0) }
        picture.orientation = header.orientation
        guard let primaries = header.primaries else { return picture }
        do throws(UnsupportedFeatureError) {
            picture.stated = try StatedColor.linear(primaries)
        } catch {
            throw .unsupported(error)
        }
        return picture
    }
}

/// The lines of text before the pixels.
private struct RadianceHeader {
    /// The pixels of a stored row, and the stored rows.
    let width: Int
    let height: Int
    let orientation: Orientation
    /// The offset of the first row.
    let pixels: Int
    /// The x and y of red, green, blue and white. Nil for those of sRGB.
    let primaries: [Double]?

    /// No real header is longer.
    private static let longest = 1 << 16

    init(_ file: OwnFile) throws(OwnDecodingError) {
        var cursor = OwnCursor(file, from: 0, to: min(file.size, Self.longest), readAhead: 4096, "its header")
        var primaries: [Double]?
        while case let line = try Self.line(&cursor), !line.isEmpty {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0].filter({ $0 != " " }) {
            case "FORMAT" where parts[1].filter({ $0 != " " }) == "32-bit_rle_xyze":
                throw .unsupported("colours in XYZ", remedy: "convert it with 'ra_xyze -r'")
            case "FORMAT" where parts[1].filter({ $0 != " " }) != "32-bit_rle_rgbe":
                throw .unsupported("pixels in the form '\(parts[1].prefix(40))'")
            case "PRIMARIES" where !Self.areOfSRGB(parts[1]):
                primaries = parts[1].split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
                guard primaries?.count == 8 else { throw .broken("its primaries are '\(parts[1].prefix(80))'") }
            default: continue
            }
        }
        let size = try Self.line(&cursor)
        let words = size.split(separator: " ").map(String.init)
        guard words.count == 4, let orientation = Self.orientations["\(words[0]) \(words[2])"],
            let height = Int(words[1]), let width = Int(words[3]), width > 0, height > 0,
            max(width, height) <= OwnPicture.longestSide
        else { throw .broken("its size is '\(size.prefix(40))'") }
        self.width = width
        self.height = height
        self.orientation = orientation
        pixels = cursor.offset
        self.primaries = primaries
    }

    /// The text before the next newline.
    private static func line(_ cursor: inout OwnCursor) throws(OwnDecodingError) -> String {
        var bytes: [UInt8] = []
        while case let byte = try cursor.next(), byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// How rows are stored, by the directions of the rows and of the pixels in a row.
    private static let orientations: [String: Orientation] = [
        "-Y +X": .upright, "-Y -X": .mirrored, "+Y -X": .upsideDown, "+Y +X": .flipped, "+X -Y": .transposed,
        "-X -Y": .turnedLeft, "-X +Y": .transversed, "+X +Y": .turnedRight,
    ]

    /// Whether the coordinates are those of sRGB. Programs round them, and have the white of Radiance or that of sRGB.
    private static func areOfSRGB(_ text: String) -> Bool {
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        let (primaries, tolerance) = ([0.64, 0.33, 0.3, 0.6, 0.15, 0.06], 0.015)
        guard numbers.count == 8, zip(numbers, primaries).allSatisfy({ abs($0 - $1) <= tolerance }) else {
            return false
        }
        return [(1.0 / 3, 1.0 / 3), (0.3127, 0.329)].contains { x, y in
            abs(numbers[6] - x) <= tolerance && abs(numbers[7] - y) <= tolerance
        }
    }
}

/// The rows of a Radiance picture, from the first to the last.
///
/// One thread at a time may use it.
private final class RadianceRows {
    let shape: ImageShape
    private var cursor: OwnCursor

    /// Rows of other widths are never stored channel by channel.
    private static let widthsOfPlanes = 8...32767

    /// The factor of each exponent: 2 to the power of the exponent, less 136.
    private static let factors: [Float] = (0...255).map { exponent in
        let power = exponent - 136
        return power >= -126
            ? Float(bitPattern: UInt32(power + 127) << 23) : Float(bitPattern: UInt32(1) << UInt32(power + 149))
    }

    init(_ file: OwnFile, _ header: RadianceHeader) {
        shape = ImageShape(width: header.width, height: header.height, layout: .rgb, sampleFormat: .f32)
        cursor = OwnCursor(file, from: header.pixels, to: file.size, "its pixels")
    }

    func rows(_ rows: Range<Int>) throws(OwnDecodingError) -> AnyRaster {
        var samples: [Float] = []
        samples.reserveCapacity(rows.count * shape.width * 3)
        for _ in rows {
            for pixel in try row() {
                let factor = pixel.exponent == 0 ? 0 : Self.factors[Int(pixel.exponent)]
                // Writers cut off what is behind the last bit, so its middle is nearest to the truth.
                for value in [pixel.red, pixel.green, pixel.blue] { samples.append((Float(value) + 0.5) * factor) }
            }
        }
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        return .f32(Raster(rect: rect, layout: .rgb, samples: samples))
    }

    private struct Pixel {
        var red: UInt8 = 0
        var green: UInt8 = 0
        var blue: UInt8 = 0
        var exponent: UInt8 = 0
    }

    private func row() throws(OwnDecodingError) -> [Pixel] {
        let first = try pixel()
        let isOfPlanes =
            Self.widthsOfPlanes.contains(shape.width) && first.red == 2 && first.green == 2 && first.blue < 128
        guard isOfPlanes else { return try plainRow(first) }
        guard Int(first.blue) << 8 | Int(first.exponent) == shape.width else {
            throw .broken("a row states another length than the picture")
        }
        var pixels = [Pixel](repeating: Pixel(), count: shape.width)
        for channel in [\Pixel.red, \Pixel.green, \Pixel.blue, \Pixel.exponent] {
            var column = 0
            while column < shape.width {
                let code = Int(try cursor.next())
                // More than 128 repeat one byte.
                let count = code > 128 ? code - 128 : code
                guard count > 0, count <= shape.width - column else { throw .broken("its runs leave the picture") }
                if code > 128 {
                    let value = try cursor.next()
                    for index in column..<column + count { pixels[index][keyPath: channel] = value }
                } else {
                    for index in column..<column + count { pixels[index][keyPath: channel] = try cursor.next() }
                }
                column += count
            }
        }
        return pixels
    }

    private func pixel() throws(OwnDecodingError) -> Pixel {
        Pixel(red: try cursor.next(), green: try cursor.next(), blue: try cursor.next(), exponent: try cursor.next())
    }

    /// Pixel by pixel. A pixel of three ones repeats the one before: its exponent is the number, and a further one of them has the
    /// next eight bits.
    private func plainRow(_ first: Pixel) throws(OwnDecodingError) -> [Pixel] {
        var pixels: [Pixel] = []
        pixels.reserveCapacity(min(shape.width, 1 << 16))
        var (next, shift) = (first, 0)
        while true {
            if (next.red, next.green, next.blue) == (1, 1, 1) {
                guard let last = pixels.last, shift <= 24 else { throw .broken("its runs leave the picture") }
                let count = Int(next.exponent) << shift
                guard count <= shape.width - pixels.count else { throw .broken("its runs leave the picture") }
                pixels.append(contentsOf: repeatElement(last, count: count))
                shift += 8
            } else {
                pixels.append(next)
                shift = 0
            }
            if pixels.count == shape.width { return pixels }
            next = try pixel()
        }
    }
}
