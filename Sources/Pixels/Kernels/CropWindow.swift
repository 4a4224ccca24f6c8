import Arithmetic
import Catalogs
import Geometry
package import Raster

/// The choice of the part of a picture that remains when one side is cropped.
package enum CropChoice: String, Hashable, Sendable, CaseIterable {
    case centre
    /// The part with the most salient content: edges, strong colours, skin.
    case attention
    /// The part with the highest entropy.
    case entropy
}

/// Chooses the best window of a small picture.
///
/// It uses integers, and + − × ÷ in a fixed order, so that the choice is the same on every CPU. Among equally good windows it
/// chooses the one nearest the middle. A uniform picture is therefore cropped as by ``CropChoice/centre``.
package struct CropWindow {
    private let width: Int
    private let height: Int
    private let pixels: [Pixel]

    private struct Pixel {
        let red: Int
        let green: Int
        let blue: Int
        /// 0–255.
        let alpha: Int

        /// The luma (Rec. 709), 0–255.
        var luma: Int { (red * 2126 + green * 7152 + blue * 722) / 10000 }
    }

    /// - Parameter picture: a small version of the picture; a few thousand pixels are enough.
    package init(_ picture: Raster<UInt8>) {
        width = picture.rect.width
        height = picture.rect.height
        let (channels, layout) = (picture.layout.channels, picture.layout)
        pixels = stride(from: 0, to: picture.samples.count, by: channels).map { index in
            let isGray = layout.removingAlpha == .gray
            return Pixel(
                red: Int(picture.samples[index]), green: Int(picture.samples[index + (isGray ? 0 : 1)]),
                blue: Int(picture.samples[index + (isGray ? 0 : 2)]),
                alpha: layout.hasAlpha ? Int(picture.samples[index + channels - 1]) : 255)
        }
    }

    /// The first column of the best window of `count` columns. The window is as high as the picture.
    package func column(count: Int, _ choice: CropChoice) -> Int {
        best(of: width, count, choice) { column in (0..<height).map { $0 * width + column } }
    }

    /// The first row of the best window of `count` rows. The window is as wide as the picture.
    package func row(count: Int, _ choice: CropChoice) -> Int {
        best(of: height, count, choice) { row in (0..<width).map { row * width + $0 } }
    }

    /// - Parameter line: the pixel indexes of a column or row.
    private func best(of length: Int, _ count: Int, _ choice: CropChoice, line: (Int) -> [Int]) -> Int {
        let starts = 0...max(0, length - count)
        let middle = starts.upperBound / 2
        let lines = (0..<length).map(line)
        let scores: [Double]
        switch choice {
        case .centre: return middle
        case .attention:
            let values = lines.map { Double($0.reduce(0) { $0 + attention(at: $1) }) }
            scores = starts.map { values[$0..<min(length, $0 + count)].reduce(0, +) }
        case .entropy:
            scores = starts.map { entropy(of: lines[$0..<min(length, $0 + count)].joined()) }
        }
        return starts.max { (scores[$0], -abs($0 - middle)) < (scores[$1], -abs($1 - middle)) } ?? middle
    }

    /// The saliency of a pixel: its difference from its neighbours, and its saturation.
    private func attention(at index: Int) -> Int {
        let pixel = pixels[index]
        let (x, y) = (index % width, index / width)
        let right = pixels[y * width + min(x + 1, width - 1)]
        let below = pixels[min(y + 1, height - 1) * width + x]
        let edge = abs(right.luma - pixel.luma) + abs(below.luma - pixel.luma)
        let largest = max(pixel.red, pixel.green, pixel.blue)
        let saturation = largest - min(pixel.red, pixel.green, pixel.blue)
        // In very dark areas, colour is noise.
        let color = largest > 40 ? saturation / 8 : 0
        return (4 * edge + color + (Self.isSkin(pixel) ? 40 : 0)) * pixel.alpha
    }

    /// The usual bounds for skin in daylight (Kovač, Peer and Solina, 2003).
    private static func isSkin(_ pixel: Pixel) -> Bool {
        let (red, green, blue) = (pixel.red, pixel.green, pixel.blue)
        return red > 95 && green > 40 && blue > 20 && red > green && red > blue && red - green > 15
            && max(red, green, blue) - min(red, green, blue) > 15
    }

    /// The Shannon entropy of the luma in 32 steps, in bits a pixel. Transparent pixels do not count.
    private func entropy(of indexes: some Sequence<Int>) -> Double {
        var counts = [Int](repeating: 0, count: 32)
        for index in indexes where pixels[index].alpha >= 128 { counts[pixels[index].luma / 8] += 1 }
        let total = counts.reduce(0, +)
        guard total > 0 else { return 0 }
        let sum = counts.reduce(0.0) { $0 + ($1 == 0 ? 0 : Double($1) * DeterministicMath.log2(Double($1))) }
        return DeterministicMath.log2(Double(total)) - sum / Double(total)
    }
}
