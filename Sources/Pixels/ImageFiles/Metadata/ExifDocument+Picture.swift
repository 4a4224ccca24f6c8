/// What a block says of the picture that it comes with, for files in which libvips does not find the block.
extension ExifDocument {
    /// Nil where the block does not say.
    var orientation: Orientation? { integers(of: ExifTag.orientation).first.flatMap(Orientation.init(rawValue:)) }

    /// Nil where the block does not say, or says only what files say that have to say something.
    var resolution: ImageMetadata.Resolution? {
        let unit: ImageMetadata.Resolution.Unit
        switch integers(of: ExifTag.resolutionUnit).first {
        case nil, 2: unit = .inch
        case 3: unit = .centimetre
        default: return nil
        }
        guard let x = quotient(of: ExifTag.xResolution), let y = quotient(of: ExifTag.yResolution) else { return nil }
        let scale = unit == .inch ? 25.4 : 10
        let nominal = ImageMetadata.Resolution.nominal
        guard [x, y].contains(where: { abs($0 / scale - nominal) >= 0.001 }) else { return nil }
        return ImageMetadata.Resolution(x: x / scale, y: y / scale, unit: unit)
    }

    /// More than zero.
    private func quotient(of tag: UInt16) -> Double? {
        let parts = integers(of: tag)
        guard parts.count == 2, parts[0] > 0, parts[1] > 0 else { return nil }
        return Double(parts[0]) / Double(parts[1])
    }

    /// The parts of a rational; of other types than whole numbers and rationals none.
    private func integers(of tag: UInt16) -> [Int] {
        guard let entry = self[.main].first(where: { $0.tag == tag }), [.short, .long, .rational].contains(entry.type)
        else { return [] }
        let size = entry.type.numberSize
        return stride(from: 0, to: entry.bytes.count - size + 1, by: size).map { start in
            let digits = entry.bytes[start..<start + size]
            return (isLittleEndian ? digits.reversed() : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
