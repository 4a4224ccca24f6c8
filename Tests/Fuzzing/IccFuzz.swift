import Catalogs
@testable import ImageFiles
import Kernels

/// Reads an ICC profile.
@c(LLVMFuzzerTestOneInput)
public func fuzzICC(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    guard let profile = ICCProfile(bytes) else { return 0 }
    // A profile of a large range is an ordinary result.
    try? profile.checkRange()
    _ = (profile.fits(.rgb), profile.fits(.gray), profile.matrix?.matrix(hasAlpha: true, full: 65_535))
    _ = TransferCurve(profile: bytes)
    if let output = try? OutputProfile(bytes) { _ = (output.layout, output.light?.conversion(to: .sRGB)) }
    for curve in profile.toneCurves ?? [] {
        for value in [0, 0.25, 1] { _ = curve.light(of: value) }
    }
    return 0
}
