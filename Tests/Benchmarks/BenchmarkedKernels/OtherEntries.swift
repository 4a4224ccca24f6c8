import Geometry
import Kernels
import Raster

// Rotations, tables of colours, and filters against noise, for the race; see Entries.swift.

/// Turns a picture about its centre, in a picture of the same size whose border is repeated.
///
/// - Parameters:
///   - isLanczos: the kernel of Lanczos, and not that of Catmull-Rom.
///   - cpu: 2, 3 or 4 for a level; 0 for the best.
@_cdecl("penumbra_rotate")
public func rotate(_ handle: UnsafeMutableRawPointer, _ degrees: Double, _ isLanczos: Int32, _ cpu: Int32) {
    let picture = picture(handle)
    let center = picture.result.rect.center
    Warp(Projection(degrees: degrees, center: center, pivot: center), isLanczos == 0 ? .catmullRom : .lanczos3)
        .running(on: level(cpu)).render(picture.source, into: &picture.result)
}

/// Draws a trapezoid as the whole picture: its upper side is shorter by a share at each end.
@_cdecl("penumbra_perspective")
public func perspective(_ handle: UnsafeMutableRawPointer, _ share: Double, _ cpu: Int32) {
    let picture = picture(handle)
    let (width, height) = (Double(picture.result.rect.width), Double(picture.result.rect.height))
    let corners = [(share * width, 0), ((1 - share) * width, 0), (width, height), (0, height)]
    guard let projection = Projection(rectangle: width, height, to: corners.map { (x: $0.0, y: $0.1) }) else { return }
    Warp(projection, .catmullRom).running(on: level(cpu)).render(picture.source, into: &picture.result)
}

/// A table of colours with three numbers for each point, red fastest.
@_cdecl("penumbra_lut")
public func lut(_ handle: UnsafeMutableRawPointer, _ table: UnsafePointer<Float>, _ size: Int32, _ cpu: Int32) {
    let picture = picture(handle)
    let points = (0..<Int(size * size * size)).map { SIMD3(table[3 * $0], table[3 * $0 + 1], table[3 * $0 + 2]) }
    let cube = ColorCube(
        .colors, size: Int(size), points: points, minimum: SIMD3(repeating: 0), maximum: SIMD3(repeating: 1))
    Recoloring(cube.function).running(on: level(cpu)).render(picture.source, within: nil, into: &picture.result)
}

/// - Parameter strength: a share of full intensity.
@_cdecl("penumbra_guided")
public func guided(_ handle: UnsafeMutableRawPointer, _ radius: Int32, _ strength: Double, _ cpu: Int32) {
    let picture = picture(handle)
    GuidedSmoothing(radius: Int(radius), strength: strength).running(on: level(cpu))
        .render(picture.source, light: .encoded, within: nil, into: &picture.result)
}

/// - Parameter strength: a share of full intensity.
@_cdecl("penumbra_non_local_means")
public func nonLocalMeans(
    _ handle: UnsafeMutableRawPointer, _ strength: Double, _ patch: Int32, _ search: Int32, _ cpu: Int32
) {
    let picture = picture(handle)
    NonLocalMeans(strength: strength, patch: Int(patch), search: Int(search)).running(on: level(cpu))
        .render(picture.source, light: .encoded, within: nil, into: &picture.result)
}
