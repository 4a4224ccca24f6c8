// The loops of the guided filter. A pixel has a record of 8 values, or of 16 with alpha, so that the sums of all of them are made at
// once:
//
//   luma, red, green, blue | luma·luma, luma·red, luma·green, luma·blue | alpha, 7 values of 0
//
// Gray is in the place of red. Values are shares of full intensity less ½, multiplied by alpha once: differences of squares are
// more precise around 0. `fitLines` replaces the means by those of a and b: a of each in the first four, b in the next.

/// Values of a pixel that are added at once.
private protocol Record {
    static var count: Int { get }
    static func load(_ source: UnsafePointer<Float>) -> Self
    func store(_ target: UnsafeMutablePointer<Float>)
    func adding(_ other: Self) -> Self
    func scaled(by factor: Float) -> Self
}

extension SIMD8<Float>: Record {
    static var count: Int { @inline(__always) get { 8 } }
    @inline(__always) static func load(_ source: UnsafePointer<Float>) -> Self {
        UnsafeRawPointer(source).loadUnaligned(as: Self.self)
    }
    @inline(__always) func store(_ target: UnsafeMutablePointer<Float>) {
        UnsafeMutableRawPointer(target).storeBytes(of: self, as: Self.self)
    }
    @inline(__always) func adding(_ other: Self) -> Self { self + other }
    @inline(__always) func scaled(by factor: Float) -> Self { self * factor }
}

extension SIMD16<Float>: Record {
    static var count: Int { @inline(__always) get { 16 } }
    @inline(__always) static func load(_ source: UnsafePointer<Float>) -> Self { loadFloats(source) }
    @inline(__always) func store(_ target: UnsafeMutablePointer<Float>) { storeFloats(self, target) }
    @inline(__always) func adding(_ other: Self) -> Self { self + other }
    @inline(__always) func scaled(by factor: Float) -> Self { self * factor }
}

private typealias FourFloats = SIMD4<Float>

@inline(__always) private func loadFourFloats(_ source: UnsafePointer<Float>) -> FourFloats {
    UnsafeRawPointer(source).loadUnaligned(as: FourFloats.self)
}

@inline(__always) private func storeFourFloats(_ four: FourFloats, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: four, as: FourFloats.self)
}

/// Luma and colours of a pixel as in a record.
@inline(__always) private func values(
    _ planes: UnsafePointer<Float>, _ planeStride: Int, isColor: Bool, scale: Float, alpha: Float
) -> FourFloats {
    let middle = 0.5 * alpha
    let first = planes[0] * scale - middle
    guard isColor else { return FourFloats(first, first, 0, 0) }
    let (second, third) = (planes[planeStride] * scale - middle, planes[2 &* planeStride] * scale - middle)
    return FourFloats(0.2126 * first + 0.7152 * second + 0.0722 * third, first, second, third)
}

/// Writes the records of pixels.
///
/// - Parameters:
///   - planes: gray or three colours, premultiplied; an alpha follows if there is one.
///   - scale: 1 over full intensity.
///   - count: the number of pixels. Nothing is read or written beyond them.
@inline(never) public func writeMoments(
    planes: UnsafePointer<Float>, planeStride: Int, colors: Int, hasAlpha: Bool, scale: Float, count: Int,
    records: UnsafeMutablePointer<Float>
) {
    let isColor = colors == 3
    var index = 0
    if hasAlpha {
        while index < count {
            let alpha = planes[colors &* planeStride &+ index] * scale
            let own = values(planes + index, planeStride, isColor: isColor, scale: scale, alpha: alpha)
            let record = records + 16 &* index
            storeFourFloats(own, record)
            storeFourFloats(alpha > 0 ? own * own[0] / alpha : FourFloats(), record + 4)
            storeFourFloats(FourFloats(alpha, 0, 0, 0), record + 8)
            storeFourFloats(FourFloats(), record + 12)
            index &+= 1
        }
    } else {
        while index < count {
            let own = values(planes + index, planeStride, isColor: isColor, scale: scale, alpha: 1)
            storeFourFloats(own, records + 8 &* index)
            storeFourFloats(own * own[0], records + (8 &* index &+ 4))
            index &+= 1
        }
    }
}

/// Writes the means of windows along a row of sums of columns. See `FloatBox` for blocks, prefix sums and suffix sums.
///
/// - Parameters:
///   - heads: the prefix sums of the columns, a record for each.
///   - tails: their suffix sums; nil if the windows are whole blocks.
///   - weight: 1 over the window's length, by which the sums along each axis are multiplied.
///   - phase: the place of the first column in its block.
///   - count: the number of columns.
///   - line, sums: room for as many records.
///   - out: receives count − length + 1 records.
@inline(never) public func slideRecords(
    heads: UnsafePointer<Float>, tails: UnsafePointer<Float>?, hasAlpha: Bool, weight: Float, phase: Int, length: Int,
    count: Int, line: UnsafeMutablePointer<Float>, sums: UnsafeMutablePointer<Float>, out: UnsafeMutablePointer<Float>
) {
    if hasAlpha {
        slide(SIMD16<Float>.self, heads, tails, weight, phase, length, count, line, sums, out)
    } else {
        slide(SIMD8<Float>.self, heads, tails, weight, phase, length, count, line, sums, out)
    }
}

@inline(__always) private func slide<Values: Record>(
    _: Values.Type, _ heads: UnsafePointer<Float>, _ tails: UnsafePointer<Float>?, _ weight: Float, _ phase: Int,
    _ length: Int, _ count: Int, _ line: UnsafeMutablePointer<Float>, _ sums: UnsafeMutablePointer<Float>,
    _ out: UnsafeMutablePointer<Float>
) {
    let size = Values.count
    /// The mean of a column.
    @inline(__always) func column(_ index: Int) -> Values {
        let head = Values.load(heads + index &* size)
        guard let tails else { return head.scaled(by: weight) }
        return head.adding(Values.load(tails + index &* size)).scaled(by: weight)
    }
    var (start, end) = (0, min(count, length &- phase))
    while start < count {
        // The prefix sums of a block.
        var sum = column(start)
        sum.store(line + start &* size)
        sum.store(sums + start &* size)
        var index = start &+ 1
        while index < end {
            let value = column(index)
            value.store(line + index &* size)
            sum = sum.adding(value)
            sum.store(sums + index &* size)
            index &+= 1
        }
        // Its suffix sums, in place of its values.
        index = end &- 2
        sum = Values.load(line + (end &- 1) &* size)
        while index >= start {
            sum = Values.load(line + index &* size).adding(sum)
            sum.store(line + index &* size)
            index &-= 1
        }
        (start, end) = (end, min(count, end &+ length))
    }
    // A window is the end of one block and the start of the next, or a whole block.
    var whole = phase == 0 ? 0 : length &- phase
    var index = 0
    while index &+ length <= count {
        let end = min(whole, count &- length &+ 1)
        while index < end {
            let head = Values.load(sums + (index &+ length &- 1) &* size)
            head.adding(Values.load(line + index &* size)).scaled(by: weight).store(out + index &* size)
            index &+= 1
        }
        guard index &+ length <= count else { break }
        Values.load(sums + (index &+ length &- 1) &* size).scaled(by: weight).store(out + index &* size)
        index &+= 1
        whole &+= length
    }
}

/// Replaces the means of records by a and b of each window: p ≈ a·luma + b. With alpha both are multiplied by the window's mean
/// alpha, which stays.
@inline(never) public func fitLines(
    _ records: UnsafeMutablePointer<Float>, hasAlpha: Bool, epsilon: Float, count: Int
) {
    let size = hasAlpha ? 16 : 8
    var index = 0
    while index < count {
        let record = records + index &* size
        let weight = hasAlpha ? record[8] : 1
        var (means, products) = (loadFourFloats(record), loadFourFloats(record + 4))
        if hasAlpha {
            means /= weight
            products /= weight
        }
        let luma = means[0]
        let covariances = products - means * luma
        var slopes = covariances / (max(covariances[0], 0) + epsilon)
        var offsets = means - slopes * luma
        if hasAlpha {
            // A window without alpha has no values.
            slopes = weight > 0 ? slopes * weight : FourFloats()
            offsets = weight > 0 ? offsets * weight : FourFloats()
        }
        storeFourFloats(slopes, record)
        storeFourFloats(offsets, record + 4)
        index &+= 1
    }
}

/// Replaces colours by a·luma + b. Alpha stays.
///
/// - Parameters:
///   - records: the means of a and b, and of alpha; one record for each pixel.
///   - planes: see ``writeMoments(planes:planeStride:colors:hasAlpha:scale:count:records:)``.
///   - full: full intensity.
@inline(never) public func applyLines(
    _ records: UnsafePointer<Float>, planes: UnsafeMutablePointer<Float>, planeStride: Int, colors: Int, hasAlpha: Bool,
    scale: Float, full: Float, count: Int
) {
    let (isColor, size) = (colors == 3, hasAlpha ? 16 : 8)
    var index = 0
    while index < count {
        let record = records + index &* size
        let alpha = hasAlpha ? planes[colors &* planeStride &+ index] * scale : 1
        let luma = values(planes + index, planeStride, isColor: isColor, scale: scale, alpha: alpha)[0]
        var result = loadFourFloats(record) * luma + loadFourFloats(record + 4) * alpha
        if hasAlpha { result = record[8] > 0 ? result / record[8] + 0.5 * alpha : FourFloats() } else { result += 0.5 }
        result *= full
        planes[index] = result[1]
        if isColor {
            planes[planeStride &+ index] = result[2]
            planes[2 &* planeStride &+ index] = result[3]
        }
        index &+= 1
    }
}
