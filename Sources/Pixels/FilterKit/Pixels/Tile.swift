/// A part of a picture that a filter is asked for, and the input around it. It is lent for one call.
///
/// Coordinates are those of the whole picture, so a pattern that is anchored to them does not show where tiles meet. In
/// an ``AreaFilter`` colours are multiplied by alpha, here and there; in a ``PointFilter`` they are not.
public struct Tile: ~Copyable {
    public let picture: Picture
    /// What is to be written, every pixel of it.
    public let area: PixelRect
    /// Where the input can be read: ``area`` and the halo, or the filter's region of interest. Outside of the picture
    /// it is what the manifest's `edge` says.
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

    /// True when nobody wants the tile any more: a filter that takes long looks now and then, and returns.
    public var isCancelled: Bool { cancellation() }

    /// Throws when nobody wants the tile any more; cheap enough for every row.
    public func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }

    /// The input's pixel at a place in ``readable``; a place elsewhere ends the program.
    @inlinable public func source(_ x: Int, _ y: Int) -> Pixel {
        precondition(readable.contains(x: x, y: y), "a filter reads within its halo")
        let place = input.address(x - readable.x, y - readable.y)
        switch format {
        case .u8: return Pixel(at: place.assumingMemoryBound(to: UInt8.self), picture)
        case .u16: return Pixel(at: place.assumingMemoryBound(to: UInt16.self), picture)
        case .f32: return Pixel(at: place.assumingMemoryBound(to: Float.self), picture)
        }
    }

    /// Sets the output's pixel at a place in ``area``; a place elsewhere ends the program.
    ///
    /// Whole numbers round half up. A picture without alpha takes the colours alone, a gray one their luminance.
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

/// How samples are stored.
@usableFromInline enum TileFormat {
    case u8, u16, f32
}

/// Where rows of pixels lie in memory.
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
