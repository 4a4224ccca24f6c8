import Glibc

/// A part of a picture that a filter must render, and its input. It is valid during one call.
///
/// Coordinates are those of the whole picture, so that a pattern in these coordinates has no seams between tiles. In an
/// ``AreaFilter`` colours are premultiplied in the input and the output; in a ``PointFilter`` they are not.
public struct Tile: ~Copyable {
    public let picture: Picture
    /// The rectangle to write, with every pixel of it.
    public let area: PixelRect
    /// The rectangle of the input that can be read: ``area`` and the halo, or the filter's region of interest. Outside of the
    /// picture, the manifest's `edge` defines the pixels.
    public let readable: PixelRect

    @usableFromInline let format: TileFormat
    @usableFromInline let input: TileRows
    @usableFromInline let output: TileRows
    private let cancellation: () -> Bool

    init(
        picture: Picture, area: PixelRect, readable: PixelRect, format: TileFormat, input: TileRows,
        output: TileRows, cancellation: @escaping () -> Bool
    ) {
        self.picture = picture
        self.area = area
        self.readable = readable
        self.format = format
        self.input = input
        self.output = output
        self.cancellation = cancellation
    }

    /// Whether the tile is not needed any more. A slow filter checks this sometimes, and returns.
    public var isCancelled: Bool { cancellation() }

    /// Throws if the tile is not needed any more. It is fast enough for every row.
    public func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }

    /// The input's pixel at a position in ``readable``. Any other position ends the program.
    @inlinable public func source(_ x: Int, _ y: Int) -> Pixel {
        if !readable.contains(x: x, y: y) { Self.endReading(x..<x + 1, row: y, within: readable, for: area) }
        let place = input.address(x - readable.x, y - readable.y)
        switch format {
        case .u8: return Pixel(at: place.assumingMemoryBound(to: UInt8.self), picture)
        case .u16: return Pixel(at: place.assumingMemoryBound(to: UInt16.self), picture)
        case .f32: return Pixel(at: place.assumingMemoryBound(to: Float.self), picture)
        }
    }

    /// Sets the output's pixel at a position in ``area``. Any other position ends the program.
    ///
    /// Integers round half up. A picture without alpha stores only the colours, a gray one their luminance.
    @inlinable public func write(_ pixel: Pixel, _ x: Int, _ y: Int) {
        precondition(area.contains(x: x, y: y), "a filter writes within its tile")
        let place = output.address(x - area.x, y - area.y)
        switch format {
        case .u8: pixel.store(to: place.assumingMemoryBound(to: UInt8.self), picture)
        case .u16: pixel.store(to: place.assumingMemoryBound(to: UInt16.self), picture)
        case .f32: pixel.store(to: place.assumingMemoryBound(to: Float.self), picture)
        }
    }
}

extension Tile {
    /// Ends the program, and says why. A failed precondition prints nothing in a release build.
    @usableFromInline @inline(never) static func endReading(
        _ columns: Range<Int>, row y: Int, within readable: PixelRect, for area: PixelRect
    ) -> Never {
        let last = max(columns.lowerBound, columns.upperBound - 1)
        let read = columns.lowerBound == last ? "x \(last)" : "x \(columns.lowerBound)…\(last)"
        var text =
            "a filter reads within its halo: for the tile x \(area.x)…\(area.right - 1), y \(area.y)…\(area.bottom - 1) this one "
            + "may read x \(readable.x)…\(readable.right - 1), y \(readable.y)…\(readable.bottom - 1), and it reads \(read), y \(y)\n"
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        abort()
    }
}

/// The storage format of samples.
@usableFromInline enum TileFormat {
    case u8, u16, f32
}

/// The rows of pixels in memory.
@usableFromInline struct TileRows {
    @usableFromInline let start: UnsafeMutableRawPointer
    @usableFromInline let rowBytes: Int
    @usableFromInline let pixelBytes: Int

    init(start: UnsafeMutableRawPointer, rowBytes: Int, pixelBytes: Int) {
        self.start = start
        self.rowBytes = rowBytes
        self.pixelBytes = pixelBytes
    }

    @inlinable func address(_ column: Int, _ row: Int) -> UnsafeMutableRawPointer {
        start + (row * rowBytes + column * pixelBytes)
    }
}

extension Pixel {
    /// Reads one to four samples.
    @inlinable @inline(__always) init<Sample: StoredSample>(at place: UnsafePointer<Sample>, _ picture: Picture) {
        let (first, full) = (place[0].number, Sample.full)
        let numbers: SIMD4<Float> =
            switch picture.channels {
            case 1: SIMD4(first, first, first, full)
            case 2: SIMD4(first, first, first, place[1].number)
            case 3: SIMD4(first, place[1].number, place[2].number, full)
            default: SIMD4(first, place[1].number, place[2].number, place[3].number)
            }
        self.init(Sample.scaled(numbers))
    }

    @inlinable @inline(__always) init<Sample: StoredSample>(at place: UnsafeMutablePointer<Sample>, _ picture: Picture)
    {
        self.init(at: UnsafePointer(place), picture)
    }

    /// Writes one to four samples.
    @inlinable @inline(__always) func store<Sample: StoredSample>(
        to place: UnsafeMutablePointer<Sample>, _ picture: Picture
    ) {
        if picture.isGray {
            let stored = Sample.stored(SIMD4(luminance, alpha, 0, 0))
            place[0] = Sample(low: stored.x)
            if picture.hasAlpha { place[1] = Sample(low: stored.y) }
        } else {
            let stored = Sample.stored(samples)
            place[0] = Sample(low: stored.x)
            place[1] = Sample(low: stored.y)
            place[2] = Sample(low: stored.z)
            if picture.hasAlpha { place[3] = Sample(low: stored.w) }
        }
    }
}

// Reading and writing a row's pixels at once, from left to right. It is faster than single pixels, because the row's position
// and the sample format are looked up only once.

extension Tile {
    /// Passes pixels of one row of the input to `body`.
    ///
    /// - Parameters:
    ///   - columns: a part of ``readable``'s columns. Any other range ends the program.
    ///   - y: a row of ``readable``.
    @inlinable @inline(__always) public func read(
        _ columns: Range<Int>, row y: Int, _ body: (_ x: Int, _ pixel: Pixel) -> Void
    ) {
        switch format {
        case .u8: read(columns, y, UInt8.self, body)
        case .u16: read(columns, y, UInt16.self, body)
        case .f32: read(columns, y, Float.self, body)
        }
    }

    /// Sets pixels of one row of the output.
    ///
    /// - Parameters:
    ///   - columns: a part of ``area``'s columns. Any other range ends the program.
    ///   - y: a row of ``area``.
    ///   - pixel: returns the pixel to write at column `x`.
    @inlinable @inline(__always) public func write(_ columns: Range<Int>, row y: Int, _ pixel: (_ x: Int) -> Pixel) {
        switch format {
        case .u8: write(columns, y, UInt8.self, pixel)
        case .u16: write(columns, y, UInt16.self, pixel)
        case .f32: write(columns, y, Float.self, pixel)
        }
    }

    /// Sets every pixel of a row of the output to the result of `change` for the input's pixel there.
    ///
    /// - Parameter y: a row of ``area``.
    @inlinable @inline(__always) public func map(row y: Int, _ change: (_ x: Int, _ pixel: Pixel) -> Pixel) {
        switch format {
        case .u8: map(y, UInt8.self, change)
        case .u16: map(y, UInt16.self, change)
        case .f32: map(y, Float.self, change)
        }
    }

    @inlinable @inline(__always) func read<Sample: StoredSample>(
        _ columns: Range<Int>, _ y: Int, _: Sample.Type, _ body: (_ x: Int, _ pixel: Pixel) -> Void
    ) {
        var from = source(of: columns, y).assumingMemoryBound(to: Sample.self)
        for x in columns {
            body(x, Pixel(at: from, picture))
            from += picture.channels
        }
    }

    @inlinable @inline(__always) func write<Sample: StoredSample>(
        _ columns: Range<Int>, _ y: Int, _: Sample.Type, _ pixel: (_ x: Int) -> Pixel
    ) {
        var to = target(of: columns, y).assumingMemoryBound(to: Sample.self)
        for x in columns {
            pixel(x).store(to: to, picture)
            to += picture.channels
        }
    }

    @inlinable @inline(__always) func map<Sample: StoredSample>(
        _ y: Int, _: Sample.Type, _ change: (_ x: Int, _ pixel: Pixel) -> Pixel
    ) {
        var from = source(of: area.columns, y).assumingMemoryBound(to: Sample.self)
        var to = target(of: area.columns, y).assumingMemoryBound(to: Sample.self)
        for x in area.columns {
            change(x, Pixel(at: from, picture)).store(to: to, picture)
            from += picture.channels
            to += picture.channels
        }
    }

    /// The start of the input's pixels of some columns of a row.
    @inlinable func source(of columns: Range<Int>, _ y: Int) -> UnsafeMutableRawPointer {
        if !(readable.rows.contains(y) && columns.lowerBound >= readable.x && columns.upperBound <= readable.right) {
            Self.endReading(columns, row: y, within: readable, for: area)
        }
        return input.address(columns.lowerBound - readable.x, y - readable.y)
    }

    /// The start of the output's pixels of some columns of a row.
    @inlinable func target(of columns: Range<Int>, _ y: Int) -> UnsafeMutableRawPointer {
        precondition(
            area.rows.contains(y) && columns.lowerBound >= area.x && columns.upperBound <= area.right,
            "a filter writes within its tile")
        return output.address(columns.lowerBound - area.x, y - area.y)
    }
}

/// A storage format of samples, for FilterKit's own loops, which process the four samples of a pixel together.
public protocol StoredSample: BitwiseCopyable, Sendable {
    /// The sample as a number on its own scale.
    var number: Float { get }

    /// The number of full intensity.
    static var full: Float { get }

    /// Converts numbers to a scale where 1 is full intensity.
    static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float>

    /// Converts from that scale to samples, each in the low bits of its lane. Integers are clamped and rounded half up, and
    /// NaN becomes 0. Floats do not change, except that NaN always has the same bits.
    static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32>

    init(low bits: UInt32)
}

extension UInt8: StoredSample {
    @inlinable public var number: Float { Float(self) }
    @inlinable public static var full: Float { 255 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers / 255 }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        whole(samples, 255)
    }
    @inlinable public init(low bits: UInt32) { self.init(truncatingIfNeeded: bits) }
}

extension UInt16: StoredSample {
    @inlinable public var number: Float { Float(self) }
    @inlinable public static var full: Float { 65535 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers / 65535 }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        whole(samples, 65535)
    }
    @inlinable public init(low bits: UInt32) { self.init(truncatingIfNeeded: bits) }
}

extension Float: StoredSample {
    @inlinable public var number: Float { self }
    @inlinable public static var full: Float { 1 }
    @inlinable @inline(__always) public static func scaled(_ numbers: SIMD4<Float>) -> SIMD4<Float> { numbers }
    @inlinable @inline(__always) public static func stored(_ samples: SIMD4<Float>) -> SIMD4<UInt32> {
        unsafeBitCast(samples.replacing(with: .nan, where: samples .!= samples), to: SIMD4<UInt32>.self)
    }
    @inlinable public init(low bits: UInt32) { self.init(bitPattern: bits) }
}

/// Rounds without a branch and without a conversion: from 2²³ on the bits of a float count integers.
@inlinable @inline(__always) func whole(_ samples: SIMD4<Float>, _ full: Float) -> SIMD4<UInt32> {
    let scaled = samples * full
    let positive = scaled.replacing(with: 0, where: .!(scaled .> 0))  // NaN is not above 0
    let raised = positive.replacing(with: full, where: positive .> full) + 0.5
    let nearest = raised + 8_388_608
    // A true mask has the bits of −1: it undoes the rounding up.
    let isAbove = unsafeBitCast(nearest - 8_388_608 .> raised, to: SIMD4<UInt32>.self)
    return unsafeBitCast(nearest, to: SIMD4<UInt32>.self) &+ isAbove
}
