import Catalogs
import Geometry

/// The place of a picture that a crop keeps near its middle: the parameters `focus_x` and `focus_y`.
package struct FocalPoint: Hashable, Sendable {
    private let x: Length
    private let y: Length

    /// Nil if neither parameter is given. If one of them is given, the other one is the middle.
    init?(_ arguments: FilterArguments) throws(FilterError) {
        let (x, y) = (try arguments.optionalLength("focus_x"), try arguments.optionalLength("focus_y"))
        if x == nil, y == nil { return nil }
        (self.x, self.y) = (x ?? .percent(50), y ?? .percent(50))
    }

    /// - Parameter keeping: completes the sentence `Sets the place that … keeps`.
    static func parameters(keeping: String) -> [ParameterDescriptor] {
        [("focus_x", "left"), ("focus_y", "top")].map { name, side in
            ParameterDescriptor(
                name, .distance,
                summary: "Sets the place that \(keeping) near its middle, from the \(side) side of the picture")
        }
    }

    /// The rules for filters with these parameters in place of `others`.
    static func rules(replacing others: [String]) -> [ParameterRule] {
        ["focus_x", "focus_y"].map { .replaces(parameter: $0, others: others) }
    }

    /// Where a window begins whose middle is as near as possible to the focal point.
    ///
    /// - Parameters:
    ///   - window: the size of the window, no side larger than that of `scaled`.
    ///   - scaled: the size of the picture from which the window is cut.
    ///   - picture: the size of the same picture in which lengths are measured.
    func start(
        of window: Sizing.Size, in scaled: Sizing.Size, of picture: Sizing.Size
    ) -> (x: Int, y: Int) {
        (
            Self.start(of: window.width, around: x, in: scaled.width, of: picture.width),
            Self.start(of: window.height, around: y, in: scaled.height, of: picture.height)
        )
    }

    private static func start(of window: Int, around place: Length, in scaled: Int, of side: Int) -> Int {
        let middle = place.pixels(of: side) * Double(scaled) / Double(side)
        // The middle of the picture gives the same start as no focal point: halves are rounded down.
        let start = (middle - Double(window) / 2 - 0.5).rounded(.up)
        return Int(min(max(start, 0), Double(scaled - window)))
    }

    /// Why it is no place of a picture of this size. Nil if it is one.
    func misfit(in picture: Sizing.Size) -> String? {
        let isInside = [(x, picture.width), (y, picture.height)].allSatisfy { place, side in
            (0...Double(side)).contains(place.pixels(of: side))
        }
        return isInside
            ? nil : "'focus_x' and 'focus_y' name a place outside of \(picture.width) × \(picture.height) pixels"
    }
}
