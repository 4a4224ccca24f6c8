/// TIFF files whose samples are floats of 16 bits, which libvips does not read.
///
/// It gets the file as if they were whole numbers of 16 bits, and each of them is then looked up in a table of what it is as a
/// float. Strips, tiles and compressions are libtiff's as ever.
enum HalfFloatTIFF {
    /// What makes whole numbers of the samples; nil for other files.
    ///
    /// - Throws: what cannot be read so.
    static func patches(for file: InputFile) throws(UnsupportedFeature) -> [InputFile.Patch]? {
        guard let directories = TIFFDirectories(size: file.size, fetch: { file.bytes(in: $0) }) else { return nil }
        var patches: [InputFile.Patch] = []
        for entries in directories.pages {
            func numbers(_ tag: UInt16) -> [Int] {
                entries.first { $0.tag == tag }.flatMap(directories.numbers) ?? []
            }
            guard !numbers(bitsPerSample).contains(64) else {
                throw UnsupportedFeature("64-bit samples", remedy: "store it in 32 bits")
            }
            guard let format = entries.first(where: { $0.tag == ExifTag.sampleFormat }), format.type == .short,
                format.range.count <= 2 * mostSamples, numbers(ExifTag.sampleFormat).contains(float),
                numbers(bitsPerSample).contains(16)
            else { continue }
            guard numbers(ExifTag.extraSamples).first != 1 else {
                throw UnsupportedFeature("floating-point samples that are multiplied by alpha")
            }
            guard [nil, 1, 2].contains(numbers(predictor).first) else {
                throw UnsupportedFeature(
                    "16-bit floating-point samples and their own predictor",
                    remedy: "store it without a predictor, or in 32 bits")
            }
            // 1 is black for 0, 2 is RGB: the others count whole numbers their own way.
            guard [1, 2].contains(numbers(photometric).first) else {
                throw UnsupportedFeature(
                    "16-bit floating-point samples that are neither RGB nor gray", remedy: "store it in 32 bits")
            }
            let whole = [UInt8].number(1, length: 2, littleEndian: directories.isLittleEndian)
            let bytes = (0..<format.range.count / 2).flatMap { _ in whole }
            patches.append(InputFile.Patch(offset: format.range.lowerBound, bytes: bytes))
        }
        return patches.isEmpty ? nil : patches
    }

    private static let mostSamples = 64
    private static let float = 3
    private static let bitsPerSample: UInt16 = 258
    private static let photometric: UInt16 = 262
    private static let predictor: UInt16 = 317

    /// The float that each 16-bit number is, by IEEE 754: a sign, five digits of exponent and ten of fraction.
    static let values: [Float] = (0...UInt32(65535)).map { bits in
        let (exponent, fraction) = ((bits >> 10) & 31, bits & 1023)
        let sign = (bits >> 15) << 31
        switch exponent {
        case 0: return Float(fraction) / 16_777_216 * (sign == 0 ? 1 : -1)
        case 31: return Float(bitPattern: sign | 0x7F80_0000 | (fraction << 13))
        default: return Float(bitPattern: sign | ((exponent + 112) << 23) | (fraction << 13))
        }
    }
}
