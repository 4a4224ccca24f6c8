import Kernels

// The rest of the blur family, for the race; see Entries.swift.

/// - Parameter cpu: 2, 3 or 4 for a level; 0 for the best.
@_cdecl("penumbra_box")
public func box(_ handle: UnsafeMutableRawPointer, _ radiusX: Double, _ radiusY: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Box(radiusX: radiusX, radiusY: radiusY).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

@_cdecl("penumbra_median")
public func median(_ handle: UnsafeMutableRawPointer, _ radius: Int32, _ cpu: Int32) {
    let picture = picture(handle)
    Median(radius: Int(radius)).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

@_cdecl("penumbra_sharpen")
public func sharpen(
    _ handle: UnsafeMutableRawPointer, _ sigma: Double, _ amount: Double, _ threshold: Double, _ cpu: Int32
) {
    let picture = picture(handle)
    Sharpening(sigma: sigma, amount: amount, threshold: threshold).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

@_cdecl("penumbra_disc")
public func disc(_ handle: UnsafeMutableRawPointer, _ radius: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Disc(radius: radius).running(on: level(cpu)).render(picture.source, light: .encoded, into: &picture.result)
}
