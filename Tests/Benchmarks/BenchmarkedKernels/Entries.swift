import Catalogs
import Geometry
import JobModel
import Kernels
import Raster

// What the race (Tests/Benchmarks/race.py) calls, in its own process: pictures live here, so that what is timed is the
// kernel alone, from memory to memory.

/// A picture, and room for its blurred copy.
final class Picture {
    let source: KernelSource
    var result: AnyRaster

    init(_ source: KernelSource, _ rect: PixelRect) {
        self.source = source
        result = AnyRaster(zeroed: rect, layout: source.raster.layout, format: source.raster.format)
    }
}

private func layout(_ channels: Int32) -> PixelLayout {
    switch channels {
    case 1: .gray
    case 2: .grayAlpha
    case 3: .rgb
    default: .rgba
    }
}

private func format(_ bytesPerSample: Int32) -> SampleFormat {
    switch bytesPerSample {
    case 1: .u8
    case 2: .u16
    default: .f32
    }
}

private func edge(_ number: Int32) -> @Sendable (Int, Int) -> Int32 {
    { x, count in
        switch number {
        case 1:  // mirror
            let place = ((x % (2 * count)) + 2 * count) % (2 * count)
            return Int32(place < count ? place : 2 * count - 1 - place)
        case 2: return Int32(((x % count) + count) % count)
        default: return Int32(min(max(x, 0), count - 1))
        }
    }
}

/// Copies a picture and answers a handle of it.
///
/// - Parameter edgeNumber: 0 clamp, 1 mirror, 2 wrap.
@_cdecl("penumbra_picture")
public func makePicture(
    _ bytes: UnsafeRawPointer, _ width: Int32, _ height: Int32, _ channels: Int32, _ bytesPerSample: Int32,
    _ edgeNumber: Int32
) -> UnsafeMutableRawPointer {
    let rect = PixelRect(x: 0, y: 0, width: Int(width), height: Int(height))
    let count = rect.area * Int(channels) * Int(bytesPerSample)
    let raster = AnyRaster(
        bytes: RawSpan(_unsafeStart: bytes, byteCount: count), rect: rect, layout: layout(channels),
        format: format(bytesPerSample))
    let seen = edge(edgeNumber)
    func table(_ count: Int) -> AxisTable {
        let range = -9000..<count + 9000
        return AxisTable(range: range, positions: range.map { seen($0, count) })
    }
    let source = KernelSource(raster: raster, columns: table(rect.width), rows: table(rect.height))
    return Unmanaged.passRetained(Picture(source, rect)).toOpaque()
}

func picture(_ handle: UnsafeMutableRawPointer) -> Picture {
    Unmanaged<Picture>.fromOpaque(handle).takeUnretainedValue()
}

func level(_ number: Int32) -> CPULevel {
    CPULevel(rawValue: "v\(number)") ?? .current
}

/// - Parameter cpu: 2, 3 or 4 for a level; 0 for the best.
@_cdecl("penumbra_gaussian")
public func gaussian(_ handle: UnsafeMutableRawPointer, _ sigmaX: Double, _ sigmaY: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Gaussian(sigmaX: sigmaX, sigmaY: sigmaY).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

/// - Parameter samples: 0 for continuous.
@_cdecl("penumbra_motion")
public func motion(
    _ handle: UnsafeMutableRawPointer, _ radius: Double, _ degrees: Double, _ samples: Int32, _ cpu: Int32
) {
    let picture = picture(handle)
    let velocity = MotionTaps.Velocity(radius: radius, degrees: degrees)
    Motion(velocity, samples == 0 ? .continuous : .samples(Int(samples))).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

/// Copies the blurred picture out.
@_cdecl("penumbra_result")
public func result(_ handle: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer) {
    picture(handle).result.withBytes { bytes in
        bytes.withUnsafeBytes { from in
            UnsafeMutableRawBufferPointer(start: target, count: from.count).copyMemory(from: from)
        }
    }
}

@_cdecl("penumbra_free")
public func free(_ handle: UnsafeMutableRawPointer) {
    Unmanaged<Picture>.fromOpaque(handle).release()
}
