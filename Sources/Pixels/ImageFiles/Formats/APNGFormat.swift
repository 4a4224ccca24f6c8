package import Catalogs
package import JobModel

/// Animated PNG: a PNG with further chunks for frames, which libvips does not know.
/// <https://www.w3.org/TR/png-3/#apng-frame-based-animation>
///
/// Other programs show the first frame, or a picture that is no part of the animation. Penumbra reads the animation only. It
/// writes whole frames. Metadata: those of PNG.
package struct APNGFormat: ImageFormat {
    private let png = PNGFormat()

    package let title = "APNG"
    package let cost = CodecCost(decode: 20, encode: 90)
    package let holdsGray = true
    package let loader = Loader("pngload_source", "VipsForeignLoadPngSource")
    package let findsPages = true

    package let descriptor = FormatDescriptor(
        name: "apng", extensions: ["apng"], canRead: true, canWrite: true, streams: .no, sampleFormats: [.u8, .u16],
        holdsAlpha: true, frameTime: 1, isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: PNGFormat.compressionOptions)

    package init() {}

    /// A PNG is recognised first. Only its chunks tell whether it is animated: ``PNGFormat/variant(of:)``.
    package func recognizes(_ head: [UInt8]) -> Bool { false }

    package func animation(in file: InputFile, pages: PageChoice) throws(OwnDecodingError) -> OwnPicture? {
        let frames = try APNGFrames(file)
        let chosen: Range<Int>
        switch pages {
        case .animation: chosen = 0..<frames.all.count
        case .first, .frame: chosen = 0..<1
        case .page(let number):
            guard number < frames.all.count else { throw .broken("it has no page \(number + 1)") }
            chosen = number..<number + 1
        }
        let header = try APNGPlayer.header(of: file)
        let player = try APNGPlayer(file, frames, chosen, like: header)
        var picture = OwnPicture(shape: player.shape.repeated(chosen.count)) { try player.rows($0) }
        picture.header = header
        picture.heldBytes = frames.heldBytes(player.shape)
        picture.frames = OwnPicture.Frames(
            count: frames.all.count, height: player.shape.height,
            durations: pages == .animation ? frames.all.map(\.duration) : nil, repetitions: frames.repetitions)
        return picture
    }

    // A file with other faults was refused before.
    package func holdsFurtherPictures(_ file: InputFile) -> Bool { (try? APNGFrames(file))?.hasFurtherPicture ?? false }

    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? { try png.statedColor(in: file, of: picture) }

    package func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?) {
        png.complete(&metadata, of: file, unpacked: unpacked)
    }

    /// The call that writes each frame as a PNG.
    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        Saver("pngsave_target", try PNGFormat.compression(options), fields: [.icc, .xmp])
    }

    package func insertion(of metadata: ImageMetadata, in layout: PixelLayout) -> Insertion? {
        png.insertion(of: metadata, in: layout)
    }

    /// The compressed frames are in memory one after the other.
    package func encoderMemory(for shape: ImageShape, frames: Int) -> Int { shape.byteCount }

    package func libraries(for options: FormatOptions) -> [String] { ["libpng", "libspng", "libz"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { true }
}

/// The frames of an animated PNG, as its chunks state them. No pixel is decoded.
struct APNGFrames {
    /// What happens to a frame's rectangle before the next frame is drawn.
    enum Disposal: UInt8 {
        case none = 0
        case background = 1
        case previous = 2
    }

    struct Frame {
        let column: Int
        let row: Int
        let width: Int
        let height: Int
        let duration: FrameDuration
        let disposal: Disposal
        /// Whether its pixels are drawn over those before it. Otherwise they replace them.
        let blends: Bool
        /// Where its compressed data are in the file.
        fileprivate(set) var data: [Part] = []

        fileprivate var dataLength: Int { data.reduce(0) { $0 + $1.dataLength } }
    }

    /// A chunk with compressed data.
    struct Part {
        /// The offset of the chunk's length.
        let offset: Int
        let length: Int
        /// Whether it is an `fdAT`, whose content begins with its number.
        let isNumbered: Bool

        /// The length of the compressed data.
        var dataLength: Int { length - (isNumbered ? 4 : 0) }
    }

    let width: Int
    let height: Int
    /// The end of the content of `IHDR`: bits, type of colours, methods.
    let form: [UInt8]
    /// `PLTE` and `tRNS`, which frames share.
    private(set) var shared: [UInt8] = []
    private(set) var all: [Frame] = []
    /// Whether there is a picture that is no part of the animation.
    private(set) var hasFurtherPicture = false
    /// 0 for an animation without an end.
    private(set) var repetitions = 0

    /// The largest number of chunks. No writer needs more.
    private static let mostChunks = 1_000_000
    /// The largest number of rows of all frames together.
    private static let mostRows = 10_000_000  // libvips' VIPS_MAX_COORD
    /// The largest size of a palette, or of its alpha.
    private static let largestPalette = 768

    init(_ file: InputFile) throws(OwnDecodingError) {
        let file = OwnFile(file: file, isLittleEndian: false)
        let what = "its chunks"
        let header = try file.bytes(at: PNGChunks.signature.count, count: 8 + 13, "its header")
        guard header[..<8] == [0, 0, 0, 13] + Array("IHDR".utf8) else { throw .broken("it does not begin with IHDR") }
        width = file.number(in: header[8..<12])
        height = file.number(in: header[12..<16])
        form = Array(header[16...])
        guard width > 0, height > 0, max(width, height) <= OwnPicture.longestSide else {
            throw .broken("it states \(width) × \(height) pixels")
        }
        var (offset, sequence, hasPicture) = (PNGChunks.headerLength, 0, false)
        var sharedNames: Set<String> = []
        var declared: Int?
        func next(_ number: Int) throws(OwnDecodingError) {
            guard number == sequence else { throw .broken("its part \(sequence) has the number \(number)") }
            sequence += 1
        }
        chunks: for count in 0... {
            guard count < Self.mostChunks else { throw .broken("it has more than \(Self.mostChunks) chunks") }
            let head = try file.bytes(at: offset, count: 8, what)
            let length = file.number(in: head[..<4])
            guard length <= file.size - offset - 12 else { throw .broken("it ends in \(what)") }
            let content = offset + 8
            let name = String(decoding: head[4...], as: UTF8.self)
            switch name {
            case "IEND": break chunks
            case "acTL" where declared == nil && length == 8:
                let numbers = try Self.content(file, at: offset, length)
                declared = file.number(in: numbers[..<4])
                repetitions = file.number(in: numbers[4...])
            case "PLTE", "tRNS":
                guard !hasPicture else { break }
                // Each frame is decoded with them.
                guard sharedNames.insert(name).inserted else { throw .broken("it has two chunks \(name)") }
                guard length <= Self.largestPalette else { throw .broken("its palette has \(length) bytes") }
                shared += try file.bytes(at: offset, count: length + 12, what)
            case "IDAT":
                hasPicture = true
                // Without a control before it, the picture is no part of the animation.
                guard !all.isEmpty else {
                    hasFurtherPicture = true
                    break
                }
                guard all.count == 1 else { throw .broken("its picture comes after its second frame") }
                all[0].data.append(Part(offset: offset, length: length, isNumbered: false))
            case "fcTL":
                guard length == 26 else { throw .broken("a frame's control has \(length) bytes") }
                let bytes = try Self.content(file, at: offset, length)
                try next(file.number(in: bytes[..<4]))
                try add(bytes, file, isPicture: !hasPicture)
            case "fdAT":
                guard length >= 4 else { throw .broken("a frame's data have no number") }
                try next(try file.number(at: content, length: 4, what))
                guard hasPicture, let last = all.indices.last else { throw .broken("data come before their frame") }
                guard all[last].data.first?.isNumbered ?? true else {
                    throw .broken("frame 1 has data of two kinds")
                }
                all[last].data.append(Part(offset: offset, length: length, isNumbered: true))
            default: break
            }
            offset += 12 + length
        }
        guard all.count == declared, !all.isEmpty else {
            throw .broken("it states \(declared ?? 0) frames and has \(all.count)")
        }
        for (index, frame) in all.enumerated() {
            guard !frame.data.isEmpty else { throw .broken("frame \(index + 1) has no data") }
            // Compressed data are hardly longer than their pixels.
            let most = 2 * ((frame.width * bitsPerPixel + 7) / 8 + 1) * frame.height + (1 << 16)
            guard frame.dataLength <= most else {
                throw .broken("frame \(index + 1) has more data than its pixels need")
            }
        }
        guard all.count <= Self.mostRows / height else {
            throw .broken("its \(all.count) frames have more than \(Self.mostRows) rows")
        }
    }

    /// The bits of a pixel as they are stored.
    private var bitsPerPixel: Int {
        let channels = [0: 1, 2: 3, 3: 1, 4: 2][form[1]] ?? 4
        return channels * Int(form[0])
    }

    /// The memory that a decoder of these frames needs.
    ///
    /// - Parameter shape: that of one frame of the animation.
    func heldBytes(_ shape: ImageShape) -> Int {
        let pixelBytes = shape.layout.channels * shape.sampleFormat.bytes
        func most(_ bytes: (Frame) -> Int) -> Int { all.map(bytes).max() ?? 0 }
        // The canvas, what comes back after a frame (twice while it is copied), a frame's pixels, and its data as a PNG in two places.
        return shape.byteCount + 2 * most { $0.disposal == .previous ? $0.width * $0.height * pixelBytes : 0 }
            + most { $0.width * $0.height * pixelBytes } + 2 * most(\.dataLength)
    }

    /// The content of a short chunk, whose check sum must be right.
    private static func content(_ file: OwnFile, at offset: Int, _ length: Int) throws(OwnDecodingError) -> [UInt8] {
        let chunk = try file.bytes(at: offset + 4, count: length + 8, "its chunks")
        guard PNGChunks.crc(chunk.dropLast(4)) == UInt32(truncatingIfNeeded: file.number(in: chunk.suffix(4)))
        else { throw .broken("the check sum of a chunk is wrong") }
        return Array(chunk[4..<4 + length])
    }

    /// Adds the frame of a control.
    ///
    /// - Parameter isPicture: whether its pixels are those of the picture.
    private mutating func add(
        _ control: [UInt8], _ file: OwnFile, isPicture: Bool
    ) throws(OwnDecodingError) {
        func number(_ offset: Int, _ length: Int) -> Int { file.number(in: control[offset..<offset + length]) }
        let index = all.count + 1
        let (frameWidth, frameHeight, column, row) = (number(4, 4), number(8, 4), number(12, 4), number(16, 4))
        guard frameWidth > 0, frameHeight > 0, column <= width - frameWidth, row <= height - frameHeight else {
            throw .broken("frame \(index) lies outside of the picture")
        }
        if isPicture {
            guard all.isEmpty else { throw .broken("two frames come before the picture") }
            guard frameWidth == width, frameHeight == height else {
                throw .broken("frame \(index) has another size than the picture")
            }
        }
        guard let disposal = Disposal(rawValue: control[24]), control[25] <= 1 else {
            throw .broken("frame \(index) is drawn in an unknown way")
        }
        let (numerator, denominator) = (number(20, 2), number(22, 2))
        all.append(
            Frame(
                column: column, row: row, width: frameWidth, height: frameHeight,
                duration: FrameDuration(numerator, denominator == 0 ? 100 : denominator), disposal: disposal,
                // Over nothing, the first frame stays as it is, also where it is transparent.
                blends: control[25] == 1 && !all.isEmpty))
    }

    /// Whether the frames cover the whole picture at all times, apart from their own alpha.
    var alwaysCover: Bool {
        guard let first = all.first, first.width == width, first.height == height else { return false }
        // There is nothing before the first frame.
        return all.dropLast().allSatisfy { $0.disposal != .background } && (all.count == 1 || first.disposal == .none)
    }

    /// A PNG of one frame alone.
    func picture(of index: Int, in file: InputFile) throws(OwnDecodingError) -> [UInt8] {
        let (frame, name) = (all[index], "frame \(index + 1)")
        let file = OwnFile(file: file, isLittleEndian: false)
        let size: [UInt8] =
            .number(frame.width, length: 4, littleEndian: false)
            + .number(frame.height, length: 4, littleEndian: false)
        var bytes = PNGChunks.signature + PNGChunks.chunk("IHDR", size + form) + shared
        bytes.reserveCapacity(bytes.count + frame.data.reduce(12) { $0 + $1.dataLength + 12 })
        for part in frame.data {
            let chunk = try file.bytes(at: part.offset, count: part.length + 12, name)
            guard part.isNumbered else {
                bytes += chunk
                continue
            }
            guard
                PNGChunks.crc(chunk[4..<chunk.count - 4])
                    == UInt32(truncatingIfNeeded: file.number(in: chunk.suffix(4)))
            else { throw .broken("the data of \(name) are damaged") }
            PNGChunks.append("IDAT", chunk[12..<chunk.count - 4], to: &bytes)
        }
        PNGChunks.append("IEND", [UInt8](), to: &bytes)
        return bytes
    }
}
