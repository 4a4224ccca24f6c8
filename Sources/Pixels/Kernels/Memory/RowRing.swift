/// The latest rows of an image that is written and read from the top down.
///
/// A row has one or more planes of equal width. Each plane has interleaved pixels with a margin on both sides, so that vectors
/// may read and write a little beyond. Rows above the first and below the last repeat those rows.
final class RowRing<Sample: BitwiseCopyable> {
    let columns: Range<Int>
    let rows: Range<Int>
    let channels: Int
    let planes: Int
    /// The number of values from one plane to the next.
    let planeStride: Int
    /// The next row to be written.
    var next: Int

    private let memory: RowBuffer<Sample>
    /// The number of rows less one, if it is a power of two.
    private let mask: Int?
    private let held: Int
    private let margin: Int
    private let origin: Int
    private let stride: Int

    /// The number of values that may be read or written after the margin's pixels. Before them it is 64.
    private static var slack: Int { 192 }

    /// - Parameters:
    ///   - capacity: the smallest number of rows that are kept at once.
    ///   - isExact: whether no more than these are kept. Otherwise their number is a power of two, so that rows are found without a division.
    ///   - margin: the number of pixels on both sides, which ``pad(_:)`` fills.
    init(
        columns: Range<Int>, rows: Range<Int>, channels: Int, planes: Int = 1, capacity: Int, margin: Int,
        isExact: Bool = false
    ) {
        self.columns = columns
        self.rows = rows
        self.channels = channels
        self.planes = planes
        self.margin = margin
        next = rows.lowerBound
        let needed = max(1, min(capacity, rows.count))
        var power = 1
        while power < needed { power *= 2 }
        held = isExact ? needed : power
        mask = held == power ? power - 1 : nil
        // Pixel 0 is aligned to a cache line, and rows of words are an odd number of lines apart, so that the rows of a window
        // do not compete for the same cache sets.
        origin = (margin * channels + 64 + 31) & ~31
        planeStride = (origin + (columns.count + margin) * channels + Self.slack + 31) & ~31
        let whole = planeStride * planes
        stride = whole / 32 % 2 == 0 ? whole + 32 : whole
        memory = RowBuffer(count: stride * held)
    }

    /// Whether a requested row, or the first or last row in its place, is not written yet.
    func lacks(_ y: Int) -> Bool { next <= max(rows.lowerBound, min(y, rows.upperBound - 1)) }

    /// The first pixel of a row.
    @inline(__always)
    func row(_ y: Int) -> MutableRow<Sample> { rowInside(min(max(y, rows.lowerBound), rows.upperBound &- 1)) }

    /// The same without bounds checks, for a row that is neither above the first nor below the last.
    @inline(__always) func rowInside(_ y: Int) -> MutableRow<Sample> {
        let index = y &- rows.lowerBound
        return memory.start.moved(unchecked: origin &+ (mask.map { index & $0 } ?? index % held) &* stride)
    }

    /// The pixel at a column in the row or its margin.
    @inline(__always)
    func pixel(x: Int, y: Int) -> MutableRow<Sample> { row(y) + (x &- columns.lowerBound) &* channels }

    /// The first pixel of a plane of a row.
    @inline(__always) func plane(_ plane: Int, y: Int) -> MutableRow<Sample> { row(y) + plane &* planeStride }

    /// The start of a row's memory, margins included.
    func whole(_ y: Int) -> MutableRow<Sample> { row(y) - origin }
    var wholeCount: Int { planeStride * planes }
    /// The number of values from ``whole(_:)`` to the row's first pixel.
    var lead: Int { origin }

    /// Fills the margins of a row with its first and its last pixel.
    func pad(_ y: Int) {
        let count = margin &* channels
        for plane in 0..<planes {
            // The left margin, the row, and the right margin.
            let start = self.plane(plane, y: y) - count
            let end = count + columns.count * channels
            precondition(end + count <= start.count, "margins lie in the memory")
            var index = 0
            while index < count {  // each pixel from its neighbour
                start[unchecked: count &- 1 &- index] = start[unchecked: count &+ channels &- 1 &- index]
                start[unchecked: end &+ index] = start[unchecked: end &- channels &+ index]
                index &+= 1
            }
        }
    }
}

extension RowRing<Float> {
    /// A row of the ring as a row of the picture, or as the picture's row at `pictureY`. It is valid until the ring has moved
    /// past it.
    ///
    /// - Parameter columns: nil is all columns of the ring.
    func planeRow(
        _ y: Int, columns: Range<Int>? = nil, as pictureY: Int? = nil, _ operations: RowOperations
    ) -> PlaneRow {
        let columns = columns ?? self.columns
        return PlaneRow(
            pixel(x: columns.lowerBound, y: y), stride: planeStride, count: columns.count, channels: planes,
            x: columns.lowerBound, y: pictureY ?? y, operations)
    }
}
