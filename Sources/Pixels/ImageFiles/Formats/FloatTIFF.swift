import CVips

/// TIFF files whose samples are floats of 16 or 64 bits, which libvips does not read.
///
/// libvips receives the file as if the samples were integers. Those of 16 bits are then converted to floats by a table. Two
/// adjacent integers of 32 bits are combined into one float of 64. Strips, tiles and compressions are decoded by libtiff as
/// usual.
struct FloatTIFF {
    enum Samples: Hashable {
        case half
        /// - Parameter highFirst: whether the upper half of a sample comes first.
        case double(highFirst: Bool)
    }

    /// The kinds of samples of the pages with such samples, from 0. Other pages do not change.
    let samples: [Int: Samples]
    /// The patches that make integers of the samples.
    let patches: [InputFile.Patch]

    /// Returns nil for other files.
    ///
    /// - Throws: an error for samples that cannot be read in this way.
    init?(_ file: InputFile) throws(UnsupportedFeatureError) {
        guard let directories = TIFFDirectories(size: file.size, fetch: { file.bytes(in: $0) }) else { return nil }
        var (patches, samples): ([InputFile.Patch], [Int: Samples]) = ([], [:])
        for (index, entries) in directories.pages.enumerated() {
            let page = Page(entries: entries, directories: directories)
            guard page.numbers(ExifTag.sampleFormat).contains(Self.float),
                let bits = [16, 64].first(where: page.numbers(Self.bitsPerSample).contains)
            else { continue }
            try page.check(bits: bits)
            guard let own = bits == 16 ? page.halfPatches : page.doublePatches else {
                throw UnsupportedFeatureError("\(bits)-bit samples", remedy: "store it in 32 bits")
            }
            patches += own
            samples[index] = bits == 16 ? .half : .double(highFirst: !directories.isLittleEndian)
        }
        guard !samples.isEmpty else { return nil }
        self.samples = samples
        self.patches = patches
    }

    private struct Page {
        let entries: [TIFFDirectories.Entry]
        let directories: TIFFDirectories

        func numbers(_ tag: UInt16) -> [Int] { entries.first { $0.tag == tag }.flatMap(directories.numbers) ?? [] }

        /// Refuses features for which libtiff would need the real sample format.
        func check(bits: Int) throws(UnsupportedFeatureError) {
            guard numbers(ExifTag.extraSamples).first != 1 else {
                throw UnsupportedFeatureError("floating-point samples that are multiplied by alpha")
            }
            let known: [Int?] = bits == 16 ? [nil, 1, 2] : [nil, 1]
            guard known.contains(numbers(predictor).first) else {
                throw UnsupportedFeatureError(
                    "\(bits)-bit floating-point samples and a predictor of their own",
                    remedy: "store it without a predictor, or in 32 bits")
            }
            // 1 (black is 0) and 2 (RGB) are supported. Other interpretations use integers in other ways.
            guard [1, 2].contains(numbers(photometric).first) else {
                throw UnsupportedFeatureError(
                    "\(bits)-bit floating-point samples that are neither RGB nor gray", remedy: "store it in 32 bits")
            }
            guard bits == 16 || [nil, 1].contains(numbers(planarConfiguration).first) else {
                throw UnsupportedFeatureError(
                    "64-bit floating-point samples in planes", remedy: "store it pixel by pixel, or in 32 bits")
            }
        }

        /// Returns nil if the directory is malformed.
        var halfPatches: [InputFile.Patch]? {
            guard let entry = entries.first(where: { $0.tag == ExifTag.sampleFormat }), entry.type == .short,
                entry.range.count <= 2 * mostSamples
            else { return nil }
            let bytes = (0..<entry.range.count / 2).flatMap { _ in number(unsigned, length: 2) }
            return [InputFile.Patch(offset: entry.range.lowerBound, bytes: bytes)]
        }

        /// The patches for twice as many samples of 32 bits.
        var doublePatches: [InputFile.Patch]? {
            guard let samples = numbers(samplesPerPixel).first, (1...mostSamples).contains(samples) else { return nil }
            let values = [bitsPerSample: 32, ExifTag.sampleFormat: unsigned, samplesPerPixel: 2 * samples]
            let patched = entries.filter { values[$0.tag] != nil }
            guard patched.count == values.count, patched.allSatisfy({ $0.type == .short }) else { return nil }
            return patched.map { entry in
                let length = directories.offsets.length
                // One value applies to all samples, and is stored in the entry itself.
                let row =
                    entry.row[..<4] + number(1, length: length) + number(values[entry.tag] ?? 0, length: 2)
                    + Array(repeating: 0, count: length - 2)
                return InputFile.Patch(offset: entry.offset, bytes: Array(row))
            }
        }

        private func number(_ value: Int, length: Int) -> [UInt8] {
            .number(value, length: length, littleEndian: directories.isLittleEndian)
        }
    }

    private static let mostSamples = 64
    private static let unsigned = 1
    private static let float = 3
    private static let bitsPerSample: UInt16 = 258
    private static let photometric: UInt16 = 262
    private static let samplesPerPixel: UInt16 = 277
    private static let planarConfiguration: UInt16 = 284
    private static let predictor: UInt16 = 317

    /// The float of each 16-bit number, by IEEE 754: a sign, five bits of exponent and ten of fraction.
    fileprivate static let halfs: [Float] = (0...UInt32(65535)).map { bits in
        let (exponent, fraction) = ((bits >> 10) & 31, bits & 1023)
        let sign = (bits >> 15) << 31
        switch exponent {
        case 0: return Float(fraction) / 16_777_216 * (sign == 0 ? 1 : -1)
        case 31: return Float(bitPattern: sign | 0x7F80_0000 | (fraction << 13))
        default: return Float(bitPattern: sign | ((exponent + 112) << 23) | (fraction << 13))
        }
    }
}

extension FloatTIFF.Samples {
    /// Converts the integers that libvips has read into floats of 32 bits.
    func floats(_ image: consuming VipsImageReference) throws(VipsError) -> VipsImageReference {
        switch self {
        case .half where image.bandFormat == VIPS_FORMAT_USHORT:
            let call = try VipsCall("maplut")
            call.set("in", to: image)
            call.set("lut", to: try VipsImageReference(table: FloatTIFF.halfs, bands: 1))
            return try call.image()
        case .double(let highFirst) where image.bandFormat == VIPS_FORMAT_UINT && image.bands.isMultiple(of: 2):
            let bands = image.bands / 2
            let call = try VipsCall("copy")
            call.set("in", to: highFirst ? try Self.swapped(image) : image)
            call.set("format", to: .integer(Int(VIPS_FORMAT_DOUBLE.rawValue)))
            call.set("bands", to: .integer(bands))
            let kind = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
            call.set("interpretation", to: .integer(Int(kind.rawValue)))
            return try Self.cast(try call.image(), to: VIPS_FORMAT_FLOAT)
        default: return image
        }
    }

    /// Swaps the halves of each sample to the byte order of this machine. Sums of one number and zeros are exact.
    private static func swapped(_ image: borrowing VipsImageReference) throws(VipsError) -> VipsImageReference {
        let bands = image.bands
        let mix = try VipsCall("recomb")
        mix.set("in", to: try cast(image, to: VIPS_FORMAT_DOUBLE))
        let matrix = (0..<bands).map { row in (0..<bands).map { $0 == row ^ 1 ? 1.0 : 0.0 } }
        mix.set("m", to: try VipsImageReference(matrix: matrix))
        return try cast(try mix.image(), to: VIPS_FORMAT_UINT)
    }

    private static func cast(
        _ image: borrowing VipsImageReference, to format: VipsBandFormat
    ) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("cast")
        call.set("in", to: image)
        call.set("format", to: .integer(Int(format.rawValue)))
        return try call.image()
    }
}
