import Arithmetic
import Catalogs
import Geometry
package import Raster

/// A page with lines of something like text, as a scanner may have seen it.
package enum TextPage {
    private static let lineHeight = 14.0
    private static let letterWidth = 6.0

    /// - Parameters:
    ///   - degrees: the angle by which the page is turned about its middle, counter-clockwise.
    ///   - noise: the largest error of a pixel, of 255.
    ///   - isFramed: whether the dark background shows around the paper.
    package static func picture(
        width: Int, height: Int, degrees: Double, noise: Double = 0, isFramed: Bool = false
    ) -> Raster<UInt8> {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        var random = SplitMix64(seed: 5)
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width {
                var ink = 0.0
                for (i, j) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
                    let (u, v) = (Double(x) + i - Double(width) / 2, Double(y) + j - Double(height) / 2)
                    let place = (x: cos * u - sin * v + Double(width) / 2, y: sin * u + cos * v + Double(height) / 2)
                    if isInk(place.x, place.y, Double(width), Double(height), isFramed) { ink += 0.25 }
                }
                let error = (Double(random.next() >> 40) / Double(1 << 23) - 1) * noise
                samples.append(UInt8(rounding: 245 - 215 * ink + error))
            }
        }
        return Raster(rect: PixelRect(x: 0, y: 0, width: width, height: height), layout: .gray, samples: samples)
    }

    private static func isInk(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ isFramed: Bool) -> Bool {
        let (left, top) = (min(x, width - x) / width, min(y, height - y) / height)
        if isFramed, min(left, top) < 0.06 { return true }
        guard left > 0.1, top > 0.08 else { return false }
        let (line, letter) = ((y / lineHeight).rounded(.down), (x / letterWidth).rounded(.down))
        guard x < width * (0.6 + 0.3 * chance(line, -5)) else { return false }
        let kind = chance(line, letter)
        guard kind > 0.16 else { return false }  // a space
        let (inX, inY) = (x - letter * letterWidth, y - line * lineHeight)
        let (above, below) = (kind < 0.4 ? 2.0 : 4.0, kind > 0.9 ? 12.0 : 9.5)
        guard (above...below).contains(inY), inX < 4.7 else { return false }
        return inX < 1.6 || (kind < 0.6 ? inY < above + 1.5 : inX > 3.2 || abs(inY - (above + below) / 2) < 0.8)
    }

    /// A number from 0 to 1 that belongs to a letter of a line.
    private static func chance(_ line: Double, _ letter: Double) -> Double {
        var random = SplitMix64(seed: UInt64(bitPattern: Int64(line) &* 7919 &+ Int64(letter) &* 104_729))
        return Double(random.next() >> 11) / Double(1 << 53)
    }
}
