/// Reads numbers of any count of bits from a header. Behind the end all bits are 0, and ``isOver``.
struct BitReader {
    enum Order {
        /// A byte's lowest bit is its first, and a number's first bit its lowest: JPEG XL.
        case lowestFirst
        /// The other way round: AV1.
        case highestFirst
    }

    private let bytes: ArraySlice<UInt8>
    private let order: Order
    private var offset = 0

    init(_ bytes: ArraySlice<UInt8>, _ order: Order) {
        self.bytes = bytes
        self.order = order
    }

    /// True when more was read than there is.
    var isOver: Bool { offset > 8 * bytes.count }

    mutating func flag() -> Bool { number(1) == 1 }

    /// - Parameter count: of bits, at most 32.
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
