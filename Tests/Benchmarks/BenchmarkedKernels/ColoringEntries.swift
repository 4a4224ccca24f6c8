import Catalogs
import Geometry
import Kernels
import Raster

// Filters of colour, a lens blur and a blend mode, for the race; see Entries.swift. The last parameter is the CPU level: 2, 3 or 4, or 0
// for the best.

private func render(_ function: Recoloring.Function, _ handle: UnsafeMutableRawPointer, _ cpu: Int32) {
    let picture = picture(handle)
    Recoloring(function).running(on: level(cpu)).render(picture.source, within: nil, into: &picture.result)
}

/// - Parameters:
///   - black, white: shares of full intensity.
@_cdecl("penumbra_levels")
public func levels(
    _ handle: UnsafeMutableRawPointer, _ black: Double, _ white: Double, _ gamma: Double, _ cpu: Int32
) {
    render(.channels(Levels(black: black, white: white, gamma: gamma, darkest: 0, brightest: 1)), handle, cpu)
}

/// - Parameters:
///   - red, green, blue: the colour that becomes gray, as shares of full intensity.
@_cdecl("penumbra_white_balance")
public func whiteBalance(
    _ handle: UnsafeMutableRawPointer, _ red: Double, _ green: Double, _ blue: Double, _ cpu: Int32
) {
    render(.channels(NeutralBalance(neutral: [red, green, blue])), handle, cpu)
}

@_cdecl("penumbra_hue")
public func hue(_ handle: UnsafeMutableRawPointer, _ degrees: Double, _ cpu: Int32) {
    render(.colors(HueRotation(degrees: degrees)), handle, cpu)
}

/// The curve of Hable.
///
/// - Parameters:
///   - peak, target: light in cd/m².
@_cdecl("penumbra_tone_map")
public func toneMap(_ handle: UnsafeMutableRawPointer, _ peak: Double, _ target: Double, _ cpu: Int32) {
    render(.light(ToneMapping(.hable, exposure: 0, peak: peak, target: target)), handle, cpu)
}

/// - Parameters:
///   - shadows, highlights: −1 to 1.
@_cdecl("penumbra_shadows_highlights")
public func shadowsAndHighlights(
    _ handle: UnsafeMutableRawPointer, _ shadows: Double, _ highlights: Double, _ radius: Double, _ cpu: Int32
) {
    let picture = picture(handle)
    LocalTones(.brightness(shadows: shadows, highlights: highlights), radius: radius).running(on: level(cpu))
        .render(picture.source, light: .encoded, within: nil, into: &picture.result)
}

@_cdecl("penumbra_clarity")
public func clarity(_ handle: UnsafeMutableRawPointer, _ amount: Double, _ radius: Double, _ cpu: Int32) {
    let picture = picture(handle)
    LocalTones(.contrast(amount), radius: radius).running(on: level(cpu))
        .render(picture.source, light: .encoded, within: nil, into: &picture.result)
}

/// A round aperture in linear light.
@_cdecl("penumbra_lens_blur")
public func lensBlur(_ handle: UnsafeMutableRawPointer, _ radius: Double, _ cpu: Int32) {
    let picture = picture(handle)
    LensBlur(radius: radius, aperture: .disc).running(on: level(cpu))
        .render(picture.source, depth: nil, light: .linear, into: &picture.result)
}

/// Multiplies by a picture of the same size with bytes of red, green, blue and alpha. There is only one CPU level.
@_cdecl("penumbra_multiply")
public func multiply(
    _ handle: UnsafeMutableRawPointer, _ front: UnsafePointer<UInt8>, _ opacity: Double, _ cpu: Int32
) {
    let picture = picture(handle)
    let rect = picture.result.rect
    let samples = Array(UnsafeBufferPointer(start: front, count: rect.area * 4))
    let above = Overlay.Front(
        .u8(Raster(rect: rect, layout: .rgba, samples: samples)), x: 0, y: 0, opacity: opacity, mode: .multiply)
    Overlay([above]).running(on: level(cpu)).render(picture.source, into: &picture.result)
}
