import Catalogs

/// A mask of COCO: the lengths of runs of pixels that are outside and inside in turn, column by column from the top down.
///
/// `{"size": [height, width], "counts": [6, 1, 40, …]}`. The counts may be a text, as cocoapi compresses them.
struct RunLengths {
    struct Problem: Error, Hashable {
        /// `has counts that …`
        let reason: String
    }

    let size: PictureSize
    /// The first one is outside.
    private let counts: [Int]

    /// No picture has longer sides.
    private static let longestSide = 1_000_000

    init(size: PictureSize, counts: [Int]) throws(Problem) {
        guard max(size.width, size.height) <= Self.longestSide, min(size.width, size.height) > 0 else {
            throw Problem(reason: "has no 'size' of a picture")
        }
        var rest = size.width * size.height
        for count in counts {
            guard count >= 0, count <= rest else { throw Problem(reason: "has 'counts' beyond its 'size'") }
            rest -= count
        }
        guard rest == 0 else { throw Problem(reason: "has 'counts' that do not fill its 'size'") }
        (self.size, self.counts) = (size, counts)
    }

    /// Reads compressed counts: five bits a character, the lowest first. From the fourth on, a count is the difference to the one two before it.
    ///
    /// - Returns: nil for a text that is none.
    static func counts(of text: String) -> [Int]? {
        var counts: [Int] = []
        var (value, shift) = (0, 0)
        for byte in text.utf8 {
            guard (48..<112).contains(byte), shift <= 30 else { return nil }
            let bits = Int(byte) - 48
            value |= (bits & 31) << shift
            shift += 5
            guard bits & 32 == 0 else { continue }
            if bits & 16 != 0 { value -= 1 << shift }
            if counts.count > 2 { value += counts[counts.count - 2] }
            counts.append(value)
            (value, shift) = (0, 0)
        }
        return shift == 0 ? counts : nil
    }

    // MARK: Outlines

    /// Columns with the same runs.
    private struct Band {
        var columns: Range<Int>
        var runs: [Range<Int>]
    }

    private struct Corner: Hashable {
        let x: Int
        let y: Int
    }

    /// The closed lines around the pixels that are inside: for each, x and y of its corners in turn. Lines around holes run the other way.
    ///
    /// - Parameter most: the most corners.
    /// - Returns: nil for more corners.
    func rings(most: Int) -> [[Double]]? {
        guard let bands = bands(most: most) else { return nil }
        var ways = Ways()
        var left: Band?
        for band in bands {
            if let end = left?.columns.upperBound, end < band.columns.lowerBound {
                ways.cross(at: end, from: left?.runs ?? [], to: [])
                left = nil
            }
            ways.cross(at: band.columns.lowerBound, from: left?.runs ?? [], to: band.runs)
            for run in band.runs { ways.addSides(of: run, band.columns) }
            left = band
        }
        if let left { ways.cross(at: left.columns.upperBound, from: left.runs, to: []) }
        return ways.rings(most: most)
    }

    /// The columns with pixels inside, from the left.
    private func bands(most: Int) -> [Band]? {
        let height = size.height
        var bands: [Band] = []
        var runs = 0
        /// Joins the last band with the one before it if they are alike.
        func close() {
            guard bands.count > 1 else { return }
            let (before, last) = (bands[bands.count - 2], bands[bands.count - 1])
            guard before.runs == last.runs, before.columns.upperBound == last.columns.lowerBound else { return }
            bands.removeLast()
            bands[bands.count - 1].columns = before.columns.lowerBound..<last.columns.upperBound
        }
        func add(_ columns: Range<Int>, _ run: Range<Int>) {
            if let last = bands.last, last.columns == columns {
                if last.runs.last?.upperBound == run.lowerBound, let start = last.runs.last?.lowerBound {
                    bands[bands.count - 1].runs[last.runs.count - 1] = start..<run.upperBound
                } else {
                    bands[bands.count - 1].runs.append(run)
                    runs += 1
                }
            } else {
                close()
                bands.append(Band(columns: columns, runs: [run]))
                runs += 1
            }
        }
        var position = 0
        for (index, count) in counts.enumerated() {
            defer { position += count }
            guard !index.isMultiple(of: 2), count > 0 else { continue }
            let end = position + count
            var start = position
            if start % height != 0 {
                let next = min(end, (start / height + 1) * height)
                add(start / height..<start / height + 1, start % height..<start % height + (next - start))
                start = next
            }
            let whole = (end - start) / height
            if whole > 0 {
                add(start / height..<start / height + whole, 0..<height)
                start += whole * height
            }
            if start < end { add(start / height..<start / height + 1, 0..<end - start) }
            guard runs <= most else { return nil }
        }
        close()
        return bands
    }

    /// Sides of bands, with the inside to the right of each.
    private struct Ways {
        private var starts: [Corner] = []
        private var ends: [Corner: [Corner]] = [:]

        private mutating func add(_ from: Corner, _ to: Corner) {
            starts.append(from)
            ends[from, default: []].append(to)
        }

        mutating func addSides(of run: Range<Int>, _ columns: Range<Int>) {
            let (left, right) = (columns.lowerBound, columns.upperBound)
            add(Corner(x: left, y: run.lowerBound), Corner(x: right, y: run.lowerBound))
            add(Corner(x: right, y: run.upperBound), Corner(x: left, y: run.upperBound))
        }

        /// Adds the vertical lines between two bands, cut at the ends of all runs.
        mutating func cross(at x: Int, from left: [Range<Int>], to right: [Range<Int>]) {
            let heights = Set((left + right).flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
            var (l, r) = (0, 0)
            for (top, bottom) in zip(heights, heights.dropFirst()) {
                while l < left.count, left[l].upperBound <= top { l += 1 }
                while r < right.count, right[r].upperBound <= top { r += 1 }
                let isLeft = l < left.count && left[l].lowerBound <= top
                let isRight = r < right.count && right[r].lowerBound <= top
                if isLeft, !isRight { add(Corner(x: x, y: top), Corner(x: x, y: bottom)) }
                if !isLeft, isRight { add(Corner(x: x, y: bottom), Corner(x: x, y: top)) }
            }
        }

        mutating func rings(most: Int) -> [[Double]]? {
            var rings: [[Double]] = []
            var corners = 0
            for start in starts {
                var here = start
                var ring: [Corner] = []
                while let next = ends[here]?.popLast() {
                    // A corner in the middle of a straight line is none.
                    if ring.count > 1, Self.isStraight(ring[ring.count - 2], ring[ring.count - 1], here) {
                        ring.removeLast()
                    }
                    ring.append(here)
                    here = next
                }
                guard ring.count > 2 else { continue }
                if Self.isStraight(ring[ring.count - 2], ring[ring.count - 1], ring[0]) { ring.removeLast() }
                if ring.count > 2, Self.isStraight(ring[ring.count - 1], ring[0], ring[1]) { ring.removeFirst() }
                corners += ring.count
                guard corners <= most else { return nil }
                rings.append(ring.flatMap { [Double($0.x), Double($0.y)] })
            }
            return rings
        }

        private static func isStraight(_ a: Corner, _ b: Corner, _ c: Corner) -> Bool {
            a.x == b.x && b.x == c.x || a.y == b.y && b.y == c.y
        }
    }
}
