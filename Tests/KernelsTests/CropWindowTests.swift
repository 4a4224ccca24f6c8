import Arithmetic
import Catalogs
import Foundation
import Geometry
import Kernels
import Raster
import Testing

/// What part of a picture a thumbnail keeps.
struct CropWindowTests {
    /// Gray but for a square with stripes, in colour or not.
    private func picture(_ width: Int, _ height: Int, squareAt x: Int, _ y: Int) -> Raster<UInt8> {
        var samples = [UInt8](repeating: 128, count: width * height * 3)
        for row in y..<y + 10 {
            for column in x..<x + 10 {
                for channel in 0..<3 {
                    samples[(row * width + column) * 3 + channel] = UInt8(((row + column) % 8) * 32)
                }
            }
        }
        return Raster(rect: PixelRect(x: 0, y: 0, width: width, height: height), layout: .rgb, samples: samples)
    }

    @Test(arguments: [CropChoice.attention, .entropy])
    func `the window holds what there is to see`(choice: CropChoice) {
        for x in [0, 13, 50, 86] {
            let start = CropWindow(picture(96, 20, squareAt: x, 5)).column(count: 20, choice)
            #expect(start <= x && x + 10 <= start + 20, "\(x): \(start)")
            let top = CropWindow(picture(20, 96, squareAt: 5, x)).row(count: 20, choice)
            #expect(top <= x && x + 10 <= top + 20)
        }
    }

    @Test(arguments: CropChoice.allCases)
    func `an even picture is cut in its middle`(choice: CropChoice) {
        let even = Raster<UInt8>(
            rect: PixelRect(x: 0, y: 0, width: 90, height: 30), layout: .rgb,
            samples: Array(repeating: 77, count: 90 * 30 * 3))
        #expect(CropWindow(even).column(count: 30, choice) == 30)
        #expect(CropWindow(even).row(count: 30, choice) == 0)
    }

    @Test func `what is transparent draws no eye`() {
        var samples = [UInt8](repeating: 0, count: 90 * 30 * 4)
        for pixel in 0..<90 * 30 where pixel % 90 < 20 {
            for channel in 0..<3 { samples[pixel * 4 + channel] = UInt8(pixel % 2 * 255) }
        }
        let hidden = Raster<UInt8>(
            rect: PixelRect(x: 0, y: 0, width: 90, height: 30), layout: .rgba, samples: samples)
        #expect(CropWindow(hidden).column(count: 30, .attention) == 30)
        #expect(CropWindow(hidden).column(count: 30, .entropy) == 30)
    }

    @Test func `logarithms are within the last bits of the truth`() {
        for x in [1, 2, 3, 0.5, 1.4142135623730951, 1.41421356237309515, 10, 12345.678, 1e-300, 1e300] {
            let truth = Foundation.log2(x)
            #expect(abs(DeterministicMath.log2(x) - truth) <= 1e-15 * max(1, abs(truth)))
        }
        #expect(DeterministicMath.log2(1) == 0 && DeterministicMath.log2(8) == 3)
    }
}
