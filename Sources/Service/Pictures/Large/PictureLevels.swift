package import Catalogs
import JobModel

/// A large picture at several sizes: whole, at a half, a quarter and so on. Any part of each of them is read at once.
///
/// Most formats can only be decoded from their first row on. A part at the bottom of a picture of 600 megapixels takes most of a minute
/// then, and a reduced part needs all pixels in any format.
package struct PictureLevels: Hashable, Sendable {
    /// In pixels, of the whole picture.
    package let width: Int
    package let height: Int
    /// The scales of each task of a worker, which makes them of one decoding. The first task reads the picture, and the other ones the file
    /// with the scale 1.
    package let steps: [[Int]]
    private let pixelBytes: Int

    /// Smaller pictures are decoded again for each part.
    package static let leastArea = 50_000_000

    /// Powers of two, from 1. At the last scale the whole picture is no larger than one answer, if the worker's memory is large enough.
    package var scales: [Int] { steps.flatMap(\.self) }

    /// - Parameters:
    ///   - leastArea: In pixels.
    ///   - memory: In bytes, of the rows that a worker holds. A step never holds the whole picture.
    /// - Returns: nil for a smaller picture, and for one with longer rows than that.
    package init?(of facts: PictureFacts, leastArea: Int = leastArea, memory: Int) {
        guard facts.width > 0, facts.height > 0, facts.width * facts.height >= leastArea,
            let layout = PixelLayout(rawValue: facts.layout), let samples = SampleFormat(rawValue: facts.samples)
        else { return nil }
        (width, height) = (facts.width, facts.height)
        pixelBytes = layout.channels * samples.bytes
        let decoded = Self.decodedRows * width * pixelBytes
        guard decoded <= memory else { return nil }
        var (steps, used, scale) = ([[1]], decoded, 1)
        while scale < PictureCrop.largestScale,
            PictureCrop.reduced(max(width, height), by: scale) > PictureCrop.longestSide
        {
            scale *= 2
            let needed = Self.rowMemory(scale, width: width, height: height, layout, samples)
            guard decoded + needed <= memory else { break }
            if used + needed > memory {
                steps.append([])
                used = decoded
            }
            steps[steps.count - 1].append(scale)
            used += needed
        }
        self.steps = steps
    }

    /// The rows between decoder and encoder that a worker's `StreamPlan` counts for a picture without filters.
    package static let decodedRows = 384

    /// At least what a worker's `StreamPlan` counts for a reduction. If it counted more, the worker would hold the whole picture.
    package static func rowMemory(
        _ scale: Int, width: Int, height: Int, _ layout: PixelLayout, _ samples: SampleFormat
    ) -> Int {
        // The rows that one row of the result is made of.
        let read = 7 * scale + 4
        let stored = 256 + max(64 + read, 2 * read) + 192 / scale
        // They are also held as floating-point numbers, twice.
        let rows = width * layout.channels * (samples.bytes * stored + 8 * read)
        // Two tables say where each row is.
        return rows + 16 * (height + read)
    }

    /// The largest scale at which the picture is no smaller than a thumbnail.
    ///
    /// - Parameter side: the longest side of the thumbnail, in pixels.
    package func scale(forSide side: Int) -> Int {
        scales.last { PictureCrop.reduced(max(width, height), by: $0) >= side } ?? 1
    }

    /// The size of the whole picture at a scale.
    package func size(at scale: Int) -> (width: Int, height: Int) {
        (PictureCrop.reduced(width, by: scale), PictureCrop.reduced(height, by: scale))
    }

    /// The bytes of all files.
    package var bytes: Int { scales.reduce(0) { $0 + bytes(at: $1) } }

    private func bytes(at scale: Int) -> Int {
        let (width, height) = size(at: scale)
        let (columns, rows) = (
            (width + Self.tileSide - 1) / Self.tileSide, (height + Self.tileSide - 1) / Self.tileSide
        )
        return columns * rows * (Self.tileSide * Self.tileSide * pixelBytes + Self.tileEntry) + Self.headerBytes
    }

    /// The last tile of each row is stored as a whole one.
    private static let tileSide = 256
    /// A tile's offset and size in the file's directory.
    private static let tileEntry = 16
    /// The largest usual profile, and the directory.
    private static let headerBytes = 1 << 20

    /// The name of the file with a scale.
    package static func fileName(_ scale: Int) -> String { "\(scale).tiff" }

    /// Tiles without compression: a part is read as fast as the disk is.
    static let save = SaveOptions(
        metadata: .icc, values: ["compression": .word("none"), "tile": .boolean(true)])
}
