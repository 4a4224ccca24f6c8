// Four times the rows and columns of a low-rate image by linear interpolation: two doublings by 1 2 1, along rows first and then along
// columns. So a value is moved to its four columns once, and not once for each of its four rows.

/// How pixels of a layout are repeated four times, side by side.
protocol Spreading: Interleaving {
    /// The number of low-rate pixels of a group. The outputs of a group fill whole vectors.
    static var groupPixels: Int { get }
    /// The number of vectors that a group fills: 1 or 3.
    static var groupVectors: Int { get }
    /// The outputs of one vector, from the pixels that it begins with: `vector` pixels after the first one of the group.
    static func spread(_ pixels: EightWords, _ vector: Int) -> SixteenWords
    /// For each output of a vector, its place among the four outputs of a pixel.
    static func places(_ vector: Int) -> SixteenWords
}

/// Writes 4·`count` pixels of one row.
///
/// - Parameters:
///   - row: readable up to 1 pixel and 16 values after the last one.
///   - out: writable up to 64 values after the end.
@inline(never) func spread<Pixels: Spreading>(
    _: Pixels.Type, _ row: UnsafePointer<UInt16>, count: Int, out: UnsafeMutablePointer<UInt16>
) {
    let total = count &* Pixels.channels
    var x = 0
    while x < total {
        // The number of the vector must be a constant: the compiler does not unroll a loop over it.
        spreadOne(Pixels.self, row + x, 0, out + 4 &* x)
        if Pixels.groupVectors == 3 {
            spreadOne(Pixels.self, row + x, 1, out + 4 &* x)
            spreadOne(Pixels.self, row + x, 2, out + 4 &* x)
        }
        x &+= Pixels.groupPixels &* Pixels.channels
    }
}

/// Writes one vector of a group.
@inline(__always) private func spreadOne<Pixels: Spreading>(
    _: Pixels.Type, _ group: UnsafePointer<UInt16>, _ vector: Int, _ out: UnsafeMutablePointer<UInt16>
) {
    let from = group + vector &* Pixels.channels
    let near = Pixels.spread(loadEight(from), vector)
    let far = Pixels.spread(loadEight(from + Pixels.channels), vector)
    let middle = average(near, far)
    let places = Pixels.places(vector)
    // The averages of the middle and of what is on either side of it. At the places 0 and 2, both are the same, and so is their average.
    let first = chosen(near, middle, where: places, is: 2)
    let outer = chosen(first, far, where: places, is: 3)
    store(average(outer, chosen(middle, near, where: places, is: 0)), out + 16 &* vector)
}

/// Writes `count` samples of each of four rows, from a low-rate row to the next one. Output rows are `stride` values apart.
///
/// - Parameters:
///   - near, far: readable up to 31 values after the end.
///   - out: writable up to 31 values after the end of each row.
@inline(never) public func interpolateToBytes(
    near: UnsafePointer<UInt16>, far: UnsafePointer<UInt16>, count: Int, stride: Int, out: UnsafeMutablePointer<UInt8>
) {
    // Averages of values that are too large by a half of a sample are too large by a half, too.
    let half = WordVector(repeating: 64)
    var x = 0
    while x < count {
        let (near, far) = (load(near + x) &+ half, load(far + x) &+ half)
        let middle = average(near, far)
        store(narrowed(shiftedRight(near, by: 7)), out + x)
        store(narrowed(shiftedRight(average(near, middle), by: 7)), out + (stride &+ x))
        store(narrowed(shiftedRight(middle, by: 7)), out + (2 &* stride &+ x))
        store(narrowed(shiftedRight(average(middle, far), by: 7)), out + (3 &* stride &+ x))
        x &+= 32
    }
}

/// Writes `count` values of one of the four rows in 8.7 fixed point.
///
/// - Parameters:
///   - near, far: readable up to 31 values after the end.
///   - place: which of the four rows, from 0 on.
///   - out: writable up to 31 values after the end.
@inline(never) public func interpolateWords(
    near: UnsafePointer<UInt16>, far: UnsafePointer<UInt16>, place: Int, count: Int, out: UnsafeMutablePointer<UInt16>
) {
    var x = 0
    while x < count {
        let (near, far) = (load(near + x), load(far + x))
        let middle = average(near, far)
        switch place {
        case 0: store(near, out + x)
        case 1: store(average(near, middle), out + x)
        case 2: store(middle, out + x)
        default: store(average(middle, far), out + x)
        }
        x &+= 32
    }
}

extension OneChannel: Spreading {
    static var groupPixels: Int { @inline(__always) get { 4 } }
    static var groupVectors: Int { @inline(__always) get { 1 } }

    @inline(__always) static func spread(_ x: EightWords, _ vector: Int) -> SixteenWords {
        SixteenWords(
            x[0], x[0], x[0], x[0], x[1], x[1], x[1], x[1], x[2], x[2], x[2], x[2], x[3], x[3], x[3], x[3])
    }

    @inline(__always) static func places(_ vector: Int) -> SixteenWords {
        SixteenWords(
            0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
    }
}

extension TwoChannels: Spreading {
    static var groupPixels: Int { @inline(__always) get { 2 } }
    static var groupVectors: Int { @inline(__always) get { 1 } }

    @inline(__always) static func spread(_ x: EightWords, _ vector: Int) -> SixteenWords {
        SixteenWords(
            x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1], x[2], x[3], x[2], x[3], x[2], x[3], x[2], x[3])
    }

    @inline(__always) static func places(_ vector: Int) -> SixteenWords {
        SixteenWords(
            0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3)
    }
}

extension ThreeChannels: Spreading {
    static var groupPixels: Int { @inline(__always) get { 4 } }
    static var groupVectors: Int { @inline(__always) get { 3 } }

    @inline(__always) static func spread(_ x: EightWords, _ vector: Int) -> SixteenWords {
        switch vector {
        case 0:
            SixteenWords(
                x[0], x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[3], x[4], x[5], x[3])
        case 1:
            SixteenWords(
                x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[3], x[4], x[5], x[3], x[4], x[5], x[3], x[4])
        default:
            SixteenWords(
                x[2], x[0], x[1], x[2], x[3], x[4], x[5], x[3], x[4], x[5], x[3], x[4], x[5], x[3], x[4], x[5])
        }
    }

    @inline(__always) static func places(_ vector: Int) -> SixteenWords {
        switch vector {
        case 0:
            SixteenWords(
                0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 1)
        case 1:
            SixteenWords(
                1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 1, 1, 1, 2, 2)
        default:
            SixteenWords(
                2, 3, 3, 3, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
        }
    }
}

extension FourChannels: Spreading {
    static var groupPixels: Int { @inline(__always) get { 1 } }
    static var groupVectors: Int { @inline(__always) get { 1 } }

    @inline(__always) static func spread(_ x: EightWords, _ vector: Int) -> SixteenWords {
        SixteenWords(
            x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3])
    }

    @inline(__always) static func places(_ vector: Int) -> SixteenWords {
        SixteenWords(
            0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
    }
}
