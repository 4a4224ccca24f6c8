import Catalogs
import Geometry
import Raster

/// The values of an area's pixels, in whatever order they come; with integer formats in 16 bits.
final class SweptPixels {
    private let width: Int
    private let channels: Int
    private let words: WorkBuffer<UInt16>
    private let floats: WorkBuffer<Float>
    /// What a sample is multiplied by in 16 bits; nil for floats.
    private let scale: Float?
    private let full: Float

    init(_ area: PixelRect, channels: Int, format: SampleFormat) {
        width = area.width
        self.channels = channels
        scale = [.u8: 256, .u16: 1][format]
        full = Float(format.full)
        let count = area.area * channels
        words = WorkBuffer(count: scale == nil ? 0 : count)
        floats = WorkBuffer(count: scale == nil ? count : 0)
    }

    /// - Parameter values: four for each pixel.
    func store(
        _ values: WorkBuffer<Float>, at pixels: UnsafeBufferPointer<Int32>, _ operations: RowOperations
    ) {
        let (from, channels) = (values.base, channels)
        if let scale {
            guard let places = pixels.baseAddress else { return }
            operations.scatterWords(from, places, pixels.count, channels, scale, full, words.base)
        } else {
            for (index, pixel) in pixels.enumerated() {
                let target = floats.base + Int(pixel) &* channels
                for channel in 0..<channels { target[channel] = from[4 &* index &+ channel] }
            }
        }
    }

    /// - Parameters:
    ///   - values: four for each pixel.
    ///   - first: the first pixel's number in the area; the others follow.
    func store(_ values: UnsafePointer<Float>, at first: Int, count: Int, _ operations: RowOperations) {
        if let scale {
            operations.packWords(values, count, channels, scale, full, words.base + first * channels)
        } else {
            for index in 0..<count {
                let target = floats.base + (first &+ index) &* channels
                for channel in 0..<channels { target[channel] = values[4 &* index &+ channel] }
            }
        }
    }

    /// - Parameters:
    ///   - row: from the area's first.
    ///   - plane: receives a value for each column.
    func read(row: Int, channel: Int, into plane: UnsafeMutablePointer<Float>) {
        let start = row * width * channels + channel
        if let scale {
            let (from, factor, channels) = (words.base + start, 1 / scale, channels)
            for column in 0..<width { plane[column] = Float(from[column &* channels]) * factor }
        } else {
            let (from, channels) = (floats.base + start, channels)
            for column in 0..<width { plane[column] = from[column &* channels] }
        }
    }
}
