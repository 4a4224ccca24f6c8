import Catalogs
import Geometry
import Raster

/// Renders groups of pixels with long paths: the means on the lines around them, then each pixel between its lines.
final class GroupRenderer<Lines: SweepLines> {
    /// Four for each pixel of the group that was rendered last.
    private(set) var values = WorkBuffer<Float>(count: 0)

    private let picture: SweptPicture
    private let lines: Lines
    private let center: SweepCenter
    private let area: PixelRect
    private let operations: RowOperations
    private let room = LineRoom()
    private var means = WorkBuffer<Float>(count: 0)
    private var places: PixelPlaces

    init(
        _ picture: SweptPicture, _ lines: Lines, _ center: SweepCenter, _ area: PixelRect,
        _ operations: RowOperations
    ) {
        self.picture = picture
        self.lines = lines
        self.center = center
        self.area = area
        self.operations = operations
        places = PixelPlaces(center, capacity: 0, operations)
    }

    /// - Parameter pixels: the group's, by their numbers in the area; at least one.
    func render(_ group: Int, _ pixels: UnsafeBufferPointer<Int32>) {
        makeRoom(for: pixels.count)
        places.place(pixels, in: area)
        let (across, along) = (places.distances.base, places.turns.base)
        // From here on, places among lines.
        var (lowest, highest) = ((across: Double.infinity, along: Double.infinity), (across: 0.0, along: 0.0))
        for index in 0..<pixels.count {
            let place = lines.place(group, distance: across[index], turn: along[index])
            (across[index], along[index]) = place
            lowest = (min(lowest.across, place.across), min(lowest.along, place.along))
            highest = (max(highest.across, place.across), max(highest.along, place.along))
        }
        // A cubic reads a line before and two behind; along a line, a sample and the next one.
        let used = Int(lowest.across) - 1..<Int(highest.across) + 3
        let positions = Int(lowest.along)..<Int(highest.along) + 2
        let stride = 4 * positions.count
        if means.count < stride * used.count { means = WorkBuffer(count: stride * used.count * 5 / 4) }
        for line in used {
            lines.average(
                picture, operations, group, line: line, positions: positions, room,
                into: means.base + (line - used.lowerBound) * stride)
        }
        operations.interpolateLines(
            means.base, stride, used.lowerBound, positions.lowerBound, across, along, pixels.count, values.base)
    }

    private func makeRoom(for count: Int) {
        guard values.count < 4 * count else { return }
        let capacity = count * 5 / 4
        values = WorkBuffer(count: 4 * capacity)
        places = PixelPlaces(center, capacity: capacity, operations)
    }
}

/// The values of an area's pixels, in whatever order they come; with integer formats in 16 bits.
final class SweptPixels {
    private let width: Int
    private let channels: Int
    private let words: WorkBuffer<UInt16>
    private let floats: WorkBuffer<Float>
    /// What a sample is multiplied by in 16 bits; nil for floats.
    private let scale: Float?

    init(_ area: PixelRect, channels: Int, format: SampleFormat) {
        width = area.width
        self.channels = channels
        scale = [.u8: 256, .u16: 1][format]
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
            operations.scatterWords(from, places, pixels.count, channels, scale, words.base)
        } else {
            for (index, pixel) in pixels.enumerated() {
                let target = floats.base + Int(pixel) &* channels
                for channel in 0..<channels { target[channel] = from[4 &* index &+ channel] }
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
