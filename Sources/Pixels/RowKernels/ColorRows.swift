import CShuffles

// Colours of pixels, changed in place, 16 at a time. Alpha stays. Where it is 0, colours become 0.

/// Three colours of 16 pixels on the scale of the samples: 0…255, 0…65535, 0…1.
struct SixteenColors {
    var red: FloatVector
    var green: FloatVector
    var blue: FloatVector
}

protocol ColorChange {
    func changed(_ colors: SixteenColors) -> SixteenColors
}

/// Changes 16 pixels where they are.
protocol PixelChange {
    func change<Layout: PlaneLayout, Sample: PlaneSample>(_: Layout.Type, _ pixels: UnsafeMutablePointer<Sample>)
}

// MARK: The loop.

/// - Parameter scratch: room for 16 pixels.
@inline(__always) func changePixels<Sample: PlaneSample>(
    _ pixels: UnsafeMutablePointer<Sample>, _ channels: Int, _ count: Int, _ scratch: UnsafeMutablePointer<Sample>,
    _ change: some PixelChange
) {
    @inline(__always) func run<Layout: PlaneLayout>(_: Layout.Type) {
        var index = 0
        while index &+ 16 <= count {
            change.change(Layout.self, pixels + index &* Layout.channels)
            index &+= 16
        }
        guard index < count else { return }
        // The last pixels go through the same operations, so that no result depends on where a row ends.
        let (rest, samples) = (pixels + index &* Layout.channels, (count &- index) &* Layout.channels)
        var sample = 0
        while sample < samples {
            scratch[sample] = rest[sample]
            sample &+= 1
        }
        change.change(Layout.self, scratch)
        sample = 0
        while sample < samples {
            rest[sample] = scratch[sample]
            sample &+= 1
        }
    }
    switch channels {
    case 1: run(GrayPixels.self)
    case 2: run(GrayAlphaPixels.self)
    case 3: run(RGBPixels.self)
    default: run(RGBAPixels.self)
    }
}

/// See ``changePixels(_:_:_:_:_:)``.
@inline(__always) func recolor<Sample: PlaneSample>(
    _ pixels: UnsafeMutablePointer<Sample>, _ channels: Int, _ count: Int, _ scratch: UnsafeMutablePointer<Sample>,
    _ change: some ColorChange
) {
    changePixels(pixels, channels, count, scratch, ChangedColors(change: change))
}

private struct ChangedColors<Change: ColorChange>: PixelChange {
    let change: Change

    @inline(__always)
    func change<Layout: PlaneLayout, Sample: PlaneSample>(_: Layout.Type, _ pixels: UnsafeMutablePointer<Sample>) {
        let samples = Sample.split(pixels, channels: Layout.channels)
        let isGray = Layout.channels < 3
        let first = Sample.planeFloats(samples.a)
        var colors = change.changed(
            SixteenColors(
                red: first, green: isGray ? first : Sample.planeFloats(samples.b),
                blue: isGray ? first : Sample.planeFloats(samples.c)))
        if isGray { colors.red = luma(colors) }
        if Layout.hasAlpha {
            let alpha = Sample.planeFloats(Layout.channels == 2 ? samples.b : samples.d)
            colors.red = cleared(colors.red, whereZero: alpha)
            colors.green = cleared(colors.green, whereZero: alpha)
            colors.blue = cleared(colors.blue, whereZero: alpha)
        }
        let result = SixteenPixels(
            a: Sample.samples(colors.red), b: isGray ? samples.b : Sample.samples(colors.green),
            c: isGray ? samples.c : Sample.samples(colors.blue), d: samples.d)
        Sample.interleave(result, channels: Layout.channels, pixels)
    }
}

/// The luma of Rec. 709. Equal colours give exactly their value.
@inline(__always) private func luma(_ colors: SixteenColors) -> FloatVector {
    colors.green + FloatVector(repeating: 0.2126) * (colors.red - colors.green)
        + FloatVector(repeating: 0.0722) * (colors.blue - colors.green)
}

// MARK: Tables of bytes.

/// Replaces each byte by its value in a table of 256.
@inline(never) public func mapBytes(
    _ samples: UnsafeMutablePointer<UInt8>, table: UnsafePointer<UInt8>, count: Int
) {
    var index = 0
    while index &+ 64 <= count {
        penumbra_look_up(samples + index, table)
        index &+= 64
    }
    while index < count {
        samples[index] = table[Int(samples[index])]
        index &+= 1
    }
}

// MARK: Hues.

/// A matrix whose rows have sums of 1. The differences from green leave grays exactly as they are.
private struct Turning: ColorChange {
    /// The shares of red and of blue, for each row.
    let matrix: UnsafePointer<Float>

    @inline(__always) func changed(_ colors: SixteenColors) -> SixteenColors {
        let (reds, blues) = (colors.red - colors.green, colors.blue - colors.green)
        @inline(__always) func row(_ index: Int) -> FloatVector {
            colors.green
                + (FloatVector(repeating: matrix[2 &* index]) * reds
                    + FloatVector(repeating: matrix[2 &* index &+ 1]) * blues)
        }
        return SixteenColors(red: row(0), green: row(1), blue: row(2))
    }
}

/// Multiplies colours by a matrix whose rows have sums of 1.
///
/// - Parameters:
///   - channels: 1 to 4. Two and four have an alpha. Gray stays as it is.
///   - matrix: for each row the shares of red and of blue.
///   - scratch: room for 16 pixels.
@inline(never) public func turnByteHues(
    _ pixels: UnsafeMutablePointer<UInt8>, channels: Int, matrix: UnsafePointer<Float>, count: Int,
    scratch: UnsafeMutablePointer<UInt8>
) {
    recolor(pixels, channels, count, scratch, Turning(matrix: matrix))
}

/// See ``turnByteHues(_:channels:matrix:count:scratch:)``.
@inline(never) public func turnWordHues(
    _ pixels: UnsafeMutablePointer<UInt16>, channels: Int, matrix: UnsafePointer<Float>, count: Int,
    scratch: UnsafeMutablePointer<UInt16>
) {
    recolor(pixels, channels, count, scratch, Turning(matrix: matrix))
}

/// See ``turnByteHues(_:channels:matrix:count:scratch:)``.
@inline(never) public func turnFloatHues(
    _ pixels: UnsafeMutablePointer<Float>, channels: Int, matrix: UnsafePointer<Float>, count: Int,
    scratch: UnsafeMutablePointer<Float>
) {
    recolor(pixels, channels, count, scratch, Turning(matrix: matrix))
}

// MARK: Tables of colours.

/// Interpolation in the tetrahedron around a colour, on a grid of points.
///
/// The places of 16 colours are computed together. The points of each are loaded one after the other, as they lie anywhere.
private struct CubeChange: ColorChange {
    let points: UnsafePointer<Float>
    /// The points along each axis.
    let size: Float
    /// For red, green and blue: the value at the grid's start, then the steps of the grid for each unit of a value.
    let domain: UnsafePointer<Float>
    let full: Float
    let strength: Float
    /// Room for 160 values.
    let scratch: UnsafeMutablePointer<Float>

    @inline(__always) func changed(_ colors: SixteenColors) -> SixteenColors {
        place(colors)
        var index = 0
        while index < 16 {
            interpolate(index)
            index &+= 1
        }
        let found = Float.split(scratch + 96, channels: 4)
        let (whole, kept) = (FloatVector(repeating: full * strength), FloatVector(repeating: 1 - strength))
        @inline(__always) func blended(_ found: FloatVector, _ color: FloatVector) -> FloatVector {
            // Infinite floats times 0 would be NaN.
            strength == 1 ? whole * found : kept * color + whole * found
        }
        return SixteenColors(
            red: blended(found.a, colors.red), green: blended(found.b, colors.green),
            blue: blended(found.c, colors.blue))
    }

    /// Writes the offsets of three points of each tetrahedron, and three shares of the way from the dark corner to the bright one.
    @inline(__always) private func place(_ colors: SixteenColors) {
        let (x, y, z) = (cell(colors.red, 0), cell(colors.green, 1), cell(colors.blue, 2))
        let (r, g, b) = (x.rest, y.rest, z.rest)
        let (large, small) = (larger(larger(r, g), b), smaller(smaller(r, g), b))
        let middle = larger(smaller(r, g), smaller(larger(r, g), b))
        // Offsets are whole numbers below 2²⁴ of points, and so exact. A point has four values.
        let (right, up, far) = (
            FloatVector(repeating: 4), FloatVector(repeating: 4 * size), FloatVector(repeating: 4 * size * size)
        )
        let start = right * (x.cell + FloatVector(repeating: size) * (y.cell + FloatVector(repeating: size) * z.cell))
        let first = chosen(right, where: r, equals: large, else: chosen(up, where: g, equals: large, else: far))
        let last = chosen(far, where: b, equals: small, else: chosen(up, where: g, equals: small, else: right))
        // Grays lie on the diagonal. Rounding errors of the other points must not reach them.
        let zero = FloatVector.zero
        let one = chosen(zero, where: large, equals: small, else: first)
        let two = chosen(zero, where: large, equals: small, else: right + up + far - last)
        storeOffsets(start, 0)
        storeOffsets(start + one, 16)
        storeOffsets(start + two, 32)
        storeFloats(large, scratch + 48)
        storeFloats(middle, scratch + 64)
        storeFloats(small, scratch + 80)
    }

    /// The number of the cell along an axis, and the share of it. 0 for NaN.
    @inline(__always) private func cell(_ color: FloatVector, _ axis: Int) -> (cell: FloatVector, rest: FloatVector) {
        let value = (color - FloatVector(repeating: domain[axis])) * FloatVector(repeating: domain[3 &+ axis])
        let place = smaller(larger(value, than: 0), than: size - 1)
        let cell = floats(wholes(smaller(place, than: size - 2)))
        return (cell, place - cell)
    }

    @inline(__always) private func storeOffsets(_ offsets: FloatVector, _ index: Int) {
        UnsafeMutableRawPointer(scratch + index).storeBytes(of: wholes(offsets), as: WideVector.self)
    }

    @inline(__always) private func interpolate(_ index: Int) {
        @inline(__always) func point(_ offset: Int) -> SIMD4<Float> {
            UnsafeRawPointer(points + offset).loadUnaligned(as: SIMD4<Float>.self)
        }
        @inline(__always) func offset(_ list: Int) -> Int {
            Int(truncatingIfNeeded: UnsafeRawPointer(scratch + (list &+ index)).load(as: UInt32.self))
        }
        @inline(__always) func share(_ list: Int) -> SIMD4<Float> { SIMD4(repeating: scratch[list &+ index]) }
        let side = Int(size)
        let start = offset(0)
        let dark = point(start)
        let (one, two) = (point(offset(16)), point(offset(32)))
        let bright = point(start &+ 4 &* (1 &+ side &+ side &* side))
        let color = dark + share(48) * (one - dark) + share(64) * (two - one) + share(80) * (bright - two)
        UnsafeMutableRawPointer(scratch + (96 &+ 4 &* index)).storeBytes(of: color, as: SIMD4<Float>.self)
    }
}

/// Replaces colours by those of a table.
///
/// - Parameters:
///   - channels: 1 to 4. Two and four have an alpha. Gray becomes the luma (Rec. 709) of its colour in the table.
///   - points: four values for each point: red, green and blue on a scale where 1 is full intensity, and a fourth that is not used. Red
///     counts fastest, then green.
///   - size: the points along each axis, 2 to 160.
///   - domain: for red, green and blue the sample's value at the start of the grid, and then for each the steps for a unit.
///   - strength: the share of the table's colour. The rest is the colour as it was.
///   - scratch: room for 16 pixels.
///   - places: room for 160 values.
@inline(never) public func mapByteColors(
    _ pixels: UnsafeMutablePointer<UInt8>, channels: Int, points: UnsafePointer<Float>, size: Int,
    domain: UnsafePointer<Float>, strength: Float, count: Int, scratch: UnsafeMutablePointer<UInt8>,
    places: UnsafeMutablePointer<Float>
) {
    let change = CubeChange(
        points: points, size: Float(size), domain: domain, full: 255, strength: strength, scratch: places)
    recolor(pixels, channels, count, scratch, change)
}

/// See ``mapByteColors(_:channels:points:size:domain:strength:count:scratch:places:)``.
@inline(never) public func mapWordColors(
    _ pixels: UnsafeMutablePointer<UInt16>, channels: Int, points: UnsafePointer<Float>, size: Int,
    domain: UnsafePointer<Float>, strength: Float, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    places: UnsafeMutablePointer<Float>
) {
    let change = CubeChange(
        points: points, size: Float(size), domain: domain, full: 65535, strength: strength, scratch: places)
    recolor(pixels, channels, count, scratch, change)
}

/// See ``mapByteColors(_:channels:points:size:domain:strength:count:scratch:places:)``.
@inline(never) public func mapFloatColors(
    _ pixels: UnsafeMutablePointer<Float>, channels: Int, points: UnsafePointer<Float>, size: Int,
    domain: UnsafePointer<Float>, strength: Float, count: Int, scratch: UnsafeMutablePointer<Float>,
    places: UnsafeMutablePointer<Float>
) {
    let change = CubeChange(
        points: points, size: Float(size), domain: domain, full: 1, strength: strength, scratch: places)
    recolor(pixels, channels, count, scratch, change)
}
