/// Reads numbers of any number of bits from a header. After the end all bits are 0, and ``isOver`` is true.
struct BitReader {
    enum Order {
        /// The lowest bit of a byte is read first and becomes the lowest bit of a number: JPEG XL.
        case lowestFirst
        /// The highest bit of a byte is read first and becomes the highest bit of a number: AV1.
        case highestFirst
    }

    private let bytes: ArraySlice<UInt8>
    private let order: Order
    private var offset = 0

    init(_ bytes: ArraySlice<UInt8>, _ order: Order) {
        self.bytes = bytes
        self.order = order
    }

    /// Whether more bits were read than exist.
    var isOver: Bool { offset > 8 * bytes.count }

    mutating func flag() -> Bool { number(1) == 1 }

    /// - Parameter count: the number of bits, at most 32.
    mutating func number(_ count: Int) -> Int {
        (0..<count).reduce(0) { number, index in
            let bit = nextBit()
            return order == .lowestFirst ? number | bit << index : number << 1 | bit
        }
    }

    mutating func skip(_ count: Int) { offset += count }

    private mutating func nextBit() -> Int {
        defer { offset += 1 }
        guard offset < 8 * bytes.count else { return 0 }
        let byte = Int(bytes[bytes.startIndex + offset / 8])
        return byte >> (order == .lowestFirst ? offset % 8 : 7 - offset % 8) & 1
    }
}
