package import Catalogs
import Geometry
import Raster

/// The flattened picture of a Photoshop file (PSD and PSB): gray, RGB, palettes and CMYK of 8 or 16 bits. Layers are ignored.
/// <https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/>
///
/// The flattened picture of layers with transparency is in front of white. It is computed back to colour and alpha.
package struct PSDFormat: ReadOnlyFormat {
    package let title = "PSD"
    package let cost = CodecCost(decode: 4, encode: 0)
    package let loader = Loader.own()
    package let neededClass: String? = nil
    package let descriptor: FormatDescriptor = Self.reading("psd", ["psd", "psb"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: "8BPS\0".utf8) && head.count > 5 && (1...2).contains(head[5])
    }

    package func picture(in file: InputFile) throws(OwnDecodingError) -> OwnPicture? {
        let file = OwnFile(file: file, isLittleEndian: false)
        let header = try PSDHeader(file)
        let sections = try PSDSections(file, header)
        let rows = try PSDRows(file, header, sections)
        var picture = OwnPicture(shape: rows.shape, isCMYK: header.mode == .cmyk) { try rows.rows($0) }
        picture.metadata = sections.metadata
        picture.resolution = sections.resolution
        return picture
    }
}

/// The first bytes of a Photoshop file.
private struct PSDHeader {
    enum Mode: Int {
        case gray = 1
        case indexed = 2
        case rgb = 3
        case cmyk = 4

        var colors: Int {
            switch self {
            case .gray, .indexed: 1
            case .rgb: 3
            case .cmyk: 4
            }
        }
    }

    static let length = 26

    /// Whether lengths and offsets are those of large documents (PSB).
    let isLarge: Bool
    let channels: Int
    let width: Int
    let height: Int
    /// 8 or 16.
    let bits: Int
    let mode: Mode

    /// The number of bytes of lengths that PSB has doubled.
    var longLength: Int { isLarge ? 8 : 4 }

    init(_ file: OwnFile) throws(OwnDecodingError) {
        let bytes = try file.bytes(at: 0, count: Self.length, "its header")
        isLarge = bytes[5] == 2
        channels = file.number(in: bytes[12..<14])
        height = file.number(in: bytes[14..<18])
        width = file.number(in: bytes[18..<22])
        bits = file.number(in: bytes[22..<24])
        let largestSide = isLarge ? 300_000 : 30_000
        guard width > 0, height > 0, max(width, height) <= largestSide else {
            throw .broken("it states \(width) × \(height) pixels, and a side has 1 to \(largestSide)")
        }
        let stated = file.number(in: bytes[24..<26])
        guard let mode = Mode(rawValue: stated) else {
            let names = [0: "a bitmap of one bit", 7: "several inks", 8: "duotone", 9: "Lab"]
            throw .unsupported(
                names[stated].map { "colours in \($0)" } ?? "colours in the unknown mode \(stated)",
                remedy: "save it in RGB")
        }
        self.mode = mode
        guard bits == 8 || bits == 16 && mode != .indexed else {
            throw .unsupported("\(bits)-bit samples", remedy: "save it with 8 or 16 bits")
        }
        guard (mode.colors...56).contains(channels) else { throw .broken("it states \(channels) channels") }
    }
}

/// The sections between the header of a Photoshop file and its pixels.
private struct PSDSections {
    /// The palette: all red values, then all green, then all blue ones.
    private(set) var palette: [UInt8] = []
    private(set) var metadata: [MetadataField: [UInt8]] = [:]
    private(set) var resolution: ImageMetadata.Resolution?
    /// Whether the channel after the colours is the transparency of the flattened picture.
    private(set) var hasTransparency = false
    /// The offset of the pixels' compression.
    private(set) var pixels = 0

    /// What the resources of a file are, by their numbers.
    private enum Resource {
        static let resolution = 1005
        static let iptc = 1028
        static let profile = 1039
        static let version = 1057
        static let exif = 1058
        static let xmp = 1060
        /// The index of a palette that is transparent.
        static let transparentIndex = 1047
    }

    init(_ file: OwnFile, _ header: PSDHeader) throws(OwnDecodingError) {
        var offset = PSDHeader.length
        let colors = try file.number(at: offset, length: 4, "its colours")
        if header.mode == .indexed {
            guard colors == 768 else { throw .broken("its palette has \(colors) bytes, not 768") }
            palette = try file.bytes(at: offset + 4, count: colors, "its palette")
        }
        offset += 4 + colors
        let resources = try file.number(at: offset, length: 4, "its resources")
        offset += 4
        try readResources(file, header.mode, offset, offset + resources)
        offset += resources
        let layers = try file.number(at: offset, length: header.longLength, "its layers")
        offset += header.longLength
        guard layers <= file.size - offset else { throw .broken("it ends in its layers") }
        if header.channels > header.mode.colors {
            hasTransparency = try Self.hasTransparency(file, header, offset..<offset + layers)
        }
        pixels = offset + layers
    }

    private mutating func readResources(
        _ file: OwnFile, _ mode: PSDHeader.Mode, _ start: Int, _ end: Int
    ) throws(OwnDecodingError) {
        let what = "its resources"
        guard end <= file.size else { throw .broken("it ends in \(what)") }
        var offset = start
        // A signature, a number, a name with its length, and the length of the data. Name and data are padded to even lengths.
        while end - offset >= 12 {
            let number = try file.number(at: offset + 4, length: 2, what)
            let name = try file.number(at: offset + 6, length: 1, what)
            let data = offset + 6 + (name + 2) / 2 * 2 + 4
            let length = try file.number(at: data - 4, length: 4, what)
            guard data <= end, length <= end - data else { throw .broken("resource \(number) leaves its section") }
            try take(number, file, mode, data, length)
            offset = data + (length + 1) / 2 * 2
        }
    }

    private mutating func take(
        _ number: Int, _ file: OwnFile, _ mode: PSDHeader.Mode, _ offset: Int, _ length: Int
    ) throws(OwnDecodingError) {
        let fields = [
            Resource.profile: MetadataField.icc, Resource.exif: .exif, Resource.xmp: .xmp, Resource.iptc: .iptc,
        ]
        if let field = fields[number], length > 0, length <= OwnPicture.largestMetadata {
            metadata[field] = try file.bytes(at: offset, count: length, "its resources")
        }
        if number == Resource.version, length >= 5 {
            guard try file.number(at: offset + 4, length: 1, "its resources") != 0 else {
                throw .unsupported(
                    "layers and no flattened picture", remedy: "save it with 'Maximize compatibility'")
            }
        }
        if number == Resource.transparentIndex, mode == .indexed, length >= 2 {
            guard try file.number(at: offset, length: 2, "its resources") > 255 else {
                throw .unsupported("a transparent colour in its palette", remedy: "save it in RGB")
            }
        }
        if number == Resource.resolution, length >= 16 {
            // Numbers of pixels per inch, with 16 bits behind the point. The unit is what programs show.
            let x = Double(try file.number(at: offset, length: 4, "its resources")) / 65536
            let y = Double(try file.number(at: offset + 8, length: 4, "its resources")) / 65536
            let isMetric = try file.number(at: offset + 4, length: 2, "its resources") == 2
            // Less than one pixel per inch is no resolution that anybody has chosen.
            if x >= 1, y >= 1 {
                resolution = ImageMetadata.Resolution(
                    x: x / 25.4, y: y / 25.4, unit: isMetric ? .centimetre : .inch)
            }
        }
    }

    /// A negative number of layers says so, or in files of 16 bits a block of its own. Otherwise further channels are
    /// selections that somebody has saved.
    private static func hasTransparency(
        _ file: OwnFile, _ header: PSDHeader, _ section: Range<Int>
    ) throws(OwnDecodingError) -> Bool {
        let (what, long) = ("its layers", header.longLength)
        guard section.count >= long else { return false }
        let layers = try file.number(at: section.lowerBound, length: long, what)
        var offset = section.lowerBound + long
        guard layers <= section.upperBound - offset else { throw .broken("it ends in \(what)") }
        if layers >= 2 {
            return Int16(truncatingIfNeeded: try file.number(at: offset, length: 2, what)) < 0
        }
        offset += layers
        guard section.upperBound - offset >= 4 else { return false }
        offset += 4 + (try file.number(at: offset, length: 4, what))
        // Blocks with a signature, a key and a length, which are padded to four bytes.
        while section.upperBound - offset >= 12 {
            let key = try file.bytes(at: offset + 4, count: 4, what)
            let isWide = header.isLarge && Self.wideKeys.contains { key.elementsEqual($0.utf8) }
            let length = try file.number(at: offset + 8, length: isWide ? 8 : 4, what)
            let data = offset + (isWide ? 16 : 12)
            if ["Mt16", "Mtrn"].contains(where: { key.elementsEqual($0.utf8) }) { return true }
            guard data <= section.upperBound, length <= section.upperBound - data else { return false }
            if key.elementsEqual("Lr16".utf8), length >= 2 {
                return Int16(truncatingIfNeeded: try file.number(at: data, length: 2, what)) < 0
            }
            offset = data + (length + 3) / 4 * 4
        }
        return false
    }

    /// The blocks whose length has eight bytes in large documents.
    private static let wideKeys = [
        "LMsk", "Lr16", "Lr32", "Layr", "Mt16", "Mt32", "Mtrn", "Alph", "FMsk", "lnk2", "FEid", "FXid", "PxSD",
    ]
}

/// The rows of the flattened picture, which are stored channel by channel.
///
/// One thread at a time may use it.
private final class PSDRows {
    let shape: ImageShape
    private let file: OwnFile
    private let header: PSDHeader
    private let palette: [UInt8]
    private let hasAlpha: Bool
    /// The channels that are read.
    private let planes: Int
    private let storage: Storage

    private enum Storage {
        /// - Parameter start: the offset of the first row.
        case raw(start: Int)
        /// Each row by itself, by PackBits. Of each plane and row, where it begins; and where the last one ends.
        case packed([Int])
    }

    private var rowBytes: Int { header.width * header.bits / 8 }

    init(_ file: OwnFile, _ header: PSDHeader, _ sections: PSDSections) throws(OwnDecodingError) {
        self.file = file
        self.header = header
        palette = sections.palette
        hasAlpha = sections.hasTransparency
        guard !hasAlpha || header.mode != .cmyk else {
            throw .unsupported("transparent CMYK", remedy: "save it in RGB")
        }
        planes = header.mode.colors + (hasAlpha ? 1 : 0)
        let layout: PixelLayout =
            switch header.mode {
            case .gray: hasAlpha ? .grayAlpha : .gray
            case .indexed, .rgb: hasAlpha ? .rgba : .rgb
            case .cmyk: .rgba
            }
        shape = ImageShape(
            width: header.width, height: header.height, layout: layout, sampleFormat: header.bits == 8 ? .u8 : .u16)
        let start = sections.pixels + 2
        switch try file.number(at: sections.pixels, length: 2, "its pixels") {
        case 0:
            guard planes * header.height * (header.width * header.bits / 8) <= file.size - start else {
                throw .broken("it ends in its pixels")
            }
            storage = .raw(start: start)
        case 1: storage = .packed(try Self.begins(file, header, planes, at: start))
        case let compression: throw .unsupported("pixels in compression \(compression)")
        }
    }

    /// Reads the table with the length of each row of each channel.
    private static func begins(
        _ file: OwnFile, _ header: PSDHeader, _ planes: Int, at start: Int
    ) throws(OwnDecodingError) -> [Int] {
        let length = header.isLarge ? 4 : 2
        let (all, wanted) = (header.channels * header.height, planes * header.height)
        guard all * length <= file.size - start else { throw .broken("it ends in its table of rows") }
        var begin = start + all * length
        var begins = [begin]
        begins.reserveCapacity(wanted + 1)
        let step = 1 << 14
        for first in Swift.stride(from: 0, to: wanted, by: step) {
            let count = min(step, wanted - first)
            let bytes = try file.bytes(at: start + first * length, count: count * length, "its table of rows")
            for index in 0..<count {
                let packed = file.number(in: bytes[index * length..<(index + 1) * length])
                // Runs of single samples take two bytes each. Some writers add codes that mean nothing.
                guard packed <= 2 * header.width * header.bits / 8 + 128 else {
                    throw .broken("a row of its pixels has \(packed) bytes")
                }
                begin += packed
                begins.append(begin)
            }
        }
        guard begin <= file.size else { throw .broken("it ends in its pixels") }
        return begins
    }

    func rows(_ rows: Range<Int>) throws(OwnDecodingError) -> AnyRaster {
        var bytes: [[UInt8]] = []
        for plane in 0..<planes { bytes.append(try self.bytes(rows, plane)) }
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        return header.bits == 8
            ? .u8(Raster(rect: rect, layout: shape.layout, samples: samples(bytes, rows.count)))
            : .u16(Raster(rect: rect, layout: shape.layout, samples: samples(bytes.map(Self.wide), rows.count)))
    }

    private static func wide(_ bytes: [UInt8]) -> [UInt16] {
        (0..<bytes.count / 2).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
    }

    /// The bytes of some rows of a channel.
    private func bytes(_ rows: Range<Int>, _ plane: Int) throws(OwnDecodingError) -> [UInt8] {
        switch storage {
        case .raw(let start):
            return try file.bytes(
                at: start + (plane * header.height + rows.lowerBound) * rowBytes, count: rows.count * rowBytes,
                "its pixels")
        case .packed(let begins):
            var result: [UInt8] = []
            result.reserveCapacity(rows.count * rowBytes)
            for row in rows {
                let index = plane * header.height + row
                let packed = try file.bytes(
                    at: begins[index], count: begins[index + 1] - begins[index], "its pixels")
                guard PackBits.unpack(packed, count: rowBytes, to: &result) else {
                    throw .broken("the runs of row \(row) have another length than the row")
                }
            }
            return result
        }
    }

    /// The channels, pixel by pixel.
    private func samples<Sample: FixedWidthInteger & UnsignedInteger & PixelSample>(
        _ planes: [[Sample]], _ rows: Int
    ) -> [Sample] {
        var samples: [Sample] = []
        samples.reserveCapacity(rows * shape.width * shape.layout.channels)
        for pixel in 0..<rows * shape.width {
            let alpha = hasAlpha ? planes[header.mode.colors][pixel] : Sample.max
            switch header.mode {
            case .indexed:
                for channel in 0..<3 {
                    let color = palette[channel * 256 + Int(planes[0][pixel])]
                    samples.append(Self.behindWhite(Sample(truncatingIfNeeded: color), alpha))
                }
            case .gray, .rgb:
                for channel in 0..<header.mode.colors {
                    samples.append(Self.behindWhite(planes[channel][pixel], alpha))
                }
            // The file has 0 for all ink.
            case .cmyk: for channel in 0..<4 { samples.append(Sample.max - planes[channel][pixel]) }
            }
            if hasAlpha { samples.append(alpha) }
        }
        return samples
    }

    /// The colour of opacity `alpha` that gives `color` in front of white.
    private static func behindWhite<Sample: FixedWidthInteger & UnsignedInteger>(
        _ color: Sample, _ alpha: Sample
    ) -> Sample {
        guard alpha < Sample.max else { return color }
        guard alpha > 0 else { return 0 }
        let full = UInt64(Sample.max)
        let light = UInt64(color) + UInt64(alpha)
        return light <= full ? 0 : Sample(min(full, ((light - full) * full + UInt64(alpha) / 2) / UInt64(alpha)))
    }
}

/// Runs of bytes, as TIFF and Photoshop have them.
private enum PackBits {
    /// Appends `count` bytes. Returns false if the runs give more or fewer.
    static func unpack(_ packed: [UInt8], count: Int, to result: inout [UInt8]) -> Bool {
        let end = result.count + count
        var offset = 0
        while offset < packed.count {
            let code = packed[offset]
            offset += 1
            switch code {
            case 0...127:
                let length = Int(code) + 1
                guard length <= packed.count - offset, length <= end - result.count else { return false }
                result += packed[offset..<offset + length]
                offset += length
            case 128: continue
            default:
                let length = 257 - Int(code)
                guard offset < packed.count, length <= end - result.count else { return false }
                result.append(contentsOf: repeatElement(packed[offset], count: length))
                offset += 1
            }
        }
        return result.count == end
    }
}
