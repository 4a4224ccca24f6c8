import Kernels

/// - Parameter range: a share of full intensity.
@_cdecl("penumbra_bilateral")
public func bilateral(_ handle: UnsafeMutableRawPointer, _ radius: Double, _ range: Double, _ cpu: Int32) {
    let picture = picture(handle)
    Bilateral(radius: radius, range: range).running(on: level(cpu))
        .render(picture.source, light: .encoded, into: &picture.result)
}
