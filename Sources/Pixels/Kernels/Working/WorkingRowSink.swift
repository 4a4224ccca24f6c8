/// Takes the rows that a kernel computes, in any order.
package protocol WorkingRowSink {
    /// - Parameter row: working values (see ``PixelReader``) of whole pixels, from `x` on in row `y`.
    mutating func write(_ row: Span<Double>, x: Int, y: Int)
}
