/// The colours of one picture for a terminal that has 256 of them.
///
/// The colours are those of the median cut: Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.
struct SixelPalette {
    /// A cell is a cube of similar colours. There are 32 of them in each direction.
    private static let side = 32
    private static let mostColors = 256

    /// Cells that share a colour.
    private struct Box {
        let cells: [Int]
        /// The number of pixels.
        let weight: Int
        /// The channel in which the cells differ most, and by how much.
        let longest: (channel: Int, length: Int)

        /// How far pixels may be from their colour, for all of them together.
        var error: Int { weight * longest.length }

        init(_ cells: [Int], _ counts: [Int]) {
            self.cells = cells
            weight = cells.reduce(0) { $0 + counts[$1] }
            let lengths = (0..<3).map { channel in
                let levels = cells.map { SixelPalette.level(of: $0, channel) }
                return (channel: channel, length: (levels.max() ?? 0) - (levels.min() ?? 0))
            }
            longest = lengths.reduce((0, 0)) { $1.length > $0.length ? $1 : $0 }
        }

        /// Two boxes with about as many pixels each. Both have cells, because the box is longer than one cell.
        func halves(_ counts: [Int]) -> (Box, Box) {
            func level(of cell: Int) -> Int { SixelPalette.level(of: cell, longest.channel) }
            let sorted = cells.sorted { (level(of: $0), $0) < (level(of: $1), $1) }
            var (split, weight) = (0, 0)
            while split < sorted.count - 1, split == 0 || (weight + counts[sorted[split]]) * 2 <= self.weight {
                weight += counts[sorted[split]]
                split += 1
            }
            return (Box(Array(sorted[..<split]), counts), Box(Array(sorted[split...]), counts))
        }

        /// The mean of the cells' colours, in percent.
        func color(_ counts: [Int]) -> [Int] {
            (0..<3).map { channel in
                let sum = cells.reduce(0) { $0 + SixelPalette.level(of: $1, channel) * counts[$1] }
                let whole = weight * (side - 1)
                return (sum * 100 + whole / 2) / whole
            }
        }
    }

    private var indexes = [Int](repeating: 0, count: side * side * side)
    /// The sequence that tells the terminal the colours.
    private(set) var definitions = ""

    /// - Parameter pixels: the cell of each pixel; at least one.
    init(of pixels: some Sequence<Int>) {
        var counts = [Int](repeating: 0, count: Self.side * Self.side * Self.side)
        for cell in pixels { counts[cell] += 1 }
        var boxes = [Box(counts.indices.filter { counts[$0] > 0 }, counts)]
        while boxes.count < Self.mostColors {
            // The box in which most pixels would get a colour that is far from theirs.
            let places = boxes.indices.filter { boxes[$0].longest.length > 0 }
            guard let place = places.max(by: { boxes[$0].error < boxes[$1].error }) else { break }
            let (low, high) = boxes[place].halves(counts)
            boxes[place] = low
            boxes.append(high)
        }
        for (index, box) in boxes.enumerated() {
            for cell in box.cells { indexes[cell] = index }
            definitions += "#\(index);2;" + box.color(counts).map(String.init).joined(separator: ";")
        }
    }

    func index(of cell: Int) -> Int { indexes[cell] }

    /// Thresholds of an ordered dither, of 16.
    private static let bayer = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    /// The cell of a pixel's colour. Neighbouring pixels are rounded differently, so that no bands are seen in smooth areas.
    static func cell(_ color: (red: UInt8, green: UInt8, blue: UInt8), x: Int, y: Int) -> Int {
        // Between 1/32 and 31/32 of a level.
        let threshold = 2 * bayer[y % 4 * 4 + x % 4] + 1
        func level(_ value: UInt8) -> Int { (Int(value) * (side - 1) * 32 + threshold * 255) / (255 * 32) }
        return (level(color.red) * side + level(color.green)) * side + level(color.blue)
    }

    /// Which of the levels of a channel a cell has: 0 for red, 1 for green, 2 for blue.
    private static func level(of cell: Int, _ channel: Int) -> Int {
        switch channel {
        case 0: cell / (side * side)
        case 1: cell / side % side
        default: cell % side
        }
    }
}
