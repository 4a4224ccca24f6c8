import Kernels
import Raster

/// - Parameters:
///   - amount: 0.2 for 20 %.
///   - x, y: the centre, in coordinates of pixel centres.
@_cdecl("penumbra_zoom")
public func zoom(_ handle: UnsafeMutableRawPointer, _ amount: Double, _ x: Double, _ y: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Zoom(amount: amount, center: SweepCenter(x: x, y: y), extent: picture.result.rect).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}

@_cdecl("penumbra_spin")
public func spin(_ handle: UnsafeMutableRawPointer, _ degrees: Double, _ x: Double, _ y: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Spin(degrees: degrees, center: SweepCenter(x: x, y: y)).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}
