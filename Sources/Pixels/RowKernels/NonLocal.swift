// Non-local means in single precision: pixels count by how alike their surroundings are.

@inline(__always) private func load(_ source: UnsafePointer<Float>) -> Lanes {
    UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always) private func store(_ values: Lanes, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: values, as: Lanes.self)
}

/// The square of the difference of two rows at each pixel, summed over the channels.
///
/// - Parameters:
///   - one, other: the first pixels, in the first of the planes; readable up to 15 values after the last one.
///   - out: writable in the same way.
@inline(never) public func squareDifferences(
    _ one: UnsafePointer<Float>, _ other: UnsafePointer<Float>, planeStride: Int, channels: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        var sum = Lanes.zero
        var channel = 0
        while channel < channels {
            let place = channel &* planeStride &+ x
            let difference = load(one + place) - load(other + place)
            sum += difference * difference
            channel &+= 1
        }
        store(sum, out + x)
        x &+= 16
    }
}

/// Adds one pixel of the search window to the sums of each pixel of a row, weighted 2^−distance. The distance is the sum of the
/// squares in the square of `side` × `side` pixels around.
///
/// Sums are always computed in the same order, from the upper left.
///
/// - Parameters:
///   - squares: the rows of ``squareDifferences``, which begin `side` / 2 pixels before the row.
///   - tap: the pixel of the window for the first pixel, in the first of the planes.
///   - scratch: room for the sums of columns: `count` + `side` + 31 values.
///   - sums: a plane for each channel, and one for the weights, `sumStride` values apart.
@inline(never) public func addAlikePixels(
    _ squares: UnsafePointer<UnsafePointer<Float>>, side: Int, tap: UnsafePointer<Float>, planeStride: Int,
    channels: Int, count: Int, scratch: UnsafeMutablePointer<Float>, sums: UnsafeMutablePointer<Float>, sumStride: Int
) {
    var x = 0
    while x < count &+ side &- 1 {
        var sum = load(squares[0] + x)
        var row = 1
        while row < side {
            sum += load(squares[row] + x)
            row &+= 1
        }
        store(sum, scratch + x)
        x &+= 16
    }
    @inline(__always) func run<C: Channels>(_: C.Type) {
        add(C.self, side, tap, planeStride, count, UnsafePointer(scratch), sums, sumStride)
    }
    switch channels {
    case 1: run(One.self)
    case 2: run(Two.self)
    case 3: run(Three.self)
    default: run(Four.self)
    }
}

@inline(__always) private func add<C: Channels>(
    _: C.Type, _ side: Int, _ tap: UnsafePointer<Float>, _ planeStride: Int, _ count: Int,
    _ columns: UnsafePointer<Float>, _ sums: UnsafeMutablePointer<Float>, _ sumStride: Int
) {
    var x = 0
    while x < count {
        var distance = load(columns + x)
        var column = 1
        while column < side {
            distance += load(columns + (x &+ column))
            column &+= 1
        }
        let weight = exp2(Lanes.zero - distance)
        @inline(__always) func add(_ channel: Int) {
            let target = sums + (channel &* sumStride &+ x)
            store(load(target) + load(tap + (channel &* planeStride &+ x)) * weight, target)
        }
        add(0)
        if C.count > 1 { add(1) }
        if C.count > 2 { add(2) }
        if C.count > 3 { add(3) }
        let weights = sums + (C.count &* sumStride &+ x)
        store(load(weights) + weight, weights)
        x &+= 16
    }
}

/// row[i] = row[i] / weights[i] · factor.
@inline(never) public func divideFloats(
    _ row: UnsafeMutablePointer<Float>, by weights: UnsafePointer<Float>, factor: Float, count: Int
) {
    var index = 0
    while index < count {
        row[index] = row[index] / weights[index] * factor
        index &+= 1
    }
}
