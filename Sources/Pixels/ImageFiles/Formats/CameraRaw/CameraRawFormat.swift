import Arithmetic
import CRaw
package import Catalogs
import Geometry
import Glibc
import Raster

/// The raw pictures of cameras, which LibRaw develops. The settings are the same for all of them, so that the pixels depend on the
/// file and LibRaw alone: the camera's white balance (that of daylight if the file has none), AHD (LibRaw's own method for X-Trans),
/// no automatic brightness, clipped highlights. The result is sRGB of 16 bits.
/// <https://www.libraw.org/docs/API-datastruct-eng.html#libraw_output_params_t>
package struct CameraRawFormat: ReadOnlyFormat {
    package let title = "camera raw"
    package let cost = CodecCost(decode: 95, encode: 0)
    package let loader = Loader.own([.isDeveloped])
    package let neededClass: String? = nil
    package let isDecodedWhole = true
    package let descriptor = FormatDescriptor(
        name: "raw", extensions: Self.extensionsOfTIFF + ["cr3", "crw", "mrw", "orf", "raf", "rw2", "rwl"],
        canRead: true, canWrite: false, streams: .no, sampleFormats: [], holdsAlpha: false, isCameraRaw: true,
        isLossless: false, largestSide: 0, options: [])

    package init() {}

    /// The extensions of raw pictures that begin as a TIFF file does.
    private static let extensionsOfTIFF = [
        "dng", "3fr", "arw", "cr2", "dcr", "erf", "fff", "iiq", "kdc", "mef", "mos", "nef", "nrw", "pef", "sr2", "srf",
        "srw",
    ]

    package func recognizes(_ head: [UInt8]) -> Bool {
        let beginnings: [[UInt8]] = [
            Array("FUJIFILMCCD-RAW ".utf8), Array("\0MRM".utf8), Array("IIRO".utf8),
            Array("IIRS".utf8), Array("MMOR".utf8), [0x49, 0x49, 0x55, 0],
            [0x49, 0x49, 0x1A, 0, 0, 0] + "HEAPCCDR".utf8,
        ]
        return beginnings.contains { head.starts(with: $0) } || head.dropFirst(4).starts(with: "ftypcrx ".utf8)
    }

    /// Whether a file that begins as a TIFF does is a raw picture: by its name, or by its contents if its first page is a mere
    /// preview. Any other picture with a TIFF's name stays a TIFF.
    static func isHeld(by file: InputFile) -> Bool {
        let parts = (file.path.split(separator: "/").last ?? "").split(separator: ".")
        if parts.count > 1, let end = parts.last, extensionsOfTIFF.contains(end.lowercased()) { return true }
        guard file.size >= 12 else { return false }
        if file.bytes(in: 8..<12) == Array("CR\u{2}\0".utf8) { return true }
        return TIFFDirectories(size: file.size) { file.bytes(in: $0) }?.holdRawPicture ?? false
    }

    package func picture(in file: InputFile, shrink: Int) throws(OwnDecodingError) -> OwnPicture? {
        if TIFFDirectories(size: file.size, fetch: { file.bytes(in: $0) })?.needsOpcodesForValues ?? false {
            throw .unsupported(
                "values stored by curves of its own (DNG opcodes)",
                remedy: "save it as a DNG with lossless compression")
        }
        let raw = try CameraRaw(file, isHalved: shrink > 1)
        var picture = OwnPicture(shape: raw.shape) { try raw.rows($0) }
        picture.orientation = raw.orientation
        picture.largestShrink = raw.canBeHalved ? 2 : 1
        picture.heldBytes = raw.heldBytes
        if !raw.exif.isEmpty { picture.metadata[.exif] = raw.exif.block }
        return picture
    }

    package func complete(_ metadata: inout ImageMetadata, of file: InputFile, unpacked: (String) -> String?) {
        CameraRawTags(of: file)?.add(to: &metadata)
    }
}

extension TIFFDirectories {
    private enum Tag {
        static let compression: UInt16 = 259
        static let photometric: UInt16 = 262
        static let otherPictures: UInt16 = 330
        static let versionOfDNG: UInt16 = 50706
        /// The lists of opcodes for the values that are stored, and for linear ones.
        static let opcodes: Set<UInt16> = [51008, 51009]
    }

    /// Photometric interpretations: the pixels of a sensor with a colour filter, and those of one without.
    private static let ofSensors = [32803, 34892]

    /// Whether the first page is a preview of a raw picture.
    fileprivate var holdRawPicture: Bool {
        let entries = main
        func number(_ tag: UInt16) -> Int? { entries.first { $0.tag == tag }.flatMap(self.number) }
        guard (number(ExifTag.newSubfileType) ?? 0) & 1 == 1 else { return false }
        if entries.contains(where: { $0.tag == Tag.versionOfDNG }) { return true }
        guard let list = entries.first(where: { $0.tag == Tag.otherPictures }) else { return false }
        return (numbers(of: list, in: 0..<min(list.count, 16)) ?? []).contains { offset in
            directory(at: offset).contains {
                $0.tag == Tag.photometric && Self.ofSensors.contains(self.number(of: $0) ?? 0)
            }
        }
    }
}

/// Opcodes of a DNG, which a program has to apply to the pixels of a sensor: DNG Specification 1.4, chapter 7.
extension TIFFDirectories {
    private enum Opcode {
        static let mapTable = 7
        static let mapPolynomial = 8
    }

    /// The compression of lossy DNGs. LibRaw applies the polynomials of these.
    private static let lossy = 34892
    private static let mostOpcodes = 64
    private static let largestList = 1 << 20

    /// Whether a sensor's values are stored by curves that LibRaw does not know of. The picture would be too bright, in wrong colours.
    fileprivate var needsOpcodesForValues: Bool {
        let entries = main
        let others = entries.first { $0.tag == Tag.otherPictures }
        let offsets = others.flatMap { numbers(of: $0, in: 0..<min($0.count, 16)) } ?? []
        return ([entries] + offsets.map { directory(at: $0) }).contains { entries in
            func number(_ tag: UInt16) -> Int? { entries.first { $0.tag == tag }.flatMap(self.number) }
            guard Self.ofSensors.contains(number(Tag.photometric) ?? 0) else { return false }
            return entries.contains { entry in
                guard Tag.opcodes.contains(entry.tag), entry.range.count <= Self.largestList,
                    let list = values(of: entry)
                else { return false }
                let codes = Self.neededOpcodes(list[...])
                return codes.contains(Opcode.mapTable)
                    || codes.contains(Opcode.mapPolynomial) && number(Tag.compression) != Self.lossy
            }
        }
    }

    /// The codes of a list that a program may not leave out: a count, then for each a code, a version, flags, and the length of what
    /// follows, in four bytes each. The highest byte comes first in every file.
    private static func neededOpcodes(_ list: ArraySlice<UInt8>) -> [Int] {
        func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        var (rest, codes) = (list.dropFirst(4), [Int]())
        for _ in 0..<min(number(list), mostOpcodes) {
            guard rest.count >= 16 else { break }
            let fields = (0..<4).map { number(rest.dropFirst(4 * $0)) }
            if fields[2] & 1 == 0 { codes.append(fields[0]) }
            rest = rest.dropFirst(16 + min(fields[3], rest.count))
        }
        return codes
    }
}

/// A raw picture of a file. LibRaw develops it when the first row is asked for.
///
/// One thread at a time may use it.
private final class CameraRaw {
    let shape: ImageShape
    let orientation: Orientation
    /// Whether LibRaw can give exactly half of the width and height.
    let canBeHalved: Bool
    /// What the file's head says of the camera and the exposure.
    let exif: ExifDocument
    /// The memory for the sensor's pixels, and for LibRaw's four samples for each pixel of the picture.
    let heldBytes: Int
    private let file: InputFile
    private let isHalved: Bool
    private var developed: DevelopedRaw?

    /// What the methods of demosaicing need beside the picture: that for X-Trans has squares of 512 pixels with 94 bytes for each.
    private static let workBytes = 32 << 20

    /// A sensor has pixels that the picture does not show, but not many more.
    private static let mostMargins = 16 << 20

    /// The largest file of a raw picture. If another process has opened it, it is copied into memory before LibRaw looks at it.
    private static let mostBytes = 1 << 30

    init(_ file: InputFile, isHalved: Bool) throws(OwnDecodingError) {
        guard file.size <= Self.mostBytes else { throw .unsupported("more than 1 GiB") }
        let whole = try Self.facts(file, isHalved: false)
        let half = whole.is_mosaic != 0 ? try Self.facts(file, isHalved: true) : whole
        canBeHalved = half.width == (whole.width + 1) / 2 && half.height == (whole.height + 1) / 2
        let facts = isHalved && canBeHalved ? half : whole
        let (width, height) = (Int(facts.width), Int(facts.height))
        guard width > 0, height > 0 else { throw .broken("it states \(width) × \(height) pixels") }
        let (sensorWidth, sensorHeight) = (Int(facts.sensor_width), Int(facts.sensor_height))
        let pixels = Int(whole.width) * Int(whole.height)
        guard sensorWidth * sensorHeight <= 2 * pixels + Self.mostMargins else {
            throw .broken(
                "its sensor has \(sensorWidth) × \(sensorHeight) pixels, and its picture only \(whole.width) × \(whole.height)"
            )
        }
        shape = ImageShape(
            width: width, height: height, layout: facts.channels == 1 ? .gray : .rgb, sampleFormat: .u16)
        orientation = Orientation(flip: Int(facts.flip))
        exif = ExifDocument(of: facts)
        // LibRaw has four samples for each pixel, and also for each pixel of the sensor if that has no mosaic. While it reads a file
        // with floats, it has these and samples of 16 bits. The picture is there twice while it is stretched or turned. The file may
        // be in memory, too.
        let (sensor, hasOneSample) = (sensorWidth * sensorHeight, whole.is_mosaic != 0 || whole.channels == 1)
        let pixelBytes = 8 * (width * height + Int(facts.first_width) * Int(facts.first_height))
        let most = max((hasOneSample ? 2 : 8) * sensor + pixelBytes, (hasOneSample ? 6 : 18) * sensor)
        heldBytes = most + Self.workBytes + file.size
        self.file = file
        self.isHalved = isHalved && canBeHalved
    }

    private static func facts(
        _ file: InputFile, isHalved: Bool
    ) throws(OwnDecodingError) -> penumbra_raw_facts {
        var facts = penumbra_raw_facts()
        let end = penumbra_raw_read_facts(try name(of: file), isHalved ? 1 : 0, &facts)
        if let failure = failure(end, of: file, "it ends in its header, or its header has impossible values") {
            throw failure
        }
        return facts
    }

    private static func name(of file: InputFile) throws(OwnDecodingError) -> String {
        do throws(ImageFileError) {
            return try file.openName()
        } catch {
            throw .file(error)
        }
    }

    func rows(_ rows: Range<Int>) throws(OwnDecodingError) -> AnyRaster {
        let developed = try develop()
        let length = shape.width * shape.layout.channels
        let samples = [UInt16](unsafeUninitializedCapacity: rows.count * length) { buffer, count in
            for (index, row) in rows.enumerated() {
                let target = buffer[index * length..<(index + 1) * length]
                developed.copy(row, through: Self.curve, to: UnsafeMutableBufferPointer(rebasing: target))
            }
            count = rows.count * length
        }
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        // Its memory is needed for what follows.
        if rows.upperBound == shape.height { self.developed = nil }
        return .u16(Raster(rect: rect, layout: shape.layout, samples: samples))
    }

    private func develop() throws(OwnDecodingError) -> DevelopedRaw {
        if let developed { return developed }
        var end: Int32 = 0
        let raw = penumbra_raw_develop(try Self.name(of: file), isHalved ? 1 : 0, &end)
        if let failure = Self.failure(end, of: file, "its pixels are damaged or cut off") { throw failure }
        guard let raw else { throw .broken("LibRaw gives no pixels") }
        let developed = DevelopedRaw(raw)
        guard developed.has(shape) else { throw .broken("its pixels have another size than its header states") }
        self.developed = developed
        return developed
    }

    /// - Parameter damage: what is wrong with a broken file.
    private static func failure(_ end: Int32, of file: InputFile, _ damage: String) -> OwnDecodingError? {
        switch Int(end) {
        case ..<PENUMBRA_RAW_SYSTEM: .file(ImageFileError(path: file.path, reading: Int32(PENUMBRA_RAW_SYSTEM) - end))
        case PENUMBRA_RAW_FINE: nil
        case PENUMBRA_RAW_UNKNOWN:
            .unsupported(
                "contents that LibRaw \(version) does not know",
                remedy: file.path.lowercased().hasSuffix(".dng")
                    ? "save it as an older DNG of integers with lossless compression"
                    : "convert it to DNG; a file that is a TIFF needs the name of one")
        case PENUMBRA_RAW_TOO_LARGE: .unsupported("more than 2 GB of pixels")
        case PENUMBRA_RAW_NO_MEMORY: .file(ImageFileError(path: file.path, reading: ENOMEM))
        default: .broken(damage)
        }
    }

    private static let version =
        String(cString: penumbra_raw_version()).split(separator: "-").first.map(String.init) ?? ""

    /// The stored value of each linear one, by the curve of sRGB. LibRaw's own curve depends on the C library's functions.
    private static let curve: [UInt16] = (0...65535).map {
        UInt16((SRGBCurve.encode(Double($0) / 65535) * 65535).rounded())
    }
}

/// A picture in LibRaw's memory.
private final class DevelopedRaw {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { penumbra_raw_close(raw) }

    func has(_ shape: ImageShape) -> Bool {
        Int(penumbra_raw_width(raw)) == shape.width && Int(penumbra_raw_height(raw)) == shape.height
            && Int(penumbra_raw_channels(raw)) == shape.layout.channels
    }

    /// - Parameter samples: has room for a row.
    func copy(_ row: Int, through curve: [UInt16], to samples: UnsafeMutableBufferPointer<UInt16>) {
        precondition(
            samples.count >= Int(penumbra_raw_width(raw)) * Int(penumbra_raw_channels(raw)) && curve.count == 65536
                && (0..<Int(penumbra_raw_height(raw))).contains(row), "a row of the picture has room")
        penumbra_raw_copy_row(raw, Int32(row), curve, samples.baseAddress)
    }
}

extension Orientation {
    /// - Parameter flip: as LibRaw states it. 4 exchanges rows and columns, then 2 reverses the order of rows, and 1 that of
    ///   columns.
    fileprivate init(flip: Int) {
        self =
            switch flip {
            case 1: .mirrored
            case 2: .flipped
            case 3: .upsideDown
            case 4: .transposed
            case 5: .turnedRight
            case 6: .turnedLeft
            case 7: .transversed
            default: .upright
            }
    }
}
