/// Takes the rows that a kernel computes, in any order.
package protocol WorkingRowSink {
    /// - Parameter row: working values (see ``PixelReader``) of whole pixels, from `x` on in row `y`.
    mutating func write(_ row: Span<Double>, x: Int, y: Int)

    /// The same values in single precision, by planes. A sink that has no use for planes gets a row.
    mutating func write(_ planes: PlaneRow)
}

extension WorkingRowSink {
    package mutating func write(_ planes: PlaneRow) { writeInterleaved(planes) }

    mutating func writeInterleaved(_ planes: PlaneRow) {
        var values = [Double](repeating: 0, count: planes.count * planes.channels)
        for channel in 0..<planes.channels {
            let plane = planes.plane(channel)
            for index in 0..<planes.count {
                values[index * planes.channels + channel] = Double(plane[unchecked: index])
            }
        }
        write(values.span, x: planes.x, y: planes.y)
    }
}

/// Working values of neighbouring pixels of a row, a plane for each channel; lent for a call.
package struct PlaneRow {
    private let first: MutableRow<Float>
    private let stride: Int
    let count: Int
    let channels: Int
    let x: Int
    let y: Int
    let operations: RowOperations

    /// - Parameters:
    ///   - first: the first pixel of the first plane; the sink may round the last plane in place.
    ///   - stride: values from a plane to the next.
    init(
        _ first: MutableRow<Float>, stride: Int, count: Int, channels: Int, x: Int, y: Int,
        _ operations: RowOperations
    ) {
        self.first = first
        self.stride = stride
        self.count = count
        self.channels = channels
        self.x = x
        self.y = y
        self.operations = operations
    }

    func plane(_ channel: Int) -> MutableRow<Float> { first + channel * stride }
}
