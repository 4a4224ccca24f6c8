/// Adds up the weights of a sparse filter, tap by tap, in the order of the calls.
struct TapAccumulator {
    private struct Offset: Hashable {
        let dx: Int
        let dy: Int
    }

    private var weights: [Offset: Double] = [:]

    mutating func add(_ cell: BilinearCell, at corner: (x: Int, y: Int), times factor: Double) {
        for (dx, dy, weight) in cell.corners {
            weights[Offset(dx: corner.x + dx, dy: corner.y + dy), default: 0] += weight * factor
        }
    }

    /// Also adds the same weights at the opposite offsets.
    mutating func addWithMirror(_ cell: BilinearCell, at corner: (x: Int, y: Int), times factor: Double) {
        for (dx, dy, weight) in cell.corners {
            weights[Offset(dx: corner.x + dx, dy: corner.y + dy), default: 0] += weight * factor
            weights[Offset(dx: -corner.x - dx, dy: -corner.y - dy), default: 0] += weight * factor
        }
    }

    var result: SparseTaps {
        SparseTaps(weights.map { SparseTaps.Tap(dx: $0.key.dx, dy: $0.key.dy, weight: $0.value) })
    }
}
