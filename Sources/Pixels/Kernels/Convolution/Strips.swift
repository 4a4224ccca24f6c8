/// Cuts the columns of an area into strips, so that the working rows of one strip stay in the cache.
///
/// Where the cuts fall changes no pixel: each is computed by itself.
enum Strips {
    /// The working rows' aim: half of a small second-level cache.
    private static let bytes = 1 << 20

    /// - Parameters:
    ///   - columns: what to cut.
    ///   - channels: values of a pixel.
    ///   - rows: how many working rows are held at once.
    ///   - margin: pixels that each working row has beyond its strip, both sides together.
    static func cut(_ columns: Range<Int>, channels: Int, rows: Int, margin: Int = 0) -> [Range<Int>] {
        let held = bytes / (max(1, rows) * channels * MemoryLayout<Double>.stride)
        // At most 512 pixels, for the sums' first-level cache; at least 64, and half the margin, so that reading and
        // decoding the margins again for every strip does not cost more than the sums.
        let width = max(min(held - margin, 512), 64, margin / 2)
        return stride(from: columns.lowerBound, to: columns.upperBound, by: width).map {
            $0..<min($0 + width, columns.upperBound)
        }
    }
}
