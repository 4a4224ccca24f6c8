/// Eight neighbouring places.
typealias Places = SIMD8<Double>

/// The places of output pixels in the input.
protocol WarpMap {
    /// Whether all pixels have the same size.
    static var isEven: Bool { get }
    func place(_ x: Double, _ y: Double) -> (x: Double, y: Double)
    func places(_ x: Places, _ y: Double) -> (x: Places, y: Places)
    /// The square of the number of input pixels that lie along an output pixel, at its centre: the larger derivative.
    func square(_ x: Double, _ y: Double) -> Double
    func squares(_ x: Places, _ y: Double) -> Places
}

extension WarpMap {
    /// Whether one interpolation is enough for each pixel of a row, and for up to seven pixels after it.
    @inline(__always) func isSingle(_ x: Int, _ y: Int, _ count: Int) -> Bool {
        if Self.isEven { return isOneSample(square(0, 0)) }
        let steps = Places(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5)
        var most = Places(repeating: 0)
        var index = 0
        while index < count {
            most = larger(squares(steps + Places(repeating: Double(x &+ index)), Double(y) + 0.5), most)
            index &+= 8
        }
        return isOneSample(largest(most))
    }
}

/// The largest of eight numbers.
@inline(__always) func largest(_ values: Places) -> Double {
    var (best, lane) = (values[0], 1)
    while lane < 8 {
        if values[lane] > best { best = values[lane] }
        lane &+= 1
    }
    return best
}

/// The smallest of eight numbers.
@inline(__always) func smallest(_ values: Places) -> Double { -largest(Places(repeating: 0) - values) }

struct Affinity: WarpMap {
    private let x: (Double, Double, Double)
    private let y: (Double, Double, Double)

    @inline(__always) init(_ map: UnsafePointer<Double>) {
        (x, y) = ((map[0], map[1], map[2]), (map[3], map[4], map[5]))
    }

    static var isEven: Bool { @inline(__always) get { true } }

    @inline(__always) func place(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
        (x.0 * u + (x.1 * v + x.2), y.0 * u + (y.1 * v + y.2))
    }

    @inline(__always) func places(_ u: Places, _ v: Double) -> (x: Places, y: Places) {
        (
            u * Places(repeating: x.0) + Places(repeating: x.1 * v + x.2),
            u * Places(repeating: y.0) + Places(repeating: y.1 * v + y.2)
        )
    }

    @inline(__always) func square(_: Double, _: Double) -> Double {
        let (right, down) = (x.0 * x.0 + y.0 * y.0, x.1 * x.1 + y.1 * y.1)
        return right > down ? right : down
    }

    @inline(__always) func squares(_: Places, _: Double) -> Places { Places(repeating: square(0, 0)) }
}

struct Perspective: WarpMap {
    private let x: (Double, Double, Double)
    private let y: (Double, Double, Double)
    private let w: (Double, Double, Double)

    @inline(__always) init(_ map: UnsafePointer<Double>) {
        (x, y, w) = ((map[0], map[1], map[2]), (map[3], map[4], map[5]), (map[6], map[7], map[8]))
    }

    static var isEven: Bool { @inline(__always) get { false } }

    @inline(__always) func place(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
        let depth = w.0 * u + (w.1 * v + w.2)
        return ((x.0 * u + (x.1 * v + x.2)) / depth, (y.0 * u + (y.1 * v + y.2)) / depth)
    }

    @inline(__always) func places(_ u: Places, _ v: Double) -> (x: Places, y: Places) {
        let depth = u * Places(repeating: w.0) + Places(repeating: w.1 * v + w.2)
        return (
            (u * Places(repeating: x.0) + Places(repeating: x.1 * v + x.2)) / depth,
            (u * Places(repeating: y.0) + Places(repeating: y.1 * v + y.2)) / depth
        )
    }

    @inline(__always) func square(_ u: Double, _ v: Double) -> Double {
        let depth = w.0 * u + (w.1 * v + w.2)
        let (a, b) = place(u, v)
        let (rightX, rightY) = (x.0 - a * w.0, y.0 - b * w.0)
        let (downX, downY) = (x.1 - a * w.1, y.1 - b * w.1)
        let (right, down) = (rightX * rightX + rightY * rightY, downX * downX + downY * downY)
        return (right > down ? right : down) / (depth * depth)
    }

    @inline(__always) func squares(_ u: Places, _ v: Double) -> Places {
        let depth = u * Places(repeating: w.0) + Places(repeating: w.1 * v + w.2)
        let place = places(u, v)
        let (a, b) = (place.x, place.y)
        let (across, along) = (Places(repeating: w.0), Places(repeating: w.1))
        let (rightX, rightY) = (Places(repeating: x.0) - a * across, Places(repeating: y.0) - b * across)
        let (downX, downY) = (Places(repeating: x.1) - a * along, Places(repeating: y.1) - b * along)
        return larger(rightX * rightX + rightY * rightY, downX * downX + downY * downY) / (depth * depth)
    }
}

/// A quarter of a pixel more than a whole number is left out: sampling shows nothing of it.
private let leftOut = 0.25

/// Whether one interpolation is enough for a pixel along which the square root of a number of input pixels lie.
@inline(__always) func isOneSample(_ square: Double) -> Bool { square <= (1 + leftOut) * (1 + leftOut) }

/// The number of interpolations along each axis of a pixel.
@inline(__always) func samplesAlong(_ square: Double, _ most: Int) -> Int {
    if isOneSample(square) { return 1 }
    let along = (square.squareRoot() - leftOut).rounded(.up)
    return along >= Double(most) ? most : Int(along)
}
