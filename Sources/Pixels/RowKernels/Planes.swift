// Conversions between interleaved samples and planes of single precision, one plane for each channel. Every formula is that of
// PixelReader and PixelWriter, with the same precision, so that both give the same bits.

/// The samples from which a plane is read.
private protocol PlaneSample: BitwiseCopyable {
    static func double(_ sample: Self) -> Double
}

extension UInt8: PlaneSample {
    @inline(__always) fileprivate static func double(_ sample: UInt8) -> Double { Double(sample) }
}

extension UInt16: PlaneSample {
    @inline(__always) fileprivate static func double(_ sample: UInt16) -> Double { Double(sample) }
}

extension Float: PlaneSample {
    @inline(__always) fileprivate static func double(_ sample: Float) -> Double { Double(sample) }
}

/// plane[i] = source[i·channels]. With an alpha, which is that many values after it, it is multiplied by alpha over `full`.
@inline(__always) private func load<Sample: PlaneSample>(
    _ source: UnsafePointer<Sample>, _ channels: Int, _ alpha: Int?, _ full: Double, _ count: Int,
    _ plane: UnsafeMutablePointer<Float>
) {
    var index = 0
    if let alpha {
        while index < count {
            let sample = source + index &* channels
            plane[index] = Float(Sample.double(sample[0]) * Sample.double(sample[alpha]) / full)
            index &+= 1
        }
    } else {
        while index < count {
            plane[index] = Float(Sample.double(source[index &* channels]))
            index &+= 1
        }
    }
}

@inline(never) public func loadBytePlane(
    _ source: UnsafePointer<UInt8>, channels: Int, alpha: Int?, count: Int, plane: UnsafeMutablePointer<Float>
) {
    load(source, channels, alpha, 255, count, plane)
}

@inline(never) public func loadWordPlane(
    _ source: UnsafePointer<UInt16>, channels: Int, alpha: Int?, count: Int, plane: UnsafeMutablePointer<Float>
) {
    load(source, channels, alpha, 65535, count, plane)
}

@inline(never) public func loadFloatPlane(
    _ source: UnsafePointer<Float>, channels: Int, alpha: Int?, count: Int, plane: UnsafeMutablePointer<Float>
) {
    load(source, channels, alpha, 1, count, plane)
}

/// plane[i] = table[source[i·channels]].
@inline(__always) private func lookUp<Sample: FixedWidthInteger>(
    _ source: UnsafePointer<Sample>, _ channels: Int, _ table: UnsafePointer<Double>, _ count: Int,
    _ plane: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        plane[index] = Float(table[Int(truncatingIfNeeded: source[index &* channels])])
        index &+= 1
    }
}

@inline(never) public func lookUpBytePlane(
    _ source: UnsafePointer<UInt8>, channels: Int, table: UnsafePointer<Double>, count: Int,
    plane: UnsafeMutablePointer<Float>
) {
    lookUp(source, channels, table, count, plane)
}

@inline(never) public func lookUpWordPlane(
    _ source: UnsafePointer<UInt16>, channels: Int, table: UnsafePointer<Double>, count: Int,
    plane: UnsafeMutablePointer<Float>
) {
    lookUp(source, channels, table, count, plane)
}

/// The value rounded half up and clamped; 0 for NaN.
@inline(__always) private func rounded(_ value: Double, _ full: Double) -> Int32 {
    let raised = value + 0.5
    return Int32(raised >= full ? full : raised >= 1 ? raised : 0)
}

/// out[i·channels] = sample(plane[i] · full / alpha[i]), or sample(plane[i]) without an alpha. Where alpha is 0, it is
/// sample(0).
///
/// - Parameter alpha: alpha rounded as it is stored, or a value above full.
@inline(__always) private func store<Sample: BitwiseCopyable>(
    _ plane: UnsafePointer<Float>, _ alpha: UnsafePointer<Float>?, _ full: Double, _ channels: Int, _ count: Int,
    _ out: UnsafeMutablePointer<Sample>, sample: (Double) -> Sample
) {
    var index = 0
    if let alpha {
        while index < count {
            let value = alpha[index] == 0 ? 0 : Double(plane[index]) * full / Double(alpha[index])
            out[index &* channels] = sample(value)
            index &+= 1
        }
    } else {
        while index < count {
            out[index &* channels] = sample(Double(plane[index]))
            index &+= 1
        }
    }
}

@inline(never) public func storeBytePlane(
    _ plane: UnsafePointer<Float>, alpha: UnsafePointer<Float>?, channels: Int, count: Int,
    out: UnsafeMutablePointer<UInt8>
) {
    store(plane, alpha, 255, channels, count, out) { UInt8(truncatingIfNeeded: rounded($0, 255)) }
}

@inline(never) public func storeWordPlane(
    _ plane: UnsafePointer<Float>, alpha: UnsafePointer<Float>?, channels: Int, count: Int,
    out: UnsafeMutablePointer<UInt16>
) {
    store(plane, alpha, 65535, channels, count, out) { UInt16(truncatingIfNeeded: rounded($0, 65535)) }
}

/// Floats are not clamped. Every NaN becomes the same NaN.
@inline(never) public func storeFloatPlane(
    _ plane: UnsafePointer<Float>, alpha: UnsafePointer<Float>?, channels: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    store(plane, alpha, 1, channels, count, out) { $0.isNaN ? Float.nan : Float($0) }
}

/// Rounds an alpha plane in place, as it will be stored. Values above `full` stay, so that colours are divided by them; they
/// are clamped when they are stored.
@inline(never) public func roundPlane(_ plane: UnsafeMutablePointer<Float>, full: Float, count: Int) {
    var index = 0
    while index < count {
        let value = plane[index]
        plane[index] = value > full ? value : Float(rounded(Double(value), Double(full)))
        index &+= 1
    }
}

/// out[i·channels] = table[plane[i] · 257 rounded to 16 bits].
@inline(never) public func lookUpBytes(
    _ plane: UnsafePointer<Float>, table: UnsafePointer<UInt8>, channels: Int, count: Int,
    out: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    while index < count {
        out[index &* channels] = table[Int(rounded(Double(plane[index]) * 257, 65535))]
        index &+= 1
    }
}
