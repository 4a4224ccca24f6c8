import Catalogs
import Geometry
import Kernels

// What `zoom` and `spin` have in common.

extension SweepCenter {
    /// What is read, and the time that it takes, grow with the distance from the centre. Farther away than that, arcs and
    /// rays are as good as the straight lines of `motion`.
    private static let farthest = LengthLimit(pixels: 100_000, percent: 1000)

    static let parameters = [
        ParameterDescriptor(
            "x", .length(within: farthest), fallback: .length(.percent(50)),
            summary: "the centre, from the picture's left side"),
        ParameterDescriptor(
            "y", .length(within: farthest), fallback: .length(.percent(50)),
            summary: "the centre, from the picture's top side"),
    ]

    /// Lengths are measured from the corner of `input`, where its first pixel begins. That pixel's own centre lies half a
    /// pixel further on, so that 50 % is (width − 1)/2 in coordinates of pixels.
    init(_ x: Length, _ y: Length, in input: PixelRect) {
        self.init(
            x: x.coordinate(along: input.columns) - 0.5, y: y.coordinate(along: input.rows) - 0.5)
    }
}

extension SweepMargin {
    /// The most that is read around any rectangle of `output`: paths grow with the distance from the centre along each
    /// axis, so that no pixel's lead farther than those of a corner.
    static func halo(over output: PixelRect, needed: (PixelRect) -> PixelRect) -> Halo {
        guard !output.isEmpty else { return .none }
        let sides = [output.x, output.right - 1].flatMap { x in
            [output.y, output.bottom - 1].map { y in
                let own = PixelRect(x: x, y: y, width: 1, height: 1)
                let read = needed(own)
                return (own.x - read.x, own.y - read.y, read.right - own.right, read.bottom - own.bottom)
            }
        }
        func most(_ values: [Int]) -> Int { (values.max() ?? 0) + 1 }  // a pixel for rounding
        return Halo(
            left: most(sides.map(\.0)), top: most(sides.map(\.1)), right: most(sides.map(\.2)),
            bottom: most(sides.map(\.3))) ?? .none
    }
}

extension AreaOptions {
    /// A guess for linear light, which is looked up sample by sample.
    ///
    /// - Parameter encoded: measured for 12 megapixels of RGB on a busy core.
    func sweepCost(_ layout: PixelLayout, encoded: Double) -> Double {
        light == .encoded ? encoded + 10 * Double(outputLayout(for: layout).channels) : 300
    }
}
