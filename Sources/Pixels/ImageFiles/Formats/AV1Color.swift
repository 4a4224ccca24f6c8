/// What an AV1 picture says of its colours in its sequence header: AV1 Bitstream & Decoding Process Specification, 5.5.
enum AV1Color {
    /// How many of a picture's first bytes hold the header.
    static let enough = 1024

    private static let (sequenceHeader, mostUnits) = (1, 16)

    /// The code points of ITU-T H.273; nil where there are none.
    static func codes(in units: ArraySlice<UInt8>) -> (primaries: Int, transfer: Int)? {
        var rest = units
        for _ in 0..<mostUnits {
            var bits = BitReader(rest, .highestFirst)
            bits.skip(1)
            let kind = bits.number(4)
            let (hasExtension, hasSize) = (bits.flag(), bits.flag())
            bits.skip(hasExtension ? 9 : 1)
            let header = hasExtension ? 2 : 1
            let (size, length) = hasSize ? bits.littleNumber() : (rest.count - header, 0)
            guard !bits.isOver, size >= 0 else { return nil }
            let content = rest.dropFirst(header + length).prefix(size)
            if kind == sequenceHeader {
                var bits = BitReader(content, .highestFirst)
                return bits.sequenceColor()
            }
            rest = rest[content.endIndex...]
        }
        return nil
    }
}

extension BitReader {
    /// Seven bits in each byte, the lowest ones first.
    fileprivate mutating func littleNumber() -> (value: Int, bytes: Int) {
        var value = 0
        for index in 0..<8 {
            let byte = number(8)
            value |= (byte & 127) << (7 * index)
            if byte < 128 { return (value, index + 1) }
        }
        return (value, 8)
    }

    fileprivate mutating func sequenceColor() -> (primaries: Int, transfer: Int)? {
        let profile = number(3)
        skip(1)
        let isReduced = flag()
        if isReduced {
            skip(5)
        } else {
            // Times are those of films.
            guard !flag() else { return nil }
            let hasDelay = flag()
            for _ in 0...number(5) {
                skip(12)
                if number(5) > 7 { skip(1) }
                if hasDelay, flag() { skip(4) }
            }
        }
        let (width, height) = (number(4) + 1, number(4) + 1)
        skip(width + height)
        if !isReduced, flag() { skip(7) }
        skip(3)
        if !isReduced { skipTools() }
        skip(3)
        let isDeep = flag()
        if profile == 2, isDeep { skip(1) }
        if profile != 1 { skip(1) }
        guard flag() else { return nil }
        let codes = (number(8), number(8))
        return isOver ? nil : codes
    }

    /// What helps to code several pictures.
    private mutating func skipTools() {
        skip(4)
        let hasOrder = flag()
        if hasOrder { skip(2) }
        let forced = flag() ? 2 : number(1)
        if forced > 0, !flag() { skip(1) }
        if hasOrder { skip(3) }
    }
}
