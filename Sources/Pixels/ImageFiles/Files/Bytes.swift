extension [UInt8] {
    /// The lowest `length` bytes of a number.
    static func number(_ value: Int, length: Int, littleEndian: Bool) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return littleEndian ? bytes : bytes.reversed()
    }

    /// With a zero behind it when the count is odd, as TIFF, RIFF and Photoshop's resources want it.
    var paddedToEven: [UInt8] {
        count.isMultiple(of: 2) ? self : self + [0]
    }
}
