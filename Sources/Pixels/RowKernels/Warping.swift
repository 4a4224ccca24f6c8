import CShuffles

// Interpolations of a picture at arbitrary places, in single precision. The values of a pixel are one vector.

/// A pixel of one, two or four values. Those with three values have a fourth one, which means nothing.
///
/// The protocol inherits none with witnesses: the code that finds them would be shared with other modules.
protocol WarpedPixel {
    associatedtype Values: BitwiseCopyable
    static var count: Int { get }
    static var nothing: Values { get }
    static func load(_ source: UnsafePointer<Float>) -> Values
    static func store(_ values: Values, _ target: UnsafeMutablePointer<Float>)
    static func product(_ values: Values, _ factor: Float) -> Values
    static func sum(_ one: Values, _ other: Values) -> Values
}

enum OneValue: WarpedPixel {
    static var count: Int { @inline(__always) get { 1 } }
    static var nothing: Float { @inline(__always) get { 0 } }

    @inline(__always) static func load(_ source: UnsafePointer<Float>) -> Float { source[0] }
    @inline(__always) static func store(_ value: Float, _ target: UnsafeMutablePointer<Float>) { target[0] = value }
    @inline(__always) static func product(_ value: Float, _ factor: Float) -> Float { value * factor }
    @inline(__always) static func sum(_ one: Float, _ other: Float) -> Float { one + other }
}

enum TwoValues: WarpedPixel {
    static var count: Int { @inline(__always) get { 2 } }
    static var nothing: SIMD2<Float> { @inline(__always) get { .zero } }

    @inline(__always) static func load(_ source: UnsafePointer<Float>) -> SIMD2<Float> {
        UnsafeRawPointer(source).loadUnaligned(as: SIMD2<Float>.self)
    }
    @inline(__always) static func store(_ values: SIMD2<Float>, _ target: UnsafeMutablePointer<Float>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD2<Float>.self)
    }
    @inline(__always) static func product(_ values: SIMD2<Float>, _ factor: Float) -> SIMD2<Float> {
        values * SIMD2(repeating: factor)
    }
    @inline(__always) static func sum(_ one: SIMD2<Float>, _ other: SIMD2<Float>) -> SIMD2<Float> { one + other }
}

enum FourValues: WarpedPixel {
    static var count: Int { @inline(__always) get { 4 } }
    static var nothing: SIMD4<Float> { @inline(__always) get { .zero } }

    @inline(__always) static func load(_ source: UnsafePointer<Float>) -> SIMD4<Float> {
        UnsafeRawPointer(source).loadUnaligned(as: SIMD4<Float>.self)
    }
    @inline(__always) static func store(_ values: SIMD4<Float>, _ target: UnsafeMutablePointer<Float>) {
        UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD4<Float>.self)
    }
    @inline(__always) static func product(_ values: SIMD4<Float>, _ factor: Float) -> SIMD4<Float> {
        values * SIMD4(repeating: factor)
    }
    @inline(__always) static func sum(_ one: SIMD4<Float>, _ other: SIMD4<Float>) -> SIMD4<Float> { one + other }
}

/// The weights of the pixels along an axis around a place.
private protocol WarpKernel {
    /// Whether there are six weights and not four.
    static var isWide: Bool { get }
    /// - Parameter place: from 0 to 1, from the last pixel before the place to the first behind it.
    static func weights(_ place: Float, _ table: UnsafePointer<Float>) -> SIMD8<Float>
}

private enum CatmullRom: WarpKernel {
    static var isWide: Bool { @inline(__always) get { false } }

    @inline(__always) static func weights(_ t: Float, _: UnsafePointer<Float>) -> SIMD8<Float> {
        let cubic = SIMD4<Float>(-0.5, 1.5, -1.5, 0.5)
        let square = SIMD4<Float>(1, -2.5, 2, -0.5)
        let linear = SIMD4<Float>(-0.5, 0, 0.5, 0)
        let constant = SIMD4<Float>(0, 1, 0, 0)
        return SIMD8(lowHalf: ((cubic * t + square) * t + linear) * t + constant, highHalf: .zero)
    }

    /// The weights of sixteen places, in four planes.
    @inline(__always)
    static func store(_ t: FloatVector, _ planes: UnsafeMutablePointer<Float>, _ stride: Int) {
        storeFloats(((t * -0.5 + 1) * t - 0.5) * t, planes)
        storeFloats((t * 1.5 - 2.5) * t * t + 1, planes + stride)
        storeFloats(((t * -1.5 + 2) * t + 0.5) * t, planes + 2 &* stride)
        storeFloats((t * 0.5 - 0.5) * t * t, planes + 3 &* stride)
    }
}

/// Weights from a table of eight numbers for each of 1025 places, of which six are used. Between places they are interpolated.
private enum TabulatedKernel: WarpKernel {
    static var isWide: Bool { @inline(__always) get { true } }

    @inline(__always) static func weights(_ t: Float, _ table: UnsafePointer<Float>) -> SIMD8<Float> {
        let position = t * 1024
        let index = min(Int(position), 1023)
        let first = UnsafeRawPointer(table + index &* 8).loadUnaligned(as: SIMD8<Float>.self)
        let second = UnsafeRawPointer(table + (index &* 8 &+ 8)).loadUnaligned(as: SIMD8<Float>.self)
        return first + (second - first) * (position - Float(index))
    }
}

/// The picture around a block.
private struct WarpedArea {
    let pixels: UnsafePointer<Float>
    let left: Int
    let top: Int
    let width: Int
    let height: Int

    /// The sum of the pixels around a place, weighted along both axes; nothing unless all of them lie in the area.
    ///
    /// - Parameter column, row: the last pixel before the place.
    @inline(__always) func value<Pixel: WarpedPixel, Kernel: WarpKernel>(
        _: Pixel.Type, _: Kernel.Type, _ column: Int, _ row: Int, columns: (Int) -> Float, rows: (Int) -> Float
    ) -> Pixel.Values {
        let reach = Kernel.isWide ? 3 : 2
        let (x, y) = (column &- reach &+ 1 &- left, row &- reach &+ 1 &- top)
        guard x >= 0, y >= 0, x &+ 2 &* reach <= width, y &+ 2 &* reach <= height else { return Pixel.nothing }
        let stride = width &* Pixel.count
        let source = pixels + (y &* stride &+ x &* Pixel.count)
        /// The weighted sum of a column of pixels, from the top down.
        @inline(__always) func sum(_ index: Int) -> Pixel.Values {
            let top = source + index &* Pixel.count
            @inline(__always) func product(_ row: Int) -> Pixel.Values {
                Pixel.product(Pixel.load(top + row &* stride), rows(row))
            }
            let upper = Pixel.sum(Pixel.sum(product(0), product(1)), Pixel.sum(product(2), product(3)))
            let whole = Kernel.isWide ? Pixel.sum(upper, Pixel.sum(product(4), product(5))) : upper
            return Pixel.product(whole, columns(index))
        }
        let four = Pixel.sum(Pixel.sum(sum(0), sum(1)), Pixel.sum(sum(2), sum(3)))
        return Kernel.isWide ? Pixel.sum(four, Pixel.sum(sum(4), sum(5))) : four
    }
}

/// Writes a row of interpolations, the values of each pixel side by side.
///
/// - Parameters:
///   - pixels: the pixels of an area, 1, 2 or 4 values each.
///   - area: its first column, first row, width and height.
///   - isWide: whether the kernel is that of `table`, with six weights along each axis, and not Catmull-Rom.
///   - map: a matrix, row by row, from the output to the pixels' coordinates, in which centres lie at halves.
///   - x, y: the first pixel.
///   - most: the most interpolations along each axis of a pixel. There are as many as input pixels lie along it.
///   - scratch: room for eight numbers for each pixel, whose count is rounded up to a multiple of 16.
@inline(never) public func warpRow(
    _ pixels: UnsafePointer<Float>, area: UnsafePointer<Int>, values: Int, isWide: Bool, table: UnsafePointer<Float>,
    map: UnsafePointer<Double>, x: Int, y: Int, most: Int, count: Int, scratch: UnsafeMutablePointer<Double>,
    out: UnsafeMutablePointer<Float>
) {
    let picture = WarpedArea(pixels: pixels, left: area[0], top: area[1], width: area[2], height: area[3])
    let isAffine = map[6] == 0 && map[7] == 0 && map[8] == 1
    let places = PlacesOfRow(scratch, count)
    if isAffine {
        places.find(Affinity(map), x, y)
    } else {
        places.find(Perspective(map), x, y)
    }
    if !isWide { places.weigh() }
    @inline(__always) func run<Pixel: WarpedPixel>(_: Pixel.Type) {
        if isWide { go(Pixel.self, TabulatedKernel.self) } else { go(Pixel.self, CatmullRom.self) }
    }
    @inline(__always) func go<Pixel: WarpedPixel, Kernel: WarpKernel>(_: Pixel.Type, _: Kernel.Type) {
        if isAffine {
            warp(Pixel.self, Kernel.self, Affinity(map), picture, places, table, x, y, most, out)
        } else {
            warp(Pixel.self, Kernel.self, Perspective(map), picture, places, table, x, y, most, out)
        }
    }
    switch values {
    case 1: run(OneValue.self)
    case 2: run(TwoValues.self)
    default: run(FourValues.self)
    }
}

/// Where the pixels of a row lie in the input, and the weights of the pixels around.
private struct PlacesOfRow {
    let count: Int
    private let stride: Int
    /// The last pixels before the places, in the low 32 bits of numbers.
    private let wholes: UnsafeMutablePointer<Double>
    /// How far the places lie behind these pixels, 0 to 1.
    private let rests: UnsafeMutablePointer<Float>
    private let weights: UnsafeMutablePointer<Float>

    @inline(__always) init(_ scratch: UnsafeMutablePointer<Double>, _ count: Int) {
        self.count = count
        stride = (count &+ 15) & ~15
        wholes = scratch
        let floats = UnsafeMutableRawPointer(scratch + 2 &* stride).assumingMemoryBound(to: Float.self)
        rests = floats
        weights = floats + 2 &* stride
    }

    @inline(__always) func column(_ index: Int) -> Int { whole(index) }
    @inline(__always) func row(_ index: Int) -> Int { whole(stride &+ index) }
    @inline(__always) func restX(_ index: Int) -> Float { rests[index] }
    @inline(__always) func restY(_ index: Int) -> Float { rests[stride &+ index] }
    @inline(__always) func weightX(_ index: Int, _ tap: Int) -> Float { weights[tap &* stride &+ index] }
    @inline(__always) func weightY(_ index: Int, _ tap: Int) -> Float { weights[(tap &+ 4) &* stride &+ index] }

    @inline(__always) private func whole(_ index: Int) -> Int {
        Int(UnsafeRawPointer(wholes + index).loadUnaligned(as: Int32.self))
    }

    @inline(__always) func find<Map: WarpMap>(_ map: Map, _ x: Int, _ y: Int) {
        let steps = Places(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5)
        var index = 0
        while index < stride {
            let places = map.places(steps + Places(repeating: Double(x &+ index)), Double(y) + 0.5)
            split(places.x, index)
            split(places.y, stride &+ index)
            index &+= 8
        }
    }

    /// Splits eight places into the last pixels before them, whose centres lie at halves, and the rests.
    @inline(__always) private func split(_ places: Places, _ index: Int) {
        // 1.5·2⁵²: adding it rounds to an integer, which is then in the low bits of the sum. A rest of 1 is one of 0 behind the next.
        let magic = Places(repeating: 6_755_399_441_055_744)
        let centered = places - 0.5
        let sum = (centered - 0.5) + magic
        UnsafeMutableRawPointer(wholes + index).storeBytes(of: sum, as: Places.self)
        let rest = singles(centered - (sum - magic))
        UnsafeMutableRawPointer(rests + index).storeBytes(of: rest, as: SIMD8<Float>.self)
    }

    /// The weights of Catmull-Rom for all places.
    @inline(__always) func weigh() {
        var index = 0
        while index < stride {
            CatmullRom.store(loadFloats(rests + index), weights + index, stride)
            CatmullRom.store(loadFloats(rests + (stride &+ index)), weights + (4 &* stride &+ index), stride)
            index &+= 16
        }
    }
}

@inline(__always) private func warp<Pixel: WarpedPixel, Kernel: WarpKernel, Map: WarpMap>(
    _: Pixel.Type, _: Kernel.Type, _ map: Map, _ picture: WarpedArea, _ places: PlacesOfRow,
    _ table: UnsafePointer<Float>, _ x: Int, _ y: Int, _ most: Int, _ out: UnsafeMutablePointer<Float>
) {
    /// At any place, for pixels with several.
    @inline(__always) func interpolation(_ x: Double, _ y: Double) -> Pixel.Values {
        let place = map.place(x, y)
        let (floorX, floorY) = ((place.x - 0.5).rounded(.down), (place.y - 0.5).rounded(.down))
        let columns = Kernel.weights(Float(place.x - 0.5 - floorX), table)
        let rows = Kernel.weights(Float(place.y - 0.5 - floorY), table)
        return picture.value(
            Pixel.self, Kernel.self, Int(floorX), Int(floorY), columns: { columns[$0] }, rows: { rows[$0] })
    }
    @inline(__always) func usual(_ index: Int) -> Pixel.Values {
        let (column, row) = (places.column(index), places.row(index))
        if Kernel.isWide {
            let columns = Kernel.weights(places.restX(index), table)
            let rows = Kernel.weights(places.restY(index), table)
            return picture.value(
                Pixel.self, Kernel.self, column, row, columns: { columns[$0] }, rows: { rows[$0] })
        }
        return picture.value(
            Pixel.self, Kernel.self, column, row, columns: { places.weightX(index, $0) },
            rows: { places.weightY(index, $0) })
    }
    let isSingle = map.isSingle(x, y, places.count)
    let all = samplesAlong(map.square(Double(x) + 0.5, Double(y) + 0.5), most)
    var index = 0
    while index < places.count {
        let (left, top) = (Double(x &+ index), Double(y))
        let own = isSingle ? 1 : Map.isEven ? all : samplesAlong(map.square(left + 0.5, top + 0.5), most)
        let target = out + index &* Pixel.count
        if own == 1 {
            Pixel.store(usual(index), target)
            index &+= 1
            continue
        }
        index &+= 1
        var sum = Pixel.nothing
        let step = 1 / Double(own)
        var row = 0
        while row < own {
            var column = 0
            while column < own {
                sum = Pixel.sum(
                    sum, interpolation(left + (Double(column) + 0.5) * step, top + (Double(row) + 0.5) * step))
                column &+= 1
            }
            row &+= 1
        }
        Pixel.store(Pixel.product(sum, Float(step * step)), target)
    }
}

/// Interleaves the planes of a row, for ``warpRow``. Pixels with three values get a fourth one, which means nothing.
@inline(never) public func joinPlanes(
    _ planes: UnsafePointer<Float>, planeStride: Int, channels: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    var index = 0
    if channels == 2 {
        while index < count {
            out[2 &* index] = planes[index]
            out[2 &* index &+ 1] = planes[planeStride &+ index]
            index &+= 1
        }
        return
    }
    let (second, third) = (planes + planeStride, planes + 2 &* planeStride)
    let last = channels == 4 ? planes + 3 &* planeStride : third
    while index &+ 4 <= count {
        penumbra_store_floats4(
            penumbra_float_pixels(
                a: four(planes + index), b: four(second + index), c: four(third + index), d: four(last + index)),
            out + 4 &* index)
        index &+= 4
    }
    while index < count {
        let target = out + 4 &* index
        target[0] = planes[index]
        target[1] = second[index]
        target[2] = third[index]
        target[3] = last[index]
        index &+= 1
    }
}

/// Splits the pixels of ``warpRow`` into planes.
@inline(never) public func splitPixels(
    _ pixels: UnsafePointer<Float>, channels: Int, count: Int, planes: UnsafeMutablePointer<Float>, planeStride: Int
) {
    var index = 0
    if channels == 2 {
        while index < count {
            planes[index] = pixels[2 &* index]
            planes[planeStride &+ index] = pixels[2 &* index &+ 1]
            index &+= 1
        }
        return
    }
    while index &+ 4 <= count {
        let pixels = penumbra_load_floats4(pixels + 4 &* index)
        put(pixels.a, planes + index)
        put(pixels.b, planes + (planeStride &+ index))
        put(pixels.c, planes + (2 &* planeStride &+ index))
        if channels == 4 { put(pixels.d, planes + (3 &* planeStride &+ index)) }
        index &+= 4
    }
    while index < count {
        var channel = 0
        while channel < channels {
            planes[channel &* planeStride &+ index] = pixels[4 &* index &+ channel]
            channel &+= 1
        }
        index &+= 1
    }
}

@inline(__always) private func four(_ source: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(source).loadUnaligned(as: SIMD4<Float>.self)
}

@inline(__always) private func put(_ values: SIMD4<Float>, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: values, as: SIMD4<Float>.self)
}
