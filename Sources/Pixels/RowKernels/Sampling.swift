import Builtin

// Bilinear samples of a picture at any position, all channels of a pixel in one vector.

/// The channels of a pixel: colours, then alpha, then arbitrary values.
typealias Pixel = SIMD4<Float>

/// Four adjacent samples, as numbers.
protocol SampleKind: BitwiseCopyable {
    static var full: Float { get }
    static func pixel(_ source: UnsafePointer<Self>) -> Pixel
    /// The index of an integer sample in a table.
    static func index(_ source: UnsafePointer<Self>) -> Int
    static func number(_ source: UnsafePointer<Self>) -> Float
}

extension UInt8: SampleKind {
    static var full: Float { @inline(__always) get { 255 } }

    @inline(__always) static func pixel(_ source: UnsafePointer<UInt8>) -> Pixel {
        let samples = UnsafeRawPointer(source).loadUnaligned(as: SIMD4<UInt8>.self)
        return floats(Builtin.zext_Vec4xInt8_Vec4xInt32(samples._storage._value))
    }

    @inline(__always) static func index(_ source: UnsafePointer<UInt8>) -> Int { Int(source[0]) }
    @inline(__always) static func number(_ source: UnsafePointer<UInt8>) -> Float { Float(source[0]) }
}

extension UInt16: SampleKind {
    static var full: Float { @inline(__always) get { 65535 } }

    @inline(__always) static func pixel(_ source: UnsafePointer<UInt16>) -> Pixel {
        let samples = UnsafeRawPointer(source).loadUnaligned(as: SIMD4<UInt16>.self)
        return floats(Builtin.zext_Vec4xInt16_Vec4xInt32(samples._storage._value))
    }

    @inline(__always) static func index(_ source: UnsafePointer<UInt16>) -> Int { Int(source[0]) }
    @inline(__always) static func number(_ source: UnsafePointer<UInt16>) -> Float { Float(source[0]) }
}

extension Float: SampleKind {
    static var full: Float { @inline(__always) get { 1 } }

    @inline(__always) static func pixel(_ source: UnsafePointer<Float>) -> Pixel {
        UnsafeRawPointer(source).loadUnaligned(as: Pixel.self)
    }

    @inline(__always) static func index(_: UnsafePointer<Float>) -> Int { 0 }
    @inline(__always) static func number(_ source: UnsafePointer<Float>) -> Float { source[0] }
}

@inline(__always) private func floats(_ integers: Builtin.Vec4xInt32) -> Pixel {
    var result = Pixel()
    result._storage._value = Builtin.sitofp_Vec4xInt32_Vec4xFPIEEE32(integers)
    return result
}

/// The conversion of samples when they are read.
protocol Reading {
    /// Whether samples are used as they are.
    static var isPlain: Bool { get }
}

enum PlainReading: Reading { static var isPlain: Bool { @inline(__always) get { true } } }
/// Samples are premultiplied, looked up, or given an alpha.
enum WorkedReading: Reading { static var isPlain: Bool { @inline(__always) get { false } } }

/// A picture that is sampled. Its description is an array of numbers, because nothing else crosses the border of a CPU level:
///
/// - 0: stored channels; 1: whether the last one is an alpha; 2: whether a full alpha is added; 3: samples in a row
/// - 4 and 5: the first coordinates of the tables of columns and rows; 6 and 7: their counts
/// - 8 and 9: the columns (first, end) whose right neighbour is adjacent in memory, with four samples to read; 10: the offset
///   from a coordinate there to a position
/// - 11 and 12: the rows (first, end) that exist together with the next row
/// - 13: the end of the columns from which eight samples can be read
/// - 14 and 15: the rows (first, end) that the next row follows in memory; 16: the offset from a coordinate there to a
///   position
/// - 17: the distance of the tables of two channels; 0 if all channels share one
struct SampledPicture<Sample: SampleKind, How: Reading> {
    private let samples: UnsafePointer<Sample>
    private let columns: UnsafePointer<Int32>
    private let rows: UnsafePointer<Int32>
    /// The linear light of each sample; nil if samples are used as they are.
    private let table: UnsafePointer<Double>?
    let channels: Int
    private let hasAlpha: Bool
    private let addsAlpha: Bool
    private let stride: Int
    private let origin: (x: Int, y: Int)
    private let count: (x: Int, y: Int)
    private let first: (x: Int, y: Int)
    private let inner: (x: UInt, y: UInt)
    private let shift: Int
    /// The block in which eight samples can be read, in a row and the next.
    let block: (column: Int32, columns: UInt32, row: Int32, rows: UInt32)
    private let rowShift: Int
    private let tableStep: Int

    @inline(__always) init(
        _ samples: UnsafePointer<Sample>, _ columns: UnsafePointer<Int32>, _ rows: UnsafePointer<Int32>,
        _ table: UnsafePointer<Double>?, _ facts: UnsafePointer<Int>
    ) {
        (self.samples, self.columns, self.rows, self.table) = (samples, columns, rows, table)
        channels = facts[0]
        hasAlpha = facts[1] != 0
        addsAlpha = facts[2] != 0
        stride = facts[3]
        origin = (facts[4], facts[5])
        count = (facts[6], facts[7])
        first = (facts[8], facts[11])
        inner = (UInt(bitPattern: facts[9] &- facts[8]), UInt(bitPattern: facts[12] &- facts[11]))
        shift = facts[10]
        block = (
            Int32(truncatingIfNeeded: facts[8]), UInt32(truncatingIfNeeded: facts[13] &- facts[8]),
            Int32(truncatingIfNeeded: facts[14]), UInt32(truncatingIfNeeded: facts[15] &- facts[14])
        )
        rowShift = facts[16]
        tableStep = facts[17]
    }

    /// A pixel in the block and its right neighbour, and the two pixels below them.
    @inline(__always)
    func pairs(_ column: Int32, _ row: Int32) -> (upper: UnsafePointer<Sample>, lower: UnsafePointer<Sample>) {
        let upper = samples + ((Int(row) &+ rowShift) &* stride &+ (Int(column) &+ shift) &* channels)
        return (upper, upper + stride)
    }

    /// The same four pixels at any coordinate, copied: the upper two to `room`, the lower two eight samples later.
    @inline(never) func copyPairs(_ column: Int32, _ row: Int32, _ room: UnsafeMutablePointer<Sample>, _ zero: Sample) {
        var index = 0
        while index < 4 {
            let target = room + ((index >> 1) &* 8 &+ (index & 1) &* channels)
            let source = place(Int(column) &+ (index & 1), Int(row) &+ (index >> 1))
            var channel = 0
            while channel < channels {
                target[channel] = source.map { $0[channel] } ?? zero
                channel &+= 1
            }
            index &+= 1
        }
    }

    /// Returns nil for transparent coordinates. Coordinates beyond the tables never affect a result.
    @inline(__always) private func place(_ x: Int, _ y: Int) -> UnsafePointer<Sample>? {
        let column = columns[min(max(x &- origin.x, 0), count.x &- 1)]
        let row = rows[min(max(y &- origin.y, 0), count.y &- 1)]
        guard column >= 0, row >= 0 else { return nil }
        return samples + (Int(row) &* stride &+ Int(column) &* channels)
    }

    /// The interpolated value at a position; its fractions weight the four pixels around it.
    ///
    /// - Parameter room: a buffer for a pixel, for rare cases. Returning it by value would prevent vectorisation.
    @inline(__always) func bilinear(_ x: Double, _ y: Double, _ room: UnsafeMutablePointer<Float>) -> Pixel {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (u, v) = (Float(x - left), Float(y - top))
        let (column, row) = (Int(left), Int(top))
        if UInt(bitPattern: column &- first.x) < inner.x, UInt(bitPattern: row &- first.y) < inner.y {
            let position = (column &+ shift) &* channels
            let upper = samples + (Int(rows[row &- origin.y]) &* stride &+ position)
            let lower = samples + (Int(rows[row &- origin.y &+ 1]) &* stride &+ position)
            let (a, b) = (near(upper), near(upper + channels))
            let (c, d) = (near(lower), near(lower + channels))
            return mean(a, b, c, d, u, v)
        }
        atBorder(column, row, u, v, room)
        return UnsafeRawPointer(room).loadUnaligned(as: Pixel.self)
    }

    /// Interpolates vertically first, with the left and right pixels in one vector, then horizontally.
    @inline(__always)
    private func mean(_ a: Pixel, _ b: Pixel, _ c: Pixel, _ d: Pixel, _ u: Float, _ v: Float) -> Pixel {
        let (upper, lower) = (SIMD8(lowHalf: a, highHalf: b), SIMD8(lowHalf: c, highHalf: d))
        let both = upper + (lower - upper) * SIMD8(repeating: v)
        return both.lowHalf + (both.highHalf - both.lowHalf) * Pixel(repeating: u)
    }

    /// Reads a pixel with four readable samples.
    @inline(__always) private func near(_ source: UnsafePointer<Sample>) -> Pixel {
        var pixel = Sample.pixel(source)
        if How.isPlain { return pixel }
        if table != nil { pixel = linear(pixel, source) }
        if hasAlpha { pixel = premultiplied(pixel) }
        if addsAlpha { pixel[channels] = Sample.full }
        return pixel
    }

    @inline(never) private func atBorder(
        _ column: Int, _ row: Int, _ u: Float, _ v: Float, _ room: UnsafeMutablePointer<Float>
    ) {
        let (a, b) = (seen(column, row), seen(column &+ 1, row))
        let (c, d) = (seen(column, row &+ 1), seen(column &+ 1, row &+ 1))
        store(mean(a, b, c, d, u, v), room)
    }

    /// Reads the pixel at any coordinate.
    @inline(__always) private func seen(_ x: Int, _ y: Int) -> Pixel {
        guard let source = place(x, y) else { return .zero }
        var pixel = Pixel.zero
        var channel = 0
        while channel < channels {
            pixel[channel] = Sample.number(source + channel)
            channel &+= 1
        }
        if How.isPlain { return pixel }
        if table != nil { pixel = linear(pixel, source) }
        if hasAlpha { pixel = premultiplied(pixel) }
        if addsAlpha { pixel[channels] = Sample.full }
        return pixel
    }

    @inline(__always) private func linear(_ pixel: Pixel, _ source: UnsafePointer<Sample>) -> Pixel {
        guard let table else { return pixel }
        var result = pixel
        let colors = hasAlpha ? channels &- 1 : channels
        var channel = 0
        while channel < colors {
            result[channel] = Float(table[channel &* tableStep &+ Sample.index(source + channel)])
            channel &+= 1
        }
        return result
    }

    @inline(__always) private func premultiplied(_ pixel: Pixel) -> Pixel {
        let alpha = pixel[channels &- 1]
        var result = pixel * (alpha / Sample.full)
        result[channels &- 1] = alpha
        return result
    }
}
