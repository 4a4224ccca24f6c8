import Catalogs
import JobModel

/// A large picture at several sizes: whole, at a half, a quarter and so on. Any part of each of them is read at once.
///
/// Most formats can only be decoded from their first row on. A part at the bottom of a picture of 600 megapixels takes most of a minute
/// then, and a reduced part needs all pixels in any format.
package struct PictureLevels: Hashable, Sendable {
    /// In pixels, of the whole picture.
    package let width: Int
    package let height: Int
    /// Powers of two, from 1. At the last scale the whole picture is no larger than one answer.
    package let scales: [Int]
    private let pixelBytes: Int

    /// Smaller pictures are decoded again for each part.
    package static let leastArea = 50_000_000

    /// - Parameter leastArea: In pixels.
    /// - Returns: nil for a smaller picture.
    package init?(of facts: PictureFacts, leastArea: Int = leastArea) {
        guard facts.width > 0, facts.height > 0, facts.width * facts.height >= leastArea,
            let layout = PixelLayout(rawValue: facts.layout), let samples = SampleFormat(rawValue: facts.samples)
        else { return nil }
        (width, height) = (facts.width, facts.height)
        pixelBytes = layout.channels * samples.bytes
        var scales = [1]
        while let last = scales.last, last < PictureCrop.largestScale,
            PictureCrop.reduced(max(facts.width, facts.height), by: last) > PictureCrop.longestSide
        {
            scales.append(2 * last)
        }
        self.scales = scales
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
