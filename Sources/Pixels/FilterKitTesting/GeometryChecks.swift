import CPenumbraPlugin
import Geometry

extension ContractCheck {
    /// What the header says of margins and rectangles; no pixel is asked for.
    static let geometry = ContractCheck("geometry") { subject in
        for (what, values) in [("its fallbacks", subject.fallbacks)] + subject.variations {
            do {
                try subject.checkMargins(values)
                for input in Subject.inputs { try subject.checkRectangles(of: input, values) }
                try subject.checkParts(values)
            } catch let breach as Breach {
                throw Breach("with \(what) \(breach)")
            }
        }
    }
}

extension Subject {
    fileprivate static let inputs = [(61, 43), (1, 1), (3, 4000), (4000, 3), (30000, 20000)].map {
        PixelRect(x: 0, y: 0, width: $0.0, height: $0.1)
    }

    private static let widestMargin = 16384
    private static let longestSide = 1_000_000

    fileprivate func checkMargins(_ values: [Double]) throws {
        for margins in [plugin.halo, plugin.growth].compactMap({ $0?(values) }) {
            let sides = [margins.left, margins.top, margins.right, margins.bottom]
            guard sides.allSatisfy({ (0...Int32(Self.widestMargin)).contains($0) }) else {
                throw Breach("its halo or growth is outside 0…\(Self.widestMargin): \(sides)")
            }
        }
    }

    fileprivate func checkRectangles(of input: PixelRect, _ values: [Double]) throws {
        if let extent = plugin.extent?(penumbra_rect(input), values) {
            try Self.check(extent, "its extent of \(input)", longest: (Self.longestSide, Self.longestSide))
        }
        guard let region = plugin.region_of_interest else { return }
        for output in places(extent(of: input, values)) {
            let more = 2 * Self.widestMargin
            try Self.check(
                region(penumbra_rect(output), penumbra_rect(input), values),
                "of \(input) its region of interest for \(output)", longest: (output.width + more, output.height + more)
            )
        }
    }

    /// All of it, and pixels at its corners, its borders and in the middle.
    private func places(_ extent: PixelRect) -> [PixelRect] {
        let columns = [extent.x, extent.x + extent.width / 2, extent.right - 1]
        let rows = [extent.y, extent.y + extent.height / 2, extent.bottom - 1]
        return [extent] + rows.flatMap { y in columns.map { PixelRect(x: $0, y: y, width: 1, height: 1) } }
    }

    private static func check(_ rect: penumbra_rect, _ what: String, longest: (width: Int, height: Int)) throws {
        let far: Int64 = 10_000_000
        guard (1...Int64(longest.width)).contains(rect.width), (1...Int64(longest.height)).contains(rect.height),
            (-far...far).contains(rect.x), (-far...far).contains(rect.y)
        else {
            throw Breach(
                "\(what) is \(rect.width)×\(rect.height) at \(rect.x), \(rect.y); at most \(longest.width)×"
                    + "\(longest.height) within \(far) of 0, 0 are allowed, and not nothing")
        }
    }

    fileprivate func checkParts(_ values: [Double]) throws {
        let input = Self.inputs[0]
        let extent = extent(of: input, values)
        let region = needed(for: extent, in: input, values)
        for tile in TileGrid(extent: extent, tileWidth: 16, tileHeight: 16).tiles
        where !region.contains(needed(for: tile, in: input, values)) {
            throw Breach("it reads more for \(tile) than for its whole extent")
        }
    }
}
