package import Catalogs
import Geometry
import Raster

/// Bitmaps of Windows and OS/2: 1 to 32 bits, also run-length encoded, from the bottom to the top or from the top down.
/// <https://learn.microsoft.com/en-us/windows/win32/gdi/bitmap-storage>
///
/// Alpha counts only if the header names its bits. Bitmaps that contain a JPEG or a PNG are refused.
package struct BMPFormat: ReadOnlyFormat {
    package let title = "BMP"
    package let cost = CodecCost(decode: 3, encode: 0)
    package let loader = Loader.own()
    package let neededClass: String? = nil
    package let descriptor: FormatDescriptor = Self.reading("bmp", ["bmp", "dib"])

    package init() {}

    /// Recognises `BM`, and a header of a known size: texts may begin with `BM`, too.
    package func recognizes(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: "BM".utf8) else { return false }
        return BMPHeader.sizes.contains(Int(head[14])) && head[15...17].allSatisfy { $0 == 0 }
    }

    package func picture(in file: InputFile) throws(OwnDecodingError) -> OwnPicture? {
        let file = OwnFile(file: file, isLittleEndian: true)
        let header = try BMPHeader(file)
        var picture: OwnPicture
        switch header.storage {
        case .rows(let pixels):
            let reader = try BMPRows(file, header, pixels)
            picture = OwnPicture(shape: reader.shape) { try reader.rows($0) }
        case .runs(let bits, let palette):
            let reader = BMPRuns(file, header, bits: bits, palette: palette)
            picture = OwnPicture(shape: reader.shape) { try reader.rows($0) }
        }
        picture.resolution = header.resolution
        if let profile = try header.profile(in: file) { picture.metadata[.icc] = profile }
        return picture
    }
}

/// What the header of a bitmap says.
private struct BMPHeader {
    enum Storage {
        case rows(Pixels)
        /// Run-length encoded indices of 4 or 8 bits.
        case runs(bits: Int, Palette)
    }

    enum Pixels {
        /// Indices of 1, 4 or 8 bits.
        case indices(bits: Int, Palette)
        /// Numbers of 2, 3 or 4 bytes with a part for each channel.
        case packed(bytes: Int, [Part])
    }

    /// The bits of a channel in a pixel.
    struct Part: Hashable {
        let shift: Int
        let largest: UInt32

        /// Returns nil if the bits are not adjacent, or if there are none.
        init?(mask: Int) {
            guard mask > 0 else { return nil }
            shift = mask.trailingZeroBitCount
            let bits = mask >> shift
            guard bits & (bits + 1) == 0 else { return nil }
            largest = UInt32(bits)
        }

        @inline(__always) func value(in pixel: UInt32) -> UInt8 {
            let value = pixel >> UInt32(shift) & largest
            return largest == 255
                ? UInt8(truncatingIfNeeded: value)
                : UInt8((UInt64(value) * 255 + UInt64(largest / 2)) / UInt64(largest))
        }
    }

    struct Palette {
        /// Three samples for each entry: red, green, blue.
        let colors: [UInt8]
        var count: Int { colors.count / 3 }
        var isGray: Bool {
            (0..<count).allSatisfy { entry in
                let (red, green, blue) = (colors[3 * entry], colors[3 * entry + 1], colors[3 * entry + 2])
                return red == green && green == blue
            }
        }
        var layout: PixelLayout { isGray ? .gray : .rgb }
    }

    /// Of OS/2 1, Windows 3 with two extensions, OS/2 2, Windows 95 and Windows 98.
    static let sizes = [coreSize, 40, 52, 56, 64, 108, newestSize]
    private static let coreSize = 12
    private static let newestSize = 124

    let width: Int
    let height: Int
    let isTopDown: Bool
    let storage: Storage
    /// The offset of the pixels.
    let pixels: Int
    let resolution: ImageMetadata.Resolution?
    private let size: Int

    private enum Compression {
        static let none = 0
        static let runs8 = 1
        static let runs4 = 2
        static let masks = 3
        static let jpeg = 4
        static let png = 5
        static let masksWithAlpha = 6
    }

    init(_ file: OwnFile) throws(OwnDecodingError) {
        let (what, start) = ("its header", 14)
        size = try file.number(at: start, length: 4, what)
        pixels = try file.number(at: 10, length: 4, what)
        let isCore = size == Self.coreSize
        let signedHeight: Int
        if isCore {
            width = try file.number(at: start + 4, length: 2, what)
            signedHeight = try file.number(at: start + 6, length: 2, what)
        } else {
            width = try file.signed(at: start + 4, what)
            signedHeight = try file.signed(at: start + 8, what)
        }
        isTopDown = signedHeight < 0
        height = abs(signedHeight)
        guard width > 0, height > 0 else { throw .broken("it states \(width) × \(signedHeight) pixels") }
        guard max(width, height) <= OwnPicture.longestSide else {
            throw .broken(
                "it states \(width) × \(height) pixels, and no side may have more than \(OwnPicture.longestSide)")
        }
        resolution = isCore ? nil : try Self.resolution(file, at: start + 24)
        storage = try Self.storage(file, size: size, pixels: pixels)
        if case .runs = storage, isTopDown { throw .broken("its runs begin at the top, which no bitmap's do") }
    }

    /// - Parameters:
    ///   - size: that of the header.
    ///   - pixels: their offset.
    private static func storage(_ file: OwnFile, size: Int, pixels: Int) throws(OwnDecodingError) -> Storage {
        let (what, start) = ("its header", 14)
        let (isCore, isOS2) = (size == coreSize, size == 64)
        let bits = try file.number(at: start + (isCore ? 10 : 14), length: 2, what)
        let compression = isCore ? Compression.none : try file.number(at: start + 16, length: 4, what)
        let isMasked = [Compression.masks, Compression.masksWithAlpha].contains(compression)
        // The first header with masks has them behind it.
        let masksLength = size == 40 && isMasked ? (compression == Compression.masks ? 12 : 16) : 0
        let end = start + size
        guard pixels >= end + masksLength, pixels <= file.size else {
            throw .broken("its pixels begin at byte \(pixels), which is not behind its header")
        }
        switch (compression, bits) {
        case (Compression.none, 1), (Compression.none, 4), (Compression.none, 8):
            return .rows(.indices(bits: bits, try palette(file, bits: bits, from: end, to: pixels, isCore: isCore)))
        case (Compression.none, 16):
            return .rows(.packed(bytes: 2, [0x7C00, 0x3E0, 0x1F].compactMap(Part.init)))
        case (Compression.none, 24), (Compression.none, 32):
            return .rows(.packed(bytes: bits / 8, [0xFF_0000, 0xFF00, 0xFF].compactMap(Part.init)))
        case (Compression.runs8, 8), (Compression.runs4, 4):
            return .runs(bits: bits, try palette(file, bits: bits, from: end, to: pixels, isCore: isCore))
        case (Compression.masks, 16), (Compression.masks, 32), (Compression.masksWithAlpha, 16),
            (Compression.masksWithAlpha, 32):
            guard !isOS2 else { throw .unsupported("the compression of OS/2") }
            let hasAlphaMask = size >= 56 || compression == Compression.masksWithAlpha
            return .rows(.packed(bytes: bits / 8, try parts(file, at: start + 40, bits: bits, hasAlphaMask)))
        case (Compression.masks, 1) where isOS2, (Compression.jpeg, 24) where isOS2:
            throw .unsupported("the compression of OS/2")
        case (Compression.jpeg, _): throw .unsupported("a JPEG in it", remedy: "save it as JPEG")
        case (Compression.png, _): throw .unsupported("a PNG in it", remedy: "save it as PNG")
        default: throw .unsupported("\(bits) bits a pixel and compression \(compression)")
        }
    }

    private static func palette(
        _ file: OwnFile, bits: Int, from start: Int, to end: Int, isCore: Bool
    ) throws(OwnDecodingError) -> Palette {
        let entry = isCore ? 3 : 4
        let stated = isCore ? 0 : try file.number(at: 14 + 32, length: 4, "its header")
        let most = 1 << bits
        // Some writers leave out what no pixel has. A file's own count may exceed its palette.
        let count = min(stated == 0 ? most : min(stated, most), (end - start) / entry)
        guard count > 0 else { throw .broken("it has no palette") }
        let bytes = try file.bytes(at: start, count: count * entry, "its palette")
        // Blue comes first.
        return Palette(colors: (0..<count).flatMap { bytes[$0 * entry..<$0 * entry + 3].reversed() })
    }

    /// The channels' masks: red, green, blue, and alpha if it has one.
    private static func parts(
        _ file: OwnFile, at offset: Int, bits: Int, _ hasAlphaMask: Bool
    ) throws(OwnDecodingError) -> [Part] {
        var masks: [Int] = []
        for index in 0..<(hasAlphaMask ? 4 : 3) {
            masks.append(try file.number(at: offset + 4 * index, length: 4, "its masks"))
        }
        if masks.last == 0, hasAlphaMask { masks.removeLast() }
        let parts = masks.compactMap(Part.init)
        let areApart = masks.reduce(0, |) == masks.reduce(0, +)
        guard parts.count == masks.count, areApart, masks.allSatisfy({ $0 >> bits == 0 }) else {
            throw .unsupported("masks of colours that overlap or have gaps")
        }
        return parts
    }

    /// Pixels per metre. Zeros and negative numbers mean nothing.
    private static func resolution(
        _ file: OwnFile, at offset: Int
    ) throws(OwnDecodingError) -> ImageMetadata.Resolution? {
        let x = try file.signed(at: offset, "its header")
        let y = try file.signed(at: offset + 4, "its header")
        return x > 0 && y > 0 ? ImageMetadata.Resolution(x: Double(x) / 1000, y: Double(y) / 1000) : nil
    }

    /// The embedded profile; nil if there is none. A profile in another file is ignored.
    func profile(in file: OwnFile) throws(OwnDecodingError) -> [UInt8]? {
        let start = 14
        guard size == Self.newestSize,
            try file.number(at: start + 56, length: 4, "its header") == 0x4D42_4544  // "MBED"
        else { return nil }
        let offset = try file.number(at: start + 112, length: 4, "its header")
        let count = try file.number(at: start + 116, length: 4, "its header")
        guard count <= OwnPicture.largestMetadata else { throw .broken("its profile has \(count) bytes") }
        return count == 0 ? nil : try file.bytes(at: start + offset, count: count, "its profile")
    }
}

/// The rows of a bitmap without compression.
private struct BMPRows {
    let shape: ImageShape
    private let file: OwnFile
    private let header: BMPHeader
    private let pixels: BMPHeader.Pixels
    /// Rows are padded to four bytes.
    private let stride: Int

    init(_ file: OwnFile, _ header: BMPHeader, _ pixels: BMPHeader.Pixels) throws(OwnDecodingError) {
        let (bits, layout): (Int, PixelLayout) =
            switch pixels {
            case .indices(let bits, let palette): (bits, palette.layout)
            case .packed(let bytes, let parts): (8 * bytes, parts.count == 4 ? .rgba : .rgb)
            }
        self.file = file
        self.header = header
        self.pixels = pixels
        stride = (header.width * bits + 31) / 32 * 4
        shape = ImageShape(width: header.width, height: header.height, layout: layout, sampleFormat: .u8)
        // The last row may lack its padding.
        let count = stride * (header.height - 1) + (header.width * bits + 7) / 8
        guard count <= file.size - header.pixels else { throw .broken("it ends in its pixels") }
    }

    func rows(_ rows: Range<Int>) throws(OwnDecodingError) -> AnyRaster {
        var samples: [UInt8] = []
        samples.reserveCapacity(rows.count * shape.stride)
        for row in rows {
            let stored = header.isTopDown ? row : header.height - 1 - row
            let offset = header.pixels + stored * stride
            let bytes = try file.bytes(at: offset, count: min(stride, file.size - offset), "its pixels")
            switch pixels {
            case .indices(let bits, let palette): try append(bytes, bits, palette, to: &samples)
            case .packed(let length, let parts): append(bytes, length, parts, to: &samples)
            }
        }
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        return .u8(Raster(rect: rect, layout: shape.layout, samples: samples))
    }

    private func append(
        _ bytes: [UInt8], _ bits: Int, _ palette: BMPHeader.Palette, to samples: inout [UInt8]
    ) throws(OwnDecodingError) {
        let isGray = shape.layout == .gray
        let perByte = 8 / bits
        for column in 0..<shape.width {
            // The first pixel has the highest bits.
            let shift = 8 - bits * (column % perByte + 1)
            let index = Int(bytes[column / perByte] >> UInt8(shift)) & (1 << bits - 1)
            try palette.append(index, isGray: isGray, to: &samples)
        }
    }

    private func append(_ bytes: [UInt8], _ length: Int, _ parts: [BMPHeader.Part], to samples: inout [UInt8]) {
        for column in 0..<shape.width {
            var pixel: UInt32 = 0
            for byte in 0..<length { pixel |= UInt32(bytes[column * length + byte]) << UInt32(8 * byte) }
            for part in parts { samples.append(part.value(in: pixel)) }
        }
    }
}

extension BMPHeader.Palette {
    fileprivate func append(_ index: Int, isGray: Bool, to samples: inout [UInt8]) throws(OwnDecodingError) {
        guard index < count else { throw .broken("a pixel has colour \(index), and its palette has \(count)") }
        if isGray {
            samples.append(colors[3 * index])
        } else {
            samples.append(contentsOf: colors[3 * index..<3 * index + 3])
        }
    }
}

/// The rows of a bitmap of runs, which are stored from the bottom to the top.
///
/// The first call finds where each row begins. A jump and the end of a row leave pixels out, which have the first colour.
/// Some writers also encode the padding of rows to four bytes. Its pixels are ignored.
///
/// One thread at a time may use it, from the top to the bottom.
private final class BMPRuns {
    let shape: ImageShape
    private let file: OwnFile
    private let bits: Int
    private let palette: BMPHeader.Palette
    private let start: Int
    /// The pixels of a row with its padding.
    private let paddedWidth: Int
    /// The rows that have runs and were not decoded yet, from the bottom.
    private var begins: [Begin]?

    private struct Begin {
        /// Counted from the bottom.
        let row: Int
        /// Where its runs begin, and its first pixel there.
        let offset: Int
        let column: Int
    }

    init(_ file: OwnFile, _ header: BMPHeader, bits: Int, palette: BMPHeader.Palette) {
        self.file = file
        self.bits = bits
        self.palette = palette
        start = header.pixels
        paddedWidth = (header.width * bits + 31) / 32 * 32 / bits
        shape = ImageShape(width: header.width, height: header.height, layout: palette.layout, sampleFormat: .u8)
    }

    /// What a pair of bytes asks for.
    private enum Code {
        case run(count: Int, value: UInt8)
        /// So many pixels follow, each with its own index.
        case pixels(Int)
        case endOfRow
        case end
        case jump(right: Int, up: Int)
    }

    private static func code(_ cursor: inout OwnCursor) throws(OwnDecodingError) -> Code {
        let (first, second) = (try cursor.next(), try cursor.next())
        if first > 0 { return .run(count: Int(first), value: second) }
        switch second {
        case 0: return .endOfRow
        case 1: return .end
        case 2: return .jump(right: Int(try cursor.next()), up: Int(try cursor.next()))
        default: return .pixels(Int(second))
        }
    }

    /// The number of bytes of pixels that follow a code, padded to an even number.
    private func length(_ pixels: Int) -> Int { (pixels * bits + 15) / 16 * 2 }

    /// Finds the begins of all rows, and refuses runs outside the picture.
    private func findRows() throws(OwnDecodingError) -> [Begin] {
        var begins = [Begin(row: 0, offset: start, column: 0)]
        var cursor = OwnCursor(file, from: start, to: file.size, "its runs")
        var (row, column) = (0, 0)
        func move(_ count: Int) throws(OwnDecodingError) {
            column += count
            guard row < shape.height, column <= paddedWidth else { throw .broken("its runs leave the picture") }
        }
        while true {
            switch try Self.code(&cursor) {
            case .run(let count, _): try move(count)
            case .pixels(let count):
                try move(count)
                try cursor.skip(length(count))
            case .endOfRow:
                // So that ends of rows take no more memory than rows do.
                guard row < shape.height else { throw .broken("its runs leave the picture") }
                (row, column) = (row + 1, 0)
            case .end: return begins
            case .jump(let right, let up):
                row += up
                try move(right)
                guard up > 0 else { continue }
            }
            if begins.last?.row != row { begins.append(Begin(row: row, offset: cursor.offset, column: column)) }
        }
    }

    func rows(_ rows: Range<Int>) throws(OwnDecodingError) -> AnyRaster {
        var begins = if let known = self.begins { known } else { try findRows() }
        self.begins = nil
        defer { self.begins = begins }
        var samples: [UInt8] = []
        samples.reserveCapacity(rows.count * shape.stride)
        for row in rows {
            var indices = [UInt8](repeating: 0, count: shape.width)
            let stored = shape.height - 1 - row
            while let last = begins.last, last.row > stored { begins.removeLast() }
            if let begin = begins.last, begin.row == stored { try fill(&indices, from: begin) }
            for index in indices { try palette.append(Int(index), isGray: shape.layout == .gray, to: &samples) }
        }
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        return .u8(Raster(rect: rect, layout: shape.layout, samples: samples))
    }

    private func fill(_ indices: inout [UInt8], from begin: Begin) throws(OwnDecodingError) {
        var cursor = OwnCursor(file, from: begin.offset, to: file.size, readAhead: 2 * shape.width + 16, "its runs")
        var column = begin.column
        func put(_ index: UInt8) throws(OwnDecodingError) {
            guard column < paddedWidth else { throw .broken("its runs leave the picture") }
            if column < indices.count { indices[column] = index }
            column += 1
        }
        while true {
            switch try Self.code(&cursor) {
            case .run(let count, let value):
                for pixel in 0..<count { try put(bits == 8 ? value : pixel % 2 == 0 ? value >> 4 : value & 15) }
            case .pixels(let count):
                var bytes: [UInt8] = []
                for _ in 0..<length(count) { bytes.append(try cursor.next()) }
                for pixel in 0..<count {
                    try put(bits == 8 ? bytes[pixel] : pixel % 2 == 0 ? bytes[pixel / 2] >> 4 : bytes[pixel / 2] & 15)
                }
            case .jump(let right, 0): column += right
            case .endOfRow, .end, .jump: return
            }
        }
    }
}
