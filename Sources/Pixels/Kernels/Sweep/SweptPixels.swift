import Catalogs
import Geometry
import Raster

/// The values of an area's pixels, in whatever order they come; with integer formats in 16 bits.
final class SweptPixels {
    private let width: Int
    private let channels: Int
    private let words: RowBuffer<UInt16>
    private let floats: RowBuffer<Float>
    /// What a sample is multiplied by in 16 bits; nil for floats.
    private let scale: Float?
    private let full: Float

    init(_ area: PixelRect, channels: Int, format: SampleFormat) {
        width = area.width
        self.channels = channels
        scale = [.u8: 256, .u16: 1][format]
        full = Float(format.full)
        let count = area.area * channels
        words = RowBuffer(count: scale == nil ? 0 : count)
        floats = RowBuffer(count: scale == nil ? count : 0)
    }

    /// - Parameter values: four for each pixel.
    func store(_ values: borrowing RowBuffer<Float>, at pixels: PixelGroup, _ operations: RowOperations) {
        precondition(4 * pixels.count <= values.count, "every pixel has its values")
        if let scale {
            operations.scatterWords(
                Row(values.start), at: pixels.numbers, count: pixels.count, channels: channels, scale: scale,
                full: full, out: words.start)
        } else {
            let (from, to, channels) = (values.start, floats.start, channels)
            for index in 0..<pixels.count {
                let first = Int(pixels.numbers[unchecked: index]) &* channels
                for channel in 0..<channels {
                    to[unchecked: first &+ channel] = from[unchecked: 4 &* index &+ channel]
                }
            }
        }
    }

    /// - Parameters:
    ///   - values: four for each pixel.
    ///   - first: the first pixel's number in the area; the others follow.
    func store(_ values: Row<Float>, at first: Int, count: Int, _ operations: RowOperations) {
        if let scale {
            operations.packWords(
                values, count: count, channels: channels, scale: scale, full: full, out: words.start + first * channels)
        } else {
            let (to, channels) = (floats.start + first * channels, channels)
            precondition(4 * count <= values.count && count * channels <= to.count, "every pixel has its values")
            for index in 0..<count {
                for channel in 0..<channels {
                    to[unchecked: index &* channels &+ channel] = values[unchecked: 4 &* index &+ channel]
                }
            }
        }
    }

    /// - Parameters:
    ///   - row: from the area's first.
    ///   - plane: receives a value for each column.
    func read(row: Int, channel: Int, into plane: MutableRow<Float>) {
        let start = row * width * channels + channel
        if let scale {
            let (from, factor, channels) = (words.start + start, 1 / scale, channels)
            for column in 0..<width {
                plane[unchecked: column] = Float(from[unchecked: column &* channels]) * factor
            }
        } else {
            let (from, channels) = (floats.start + start, channels)
            for column in 0..<width { plane[unchecked: column] = from[unchecked: column &* channels] }
        }
    }
}
