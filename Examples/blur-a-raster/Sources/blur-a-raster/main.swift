import Catalogs
import Geometry
import Kernels
import Raster

// A white square on black, blurred in memory: 8 bits, 16 bits, floating point.
let rect = PixelRect(x: 0, y: 0, width: 640, height: 480)
var raster = Raster<UInt8>(rect: rect, layout: .gray, repeating: 0)
for y in 200..<280 {
    for x in 280..<360 { raster.samples[raster.index(x: x, y: y)] = 255 }
}
let sharp = raster

Gaussian(radius: 12).apply(to: &raster)
print(
    "gaussian: centre \(raster.samples[raster.index(x: 320, y: 240)]), edge \(raster.samples[raster.index(x: 280, y: 240)])"
)

var moved = sharp
Motion(MotionTaps.Velocity(radius: 40, degrees: 0), .continuous).apply(to: &moved)
print(
    "motion: centre \(moved.samples[moved.index(x: 320, y: 240)]), edge \(moved.samples[moved.index(x: 280, y: 240)])")

print("computed with \(CPULevel.current.rawValue) of \(CPULevel.supported.map(\.rawValue).joined(separator: ", "))")
