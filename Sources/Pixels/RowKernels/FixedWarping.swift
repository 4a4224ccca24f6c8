import CPairSums

// Interpolations of an 8-bit picture at arbitrary places, in fixed point. Places are rounded to 1/2048 of a pixel.

/// Sums of the pixels around a place, in 1/2²⁰ of a sample.
///
/// The protocol inherits none with witnesses: the code that finds them would be shared with other modules.
private protocol PlaceSums {
    associatedtype Sums: BitwiseCopyable
    /// The bytes of a pixel, and the numbers of its sums.
    static var bytes: Int { get }
    static var count: Int { get }
    static var nothing: Sums { get }
    /// The sums of 4 × 4 pixels, of which `source` is the first one.
    static func sums4(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> Sums
    /// The sums of 6 × 6 pixels.
    static func sums6(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> Sums
    /// Adds a 64th of some sums to others.
    static func adding(_ sums: Sums, to others: Sums) -> Sums
    /// The mean of 64ths of sums, times 64.
    ///
    /// - Parameter factor: 2³² divided by their number, rounded up. It leaves whole numbers of samples exact.
    static func mean(_ sums: Sums, _ factor: Int64) -> Sums
}

private enum GraySums: PlaceSums {
    static var bytes: Int { @inline(__always) get { 1 } }
    static var count: Int { @inline(__always) get { 1 } }
    static var nothing: Int32 { @inline(__always) get { 0 } }

    @inline(__always) static func sums4(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> Int32 { penumbra_sums4_gray(source, stride, along, across) }

    @inline(__always) static func sums6(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> Int32 { penumbra_sums6_gray(source, stride, along, across) }

    @inline(__always) static func adding(_ sum: Int32, to other: Int32) -> Int32 { other &+ sum &>> 6 }
    @inline(__always) static func mean(_ sum: Int32, _ factor: Int64) -> Int32 {
        Int32(truncatingIfNeeded: (Int64(sum) &* factor) &>> 32) &<< 6
    }
}

private enum RGBSums: PlaceSums {
    static var bytes: Int { @inline(__always) get { 3 } }
    static var count: Int { @inline(__always) get { 4 } }
    static var nothing: SIMD4<Int32> { @inline(__always) get { .zero } }

    @inline(__always) static func sums4(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums4_rgb(source, stride, along, across) }

    @inline(__always) static func sums6(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums6_rgb(source, stride, along, across) }

    @inline(__always) static func adding(_ sums: SIMD4<Int32>, to others: SIMD4<Int32>) -> SIMD4<Int32> {
        penumbra_add_sums(sums, others)
    }
    @inline(__always) static func mean(_ sums: SIMD4<Int32>, _ factor: Int64) -> SIMD4<Int32> {
        penumbra_mean_sums(sums, factor)
    }
}

private enum RGBASums: PlaceSums {
    static var bytes: Int { @inline(__always) get { 4 } }
    static var count: Int { @inline(__always) get { 4 } }
    static var nothing: SIMD4<Int32> { @inline(__always) get { .zero } }

    @inline(__always) static func sums4(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums4_rgba(source, stride, along, across) }

    @inline(__always) static func sums6(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums6_rgba(source, stride, along, across) }

    @inline(__always) static func adding(_ sums: SIMD4<Int32>, to others: SIMD4<Int32>) -> SIMD4<Int32> {
        penumbra_add_sums(sums, others)
    }
    @inline(__always) static func mean(_ sums: SIMD4<Int32>, _ factor: Int64) -> SIMD4<Int32> {
        penumbra_mean_sums(sums, factor)
    }
}

/// Pixels of four premultiplied words in 8.7 fixed point. Of opaque pixels, the sums are those of their samples.
private enum WordSums: PlaceSums {
    static var bytes: Int { @inline(__always) get { 8 } }
    static var count: Int { @inline(__always) get { 4 } }
    static var nothing: SIMD4<Int32> { @inline(__always) get { .zero } }

    @inline(__always) static func sums4(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums4_words(source, stride, along, across) }

    @inline(__always) static func sums6(
        _ source: UnsafePointer<UInt8>, _ stride: Int, _ along: UnsafePointer<Int16>, _ across: UnsafePointer<Int16>
    ) -> SIMD4<Int32> { penumbra_sums6_words(source, stride, along, across) }

    @inline(__always) static func adding(_ sums: SIMD4<Int32>, to others: SIMD4<Int32>) -> SIMD4<Int32> {
        penumbra_add_sums(sums, others)
    }
    @inline(__always) static func mean(_ sums: SIMD4<Int32>, _ factor: Int64) -> SIMD4<Int32> {
        penumbra_mean_sums(sums, factor)
    }
}

/// Adding it rounds a number to an integer, which is then in the low bits of the sum: 1.5·2⁵².
private let rounding = 6_755_399_441_055_744.0

/// A place is a number of these parts of a pixel: 2¹¹.
private let phaseBits: Int64 = 11
private let phases = 2048.0

/// The picture around a block.
private struct FixedArea {
    let pixels: UnsafePointer<UInt8>
    let stride: Int
    private let left: Int64
    private let top: Int64
    /// The last places of the first pixel of a sum; negative if the area is too small.
    private let lastColumn: Int
    private let lastRow: Int

    @inline(__always) init(_ pixels: UnsafePointer<UInt8>, _ area: UnsafePointer<Int>, bytes: Int, reach: Int) {
        self.pixels = pixels
        stride = area[2] &* bytes
        let origin = Int64(bitPattern: rounding.bitPattern)
        // The first pixel of a sum lies `reach - 1` pixels before the last one before the place.
        left = origin &+ Int64(area[0] &+ reach &- 1) &<< phaseBits
        top = origin &+ Int64(area[1] &+ reach &- 1) &<< phaseBits
        (lastColumn, lastRow) = (area[2] &- 2 &* reach, area[3] &- 2 &* reach)
    }

    /// The first column of a sum, from the left side of the area on.
    @inline(__always) func column(_ place: Int64) -> Int { Int((place &- left) &>> phaseBits) }
    @inline(__always) func row(_ place: Int64) -> Int { Int((place &- top) &>> phaseBits) }

    @inline(__always) func contains(column: Int, row: Int) -> Bool {
        column >= 0 && column <= lastColumn && row >= 0 && row <= lastRow
    }
}

/// Where the pixels of a row lie in the input, as numbers of phases in the low bits of ``rounding`` plus them.
private struct FixedPlaces {
    let count: Int
    private let stride: Int
    private let numbers: UnsafeMutablePointer<Double>

    @inline(__always) init(_ scratch: UnsafeMutablePointer<Double>, _ count: Int) {
        self.count = count
        stride = (count &+ 7) & ~7
        numbers = scratch
    }

    @inline(__always) func x(_ index: Int) -> Int64 { Int64(bitPattern: numbers[index].bitPattern) }
    @inline(__always) func y(_ index: Int) -> Int64 { Int64(bitPattern: numbers[stride &+ index].bitPattern) }

    @inline(__always) static func number(_ place: Double) -> Int64 {
        Int64(bitPattern: ((place - 0.5) * phases + rounding).bitPattern)
    }

    /// What is found of a row.
    struct Findings {
        /// Whether all sums lie in the area.
        let isInside: Bool
        /// Whether all pixels are single interpolations.
        let isSingle: Bool
    }

    @inline(__always) func find<Map: WarpMap>(_ map: Map, _ x: Int, _ y: Int, _ area: FixedArea) -> Findings {
        let steps = Places(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5)
        let v = Double(y) + 0.5
        var square = Places(repeating: Map.isEven ? map.square(0, 0) : 0)
        var (least, most) = (Places(repeating: .infinity), Places(repeating: -.infinity))
        var (first, last) = (least, most)
        var index = 0
        while index < stride {
            let u = steps + Places(repeating: Double(x &+ index))
            let places = map.places(u, v)
            let columns = (places.x - 0.5) * phases + rounding
            let rows = (places.y - 0.5) * phases + rounding
            UnsafeMutableRawPointer(numbers + index).storeBytes(of: columns, as: Places.self)
            UnsafeMutableRawPointer(numbers + (stride &+ index)).storeBytes(of: rows, as: Places.self)
            (least, most) = (smaller(columns, least), larger(columns, most))
            (first, last) = (smaller(rows, first), larger(rows, last))
            if !Map.isEven { square = larger(map.squares(u, v), square) }
            index &+= 8
        }
        @inline(__always) func isInside(_ column: Double, _ row: Double) -> Bool {
            area.contains(
                column: area.column(Int64(bitPattern: column.bitPattern)),
                row: area.row(Int64(bitPattern: row.bitPattern)))
        }
        return Findings(
            isInside: isInside(smallest(least), smallest(first)) && isInside(largest(most), largest(last)),
            isSingle: isOneSample(largest(square)))
    }
}

/// Writes the sums of a row of places, one number for each gray pixel and four for each other one.
///
/// - Parameters:
///   - pixels: the pixels of an area, and 32 bytes after them.
///   - area: its first column, first row, width and height.
///   - bytes: of a pixel: 1, 3 or 4 for samples, 8 for four premultiplied words in 8.7 fixed point.
///   - isWide: whether there are six weights along each axis, and not four.
///   - table: the weights for each of 2048 phases, with the sum 16384, and two numbers after them.
///   - map, x, y, most: see ``warpRow``.
///   - scratch: room for two numbers for each pixel, whose count is rounded up to a multiple of 8.
@inline(never) public func warpBytes(
    _ pixels: UnsafePointer<UInt8>, area: UnsafePointer<Int>, bytes: Int, isWide: Bool, table: UnsafePointer<Int16>,
    map: UnsafePointer<Double>, x: Int, y: Int, most: Int, count: Int, scratch: UnsafeMutablePointer<Double>,
    out: UnsafeMutablePointer<Int32>
) {
    let isAffine = map[6] == 0 && map[7] == 0 && map[8] == 1
    let places = FixedPlaces(scratch, count)
    @inline(__always) func run<Pixel: PlaceSums>(_: Pixel.Type) {
        let picture = FixedArea(pixels, area, bytes: Pixel.bytes, reach: isWide ? 3 : 2)
        if isAffine {
            warp(Pixel.self, isWide, Affinity(map), picture, places, table, x, y, most, out)
        } else {
            warp(Pixel.self, isWide, Perspective(map), picture, places, table, x, y, most, out)
        }
    }
    switch bytes {
    case 1: run(GraySums.self)
    case 3: run(RGBSums.self)
    case 4: run(RGBASums.self)
    default: run(WordSums.self)
    }
}

@inline(__always) private func warp<Pixel: PlaceSums, Map: WarpMap>(
    _: Pixel.Type, _ isWide: Bool, _ map: Map, _ picture: FixedArea, _ places: FixedPlaces,
    _ table: UnsafePointer<Int16>, _ x: Int, _ y: Int, _ most: Int, _ out: UnsafeMutablePointer<Int32>
) {
    let found = places.find(map, x, y, picture)
    let mask: Int64 = 1 &<< phaseBits &- 1
    @inline(__always) func sums(_ isWide: Bool, _ column: Int, _ row: Int, _ x: Int64, _ y: Int64) -> Pixel.Sums {
        let source = picture.pixels + (row &* picture.stride &+ column &* Pixel.bytes)
        let (along, across) = (Int(x & mask), Int(y & mask))
        return isWide
            ? Pixel.sums6(source, picture.stride, table + along &* 6, table + across &* 6)
            : Pixel.sums4(source, picture.stride, table + along &* 4, table + across &* 4)
    }
    @inline(__always) func store(_ sums: Pixel.Sums, _ index: Int) {
        UnsafeMutableRawPointer(out + index &* Pixel.count).storeBytes(of: sums, as: Pixel.Sums.self)
    }
    @inline(__always) func inside(_ isWide: Bool) {
        var index = 0
        while index < places.count {
            let (x, y) = (places.x(index), places.y(index))
            store(sums(isWide, picture.column(x), picture.row(y), x, y), index)
            index &+= 1
        }
    }
    guard !found.isInside || !found.isSingle else { return isWide ? inside(true) : inside(false) }
    /// Nothing unless all pixels around lie in the area.
    @inline(__always) func checked(_ x: Int64, _ y: Int64) -> Pixel.Sums {
        let (column, row) = (picture.column(x), picture.row(y))
        guard picture.contains(column: column, row: row) else { return Pixel.nothing }
        return sums(isWide, column, row, x, y)
    }
    let all = samplesAlong(map.square(Double(x) + 0.5, Double(y) + 0.5), most)
    var index = 0
    while index < places.count {
        let (left, top) = (Double(x &+ index), Double(y))
        let own = found.isSingle ? 1 : Map.isEven ? all : samplesAlong(map.square(left + 0.5, top + 0.5), most)
        if own == 1 {
            store(checked(places.x(index), places.y(index)), index)
        } else {
            store(mean(own, left, top), index)
        }
        index &+= 1
    }
    @inline(__always) func mean(_ own: Int, _ left: Double, _ top: Double) -> Pixel.Sums {
        var total = Pixel.nothing
        let step = 1 / Double(own)
        var row = 0
        while row < own {
            var column = 0
            while column < own {
                let place = map.place(left + (Double(column) + 0.5) * step, top + (Double(row) + 0.5) * step)
                total = Pixel.adding(checked(FixedPlaces.number(place.x), FixedPlaces.number(place.y)), to: total)
                column &+= 1
            }
            row &+= 1
        }
        let count = Int64(own &* own)
        return Pixel.mean(total, (Int64(1) &<< 32 &+ count &- 1) / count)
    }
}

/// Rounds the sums of ``warpBytes`` to samples.
///
/// - Parameters:
///   - channels: those of `out`. With 2 or 4, the pixels become opaque, and the sums are of 1 or 3 channels.
///   - out: 16 pixels more are writable.
@inline(never) public func roundSums(
    _ sums: UnsafePointer<Int32>, channels: Int, count: Int, out: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    if channels < 3 {
        while index < count {
            let samples = penumbra_round_sums(sums + index)
            let full = SIMD16<UInt8>(repeating: 255)
            UInt8.interleave(
                SixteenPixels(a: samples, b: full, c: samples, d: full), channels: channels, out + channels &* index)
            index &+= 16
        }
        return
    }
    while index < count {
        let samples = penumbra_round_sums(sums + 4 &* index)
        if channels == 3 {
            penumbra_store_three_of_four(samples, out + 3 &* index)
        } else {
            penumbra_store_opaque(samples, out + 4 &* index)
        }
        index &+= 4
    }
}

/// Rounds sums of four channels down to premultiplied words in 8.7 fixed point. Where weights give an alpha above full, the pixel is
/// lowered to full.
///
/// - Parameter out: a pixel more is writable.
@inline(never) public func wordsOfSums(
    _ sums: UnsafePointer<Int32>, count: Int, out: UnsafeMutablePointer<UInt16>
) {
    var index = 0
    while index < count {
        penumbra_store_sum_words(sums + 4 &* index, out + 4 &* index)
        index &+= 2
    }
    let full: UInt16 = 255 &* 128
    index = 0
    while index < count {
        let pixel = out + 4 &* index
        if pixel[3] > full {
            let factor = Float(full) / Float(pixel[3])
            pixel[0] = UInt16(truncatingIfNeeded: Int32(Float(pixel[0]) * factor + 0.5))
            pixel[1] = UInt16(truncatingIfNeeded: Int32(Float(pixel[1]) * factor + 0.5))
            pixel[2] = UInt16(truncatingIfNeeded: Int32(Float(pixel[2]) * factor + 0.5))
            pixel[3] = full
        }
        index &+= 1
    }
}

/// Makes pixels of four samples of those with fewer. Gray pixels get three equal colours.
///
/// - Parameters:
///   - channels: 1 to 3. With 2, the second one is the alpha.
///   - alphas: of pixels without alpha.
///   - count: of pixels. 16 more are readable and writable.
@inline(never) public func fourSamples(
    _ source: UnsafePointer<UInt8>, channels: Int, alphas: UnsafePointer<UInt8>, count: Int,
    out: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    while index < count {
        let pixels = UInt8.split(source + channels &* index, channels: channels)
        let own = UnsafeRawPointer(alphas + index).loadUnaligned(as: SIMD16<UInt8>.self)
        UInt8.interleave(
            channels == 3
                ? SixteenPixels(a: pixels.a, b: pixels.b, c: pixels.c, d: own)
                : SixteenPixels(a: pixels.a, b: pixels.a, c: pixels.a, d: channels == 2 ? pixels.b : own),
            channels: 4, out + 4 &* index)
        index &+= 16
    }
}
