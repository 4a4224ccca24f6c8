import Catalogs
import Geometry
package import Raster

/// Pictures as the planes of a video: luma at each pixel, and two chroma planes of half the width and height (4:2:0).
///
/// The colours are those of ITU-R BT.709 in the narrow range: black is 16, white is 235. A chroma sample lies between two rows,
/// and on the left one of two columns, as players of H.264 and VP9 expect. It is the mean of both rows, with the weights 1, 2, 1 of
/// the columns around it. Outside of the picture, its edge is repeated.
package enum VideoPlanes {
    /// Factors of red, green and blue, times 2²⁰. Gray has no chroma, and white is 235.
    private enum Factor {
        static let one = 1 << 20
        /// 219/255 of 0.2126, 0.7152 and 0.0722.
        static let luma = (191_455, 644_067, 65_019)
        /// 224/255 of (B − Y) / 1.8556.
        static let blue = (-105_533, -355_018, 460_551)
        /// 224/255 of (R − Y) / 1.5748.
        static let red = (460_551, -418_321, -42_230)
    }

    /// The number of bytes of a frame.
    package static func byteCount(width: Int, height: Int) -> Int {
        width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
    }

    /// The planes of a picture, one behind the other, without padding.
    ///
    /// - Parameters:
    ///   - picture: RGB.
    ///   - width, height: at least those of the picture. Its last column and row are repeated.
    package static func bytes(of picture: Raster<UInt8>, width: Int, height: Int) -> [UInt8] {
        precondition(picture.layout == .rgb && width >= picture.rect.width && height >= picture.rect.height, "it fits")
        var bytes = [UInt8](repeating: 0, count: byteCount(width: width, height: height))
        let samples = picture.samples.span
        let (lastColumn, lastRow) = (picture.rect.width - 1, picture.rect.height - 1)
        let length = 3 * picture.rect.width
        var planes = bytes.mutableSpan
        var next = 0
        for y in 0..<height {
            let row = min(y, lastRow) * length
            for x in 0..<width {
                let pixel = row + 3 * min(x, lastColumn)
                planes[next] = level(
                    Int(samples[pixel]), Int(samples[pixel + 1]), Int(samples[pixel + 2]), Factor.luma, parts: 1,
                    zero: 16)
                next += 1
            }
        }
        let blue = next
        let red = next + ((width + 1) / 2) * ((height + 1) / 2)
        var place = 0
        for y in stride(from: 0, to: height, by: 2) {
            let rows = (min(y, lastRow) * length, min(y + 1, lastRow) * length)
            for x in stride(from: 0, to: width, by: 2) {
                let columns = (3 * min(max(x - 1, 0), lastColumn), 3 * min(x, lastColumn), 3 * min(x + 1, lastColumn))
                func sum(_ channel: Int) -> Int {
                    func row(_ start: Int) -> Int {
                        Int(samples[start + columns.0 + channel]) + 2 * Int(samples[start + columns.1 + channel])
                            + Int(samples[start + columns.2 + channel])
                    }
                    return row(rows.0) + row(rows.1)
                }
                let color = (sum(0), sum(1), sum(2))
                planes[blue + place] = level(color.0, color.1, color.2, Factor.blue, parts: 8, zero: 128)
                planes[red + place] = level(color.0, color.1, color.2, Factor.red, parts: 8, zero: 128)
                place += 1
            }
        }
        return bytes
    }

    /// Rounds halves up.
    ///
    /// - Parameter parts: the colours are sums of so many samples.
    private static func level(
        _ red: Int, _ green: Int, _ blue: Int, _ factors: (Int, Int, Int), parts: Int, zero: Int
    ) -> UInt8 {
        let scale = Factor.one * parts
        let sum = red * factors.0 + green * factors.1 + blue * factors.2 + zero * scale + scale / 2
        return UInt8(clamping: sum / scale)
    }
}
