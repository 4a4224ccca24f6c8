import CVips
package import Catalogs

/// TIFF and BigTIFF. Metadata: EXIF (without a maker note), XMP, IPTC, profile, resolution.
package struct TIFFFormat: ImageFormat {
    private enum Compression: String, CaseIterable {
        case none
        case deflate
        case zstd
        case lzw
        case jpeg

        var vips: VipsForeignTiffCompression {
            switch self {
            case .none: VIPS_FOREIGN_TIFF_COMPRESSION_NONE
            case .deflate: VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE
            case .zstd: VIPS_FOREIGN_TIFF_COMPRESSION_ZSTD
            case .lzw: VIPS_FOREIGN_TIFF_COMPRESSION_LZW
            case .jpeg: VIPS_FOREIGN_TIFF_COMPRESSION_JPEG
            }
        }
    }

    private enum BigTIFF: String, CaseIterable {
        case auto
        case on
        case off
    }

    package let title = "TIFF"
    package let cost = CodecCost(decode: 8, encode: 25)
    package let holdsGray = true
    package let holdsCMYK = true
    package let loader = Loader("tiffload_source", "VipsForeignLoadTiffSource", traits: [.hasPages])

    package let descriptor = FormatDescriptor(
        name: "tiff", extensions: ["tif", "tiff"], canRead: true, canWrite: true, sampleFormats: [.u8, .u16, .f32],
        holdsAlpha: true, isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [
            ParameterDescriptor(
                "compression", .choice(Compression.allCases.map(\.rawValue)), fallback: .word("deflate"),
                summary:
                    "Chooses the compression. 'none' is fastest. 'zstd' is faster than 'deflate', but fewer programs read it. 'jpeg' loses detail, and takes 8-bit samples only"
            ),
            ParameterDescriptor(
                "level", .integer(minimum: 1, maximum: 19), fallback: .integer(3),
                summary: "Sets the effort of 'zstd'. 1 is fastest, 19 makes the smallest files"),
            ParameterDescriptor(
                "predictor", .boolean, fallback: .boolean(true),
                summary: "Stores differences of neighbours, which 'deflate', 'zstd' and 'lzw' compress better"),
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "Sets how much detail the compression 'jpeg' keeps"),
            ParameterDescriptor(
                "tile", .boolean, fallback: .boolean(false),
                summary: "Stores tiles of 256 × 256 pixels instead of strips"),
            ParameterDescriptor(
                "pyramid", .boolean, fallback: .boolean(false),
                summary: "Stores the picture at a half, a quarter, … of its size, too, in tiles"),
            ParameterDescriptor(
                "bigtiff", .choice(BigTIFF.allCases.map(\.rawValue)), fallback: .word("auto"),
                summary: "Allows more than 4 GB. 'auto' does so if the picture may need it"),
        ], sampleLimits: [SampleLimit("compression", .word(Compression.jpeg.rawValue), [.u8])])

    package let holdsIPTC = true

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 43]]
            .contains { head.starts(with: $0) }
    }

    package func variant(of file: InputFile) -> any ImageFormat {
        CameraRawFormat.isHeld(by: file) ? CameraRawFormat() : self
    }

    package func damage(in file: InputFile) -> String? {
        TIFFDirectories(size: file.size) { file.bytes(in: $0) }?.damage
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        let compression: Compression = try options.word("compression")
        if compression == .jpeg, shape.sampleFormat != .u8 {
            throw .unsuitable("compression: jpeg holds 8-bit samples only")
        }
        let predictor =
            try options.boolean("predictor")
            ? VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL : VIPS_FOREIGN_TIFF_PREDICTOR_NONE
        let isPyramid = try options.boolean("pyramid")
        let isTiled = try options.boolean("tile") || isPyramid
        var arguments: [String: VipsArgument] = [
            "compression": .integer(Int(compression.vips.rawValue)),
            "predictor": .integer(Int(predictor.rawValue)),
            "Q": .integer(try options.integer("quality")),
            "tile": .boolean(isTiled),
            "tile_width": .integer(256),
            "tile_height": .integer(isTiled ? 256 : 128),
            "pyramid": .boolean(isPyramid),
            "bigtiff": .boolean(try needsBigTIFF(shape, options)),
        ]
        // Deflate keeps the level of libtiff, so that outputs stay the same with a libvips that would pass this one on.
        if compression == .zstd { arguments["level"] = .integer(try options.integer("level")) }
        return Saver("tiffsave_target", arguments, fields: [.icc, .xmp])
    }

    /// Compressed data can be larger than the samples, but by much less than the eighth that is reserved here. A pyramid needs
    /// a third more.
    private func needsBigTIFF(_ shape: ImageShape, _ options: FormatOptions) throws(SaveError) -> Bool {
        let choice: BigTIFF = try options.word("bigtiff")
        switch choice {
        case .on: return true
        case .off: return false
        case .auto: return shape.byteCount > (try options.boolean("pyramid") ? 5 << 29 : 7 << 29)
        }
    }

    package func revise(_ file: OutputFile, adding metadata: ImageMetadata) { TIFFRevision.add(metadata, to: file) }

    package func libraries(for options: FormatOptions) -> [String] {
        switch try? options.word("compression") as Compression {
        case .deflate: ["libtiff", "libdeflate", "libz"]
        case .zstd: ["libtiff", "libzstd"]
        case .jpeg: ["libtiff", "libjpeg"]
        // Wrong words were refused before anything was written.
        case .some(.none), .lzw, nil: ["libtiff"]
        }
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        let compression: Compression? = try? options.word("compression")  // `saver` refuses wrong values
        return compression != .jpeg
    }
}

/// Adds EXIF and IPTC to a TIFF file, which libvips cannot do. A new main directory at the file's end contains the old and the
/// new entries, and the header points to it.
enum TIFFRevision {
    static func add(_ metadata: ImageMetadata, to file: OutputFile) {
        guard metadata.exif != nil || metadata.iptc != nil,
            let directories = TIFFDirectories(size: file.size, fetch: file.bytes)
        else { return }
        let rows = directories.main
        let document = document(of: metadata, beside: rows, littleEndian: directories.isLittleEndian)
        let position = (file.size + 1) & ~1
        let bytes = DirectoryWriter(
            document, offsets: directories.offsets, foreignRows: rows, next: directories.offsetAfterMain
        ).bytes(at: position)
        // A file that has reached the largest offset keeps its pixels without these metadata.
        guard directories.offsets == .big || position + bytes.count <= UInt32.max else { return }
        file.put(bytes, at: position)
        let pointer = [UInt8].number(
            position, length: directories.offsets.length, littleEndian: directories.isLittleEndian)
        file.put(pointer, at: directories.offsets.headerPointer)
    }

    /// The entries that the file lacks. A maker note is omitted, because its offsets are only valid at its old position.
    private static func document(
        of metadata: ImageMetadata, beside rows: [TIFFDirectories.Entry], littleEndian: Bool
    ) -> ExifDocument {
        let source = metadata.exif.flatMap { ExifDocument(block: $0.bytes) }
        var document = source ?? ExifDocument(littleEndian: littleEndian)
        document.removeEntries(in: .exif) { $0.tag == ExifDocument.makerNote }
        document = document.reordered(littleEndian: littleEndian)
        if let iptc = metadata.iptc {
            document.add(ExifDocument.Entry(tag: ExifTag.iptc, type: .undefined, bytes: iptc.bytes), to: .main)
        }
        let present = Set(rows.map(\.tag))
        document.removeEntries(in: .main) { ExifTag.ofJPEG.contains($0.tag) || present.contains($0.tag) }
        return document
    }
}
