package import Catalogs
package import Geometry
package import Kernels

/// `perspective`: makes a rectangle of four corners, such as those of a page, a sign or a façade.
package struct PerspectiveFilter: WarpFilter {
    private let corners: [Point]
    /// Width by height of the output; nil for what the corners tell.
    private let aspect: Double?
    private let kernel: Warp.Kernel

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "perspective", kind: .geometry,
            summary: "Makes a rectangle of four corners, such as those of a page that was photographed at an angle",
            renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "corners", .path,
                    summary:
                        "Sets the corners in the picture: top left, top right, bottom right, bottom left. Where they lie outside of it, its "
                        + "border is repeated",
                    requiredLike: "[{x: 10%, y: 5%}, {x: 90%, y: 8%}, {x: 95%, y: 96%}, {x: 4%, y: 92%}]"),
                ParameterDescriptor(
                    "aspect", .number(minimum: 0.01, maximum: 100),
                    summary:
                        "Sets width by height of the output, such as 0.7071 for a page of A4. By default the longer of two "
                        + "opposite sides counts"),
                Warp.Kernel.parameter,
            ], refusesValues: true),
        make: { try PerspectiveFilter($0) })

    private init(_ arguments: FilterArguments) throws(FilterError) {
        corners = try arguments.path("corners")
        aspect = try arguments.optionalNumber("aspect")
        kernel = try Warp.Kernel(arguments)
        guard corners.count == 4 else {
            throw FilterError(
                filter: "perspective",
                problem: .failed(reason: "'corners' has \(corners.count) places, and a rectangle has four corners"))
        }
        // If all places are in one unit, all pictures are alike. 0 is 0 % and 0 pixels.
        let measures = corners.flatMap { [$0.x, $0.y] }.filter { !$0.isZero }
        let percents = measures.count { if case .percent = $0 { true } else { false } }
        let square = PixelRect(x: 0, y: 0, width: 1000, height: 1000)
        let own = places(in: square)
        guard
            percents > 0 && percents < measures.count || Self.projection(of: own, 1, 1) != nil,
            measures.isEmpty || percents < measures.count || own.allSatisfy({ Self.isNear($0, square) })
        else {
            throw FilterError(
                filter: "perspective",
                problem: .failed(
                    reason: "'corners' make no picture; \(Self.advice)"))
        }
    }

    /// What corners need.
    package static let advice =
        "give top left, top right, bottom right and bottom left, in this order, none in one line with two others, none farther "
        + "outside of the picture than it is wide or high, and no side far shorter than the opposite one"

    package var isIdentity: Bool { false }

    /// How many times the picture's sides a corner may lie outside of it.
    private static let farthest = 1.0

    private func places(in input: PixelRect) -> [(x: Double, y: Double)] {
        corners.map { ($0.x.coordinate(along: input.columns), $0.y.coordinate(along: input.rows)) }
    }

    private static func projection(
        of places: [(x: Double, y: Double)], _ width: Double, _ height: Double
    ) -> Projection? {
        Projection(rectangle: width, height, to: places)
    }

    /// Empty if the corners make no picture, or if one lies far outside.
    package func extent(of input: PixelRect) -> PixelRect {
        guard !input.isEmpty else { return input }
        let places = places(in: input)
        func length(_ a: Int, _ b: Int) -> Double {
            let (dx, dy) = (places[b].x - places[a].x, places[b].y - places[a].y)
            return (dx * dx + dy * dy).squareRoot()
        }
        guard Self.projection(of: places, 1, 1) != nil, places.allSatisfy({ Self.isNear($0, input) }) else {
            return .empty
        }
        var (width, height) = (max(length(0, 1), length(3, 2)), max(length(0, 3), length(1, 2)))
        if let aspect {
            // The output has as many pixels along one side as the corners tell, and more along the other.
            (width, height) = width / height < aspect ? (height * aspect, height) : (width, width / aspect)
        }
        func side(_ value: Double) -> Int { max(1, Int(min(value, 1e8).rounded())) }
        return PixelRect(x: 0, y: 0, width: side(width), height: side(height))
    }

    private static func isNear(_ place: (x: Double, y: Double), _ input: PixelRect) -> Bool {
        let (width, height) = (Double(input.width), Double(input.height))
        let (x, y) = (place.x - Double(input.x), place.y - Double(input.y))
        return x >= -farthest * width && x <= (1 + farthest) * width && y >= -farthest * height
            && y <= (1 + farthest) * height
    }

    package func warp(_ input: PixelRect) -> Warp? {
        let output = extent(of: input)
        return Self.projection(of: places(in: input), Double(output.width), Double(output.height)).map {
            Warp($0, kernel)
        }
    }

    /// Parts of the picture may have several samples for each pixel.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 2 * kernel.cost(format) }
}
