import Catalogs
import Geometry
import Kernels
import Raster

/// - Parameters:
///   - mask: how strongly each pixel is blurred, of the picture's size.
///   - cpu: 2, 3 or 4 for a level; 0 for the best.
@_cdecl("penumbra_variable")
public func variable(
    _ handle: UnsafeMutableRawPointer, _ radius: Double, _ mask: UnsafePointer<UInt8>, _ cpu: Int32
) {
    let picture = picture(handle)
    let rect = picture.result.rect
    var strengths = GrayPicture(width: rect.width, height: rect.height)
    strengths.paste(
        .u8(
            Raster(
                rect: rect, layout: .gray, samples: Array(UnsafeBufferPointer(start: mask, count: rect.area)))))
    Variable(radius: radius, map: .picture(strengths)).running(on: level(cpu))
        .render(
            picture.source, extent: rect, places: StrengthPlaces(clamping: rect, of: picture.source), light: .encoded,
            into: &picture.result)
}
