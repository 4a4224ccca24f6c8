package import Catalogs
package import Geometry
import Kernels
package import Raster
import Synchronization

/// `overlay`: another picture in front of the input, once or repeated, with a shadow if it is asked for.
package struct OverlayFilter: Filter {
    private let layer: Layer
    private let placement: OverlayPlacement
    private let opacity: Double
    private let mode: BlendMode
    private let shadow: DropShadow?

    private init(_ arguments: FilterArguments) throws {
        placement = try OverlayPlacement(arguments)
        opacity = try arguments.boolean("hidden") ? 0 : try arguments.number("opacity") / 100
        mode = BlendMode(rawValue: try arguments.word("blend")) ?? .normal
        shadow = try DropShadow(arguments)
        layer = try arguments.layer("picture")
        if placement.isTiled, shadow != nil {
            throw FilterError(
                filter: "overlay", problem: .conflict(parameter: "tiled", value: "true", other: "shadow"))
        }
    }

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "overlay", kind: .point, summary: "Puts another picture in front of the picture", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "picture", .layer, summary: "Names the other picture, from the folder of the manifest",
                    requiredLike: "logo.png")
            ] + OverlayPlacement.parameters + [
                ParameterDescriptor(
                    "opacity", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                    summary: "Sets how opaque the other picture is. 0 makes it invisible"),
                ParameterDescriptor(
                    "blend", .choice(BlendMode.allCases.map(\.rawValue)), fallback: .word("normal"),
                    summary: "Chooses how its colours combine with those behind it"),
            ] + DropShadow.parameters + [
                ParameterDescriptor(
                    "hidden", .boolean, fallback: .boolean(false), summary: "Leaves the other picture out")
            ], refusesValues: true),
        make: { try OverlayFilter($0) })

    package var isIdentity: Bool { opacity == 0 }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        let under = Overlay.layout(of: layout, under: layer.raster.layout)
        return shadow.map { Overlay.layout(of: under, under: $0.layout) } ?? under
    }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (mode == .normal ? 8 : 20) * Double(layout.channels)
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        Overlay(try fronts(over: destination.rect, in: source.extent)).render(source.pixels, into: &destination)
    }

    /// The pictures to be laid over a part of the input, the lowest first.
    private func fronts(over part: PixelRect, in input: PixelRect) throws(FilterError) -> [Overlay.Front] {
        guard !input.isEmpty else { return [] }
        let place = placement.place(of: layer.raster.rect, in: input)
        if placement.isTiled {
            let picture = try layer.scaled(to: place.size)
            return [
                Overlay.Front(
                    picture, x: Int(place.x), y: Int(place.y), repeatedBy: placement.period(of: place.size),
                    opacity: opacity, mode: mode)
            ]
        }
        var fronts: [Overlay.Front] = []
        if let shadow {
            let (cast, reach) = shadow.cast(by: try layer.scaled(to: place.size, isLimited: true))
            let shift = shadow.shift(in: input)
            fronts.append(
                Overlay.Front(
                    cast, x: place.x - Double(reach.left) + shift.x, y: place.y - Double(reach.top) + shift.y,
                    opacity: opacity * shadow.opacity))
        }
        guard layer.isLarge(place.size) else {
            let picture = try layer.scaled(to: place.size)
            return fronts + [Overlay.Front(picture, x: place.x, y: place.y, opacity: opacity, mode: mode)]
        }
        // Of a huge picture, only the visible part is made.
        let own = PixelRect(x: 0, y: 0, width: place.size.width, height: place.size.height)
        let visible = part.translated(x: -Int(place.x), y: -Int(place.y)).intersection(own)
        guard !visible.isEmpty else { return fronts }
        return fronts + [
            Overlay.Front(
                layer.scaledPart(visible, of: place.size), x: place.x + Double(visible.x),
                y: place.y + Double(visible.y), opacity: opacity, mode: mode)
        ]
    }
}

/// Where the other picture lies, how large it is, and whether it repeats.
private struct OverlayPlacement {
    /// The part of the picture that `x` and `y` count from.
    private let anchor: Anchor
    private let x: Length
    private let y: Length
    private let width: Length?
    private let height: Length?
    let isTiled: Bool
    private let gap: Length

    init(_ arguments: FilterArguments) throws(FilterError) {
        anchor = Anchor(rawValue: try arguments.word("anchor")) ?? .topLeft
        x = try arguments.length("x")
        y = try arguments.length("y")
        width = try arguments.optionalLength("width")
        height = try arguments.optionalLength("height")
        isTiled = try arguments.boolean("tiled")
        gap = try arguments.length("gap")
    }

    static let parameters = [
        ParameterDescriptor(
            "anchor", .choice(Anchor.allCases.map(\.rawValue)), fallback: .word("top-left"),
            summary: "Chooses the side or corner of the picture where the other picture lies"),
        ParameterDescriptor(
            "x", .length(), fallback: .length(.pixels(0)),
            summary: "Sets its distance from the left side, or from the right side with an anchor there"),
        ParameterDescriptor(
            "y", .length(), fallback: .length(.pixels(0)),
            summary: "Sets its distance from the top side, or from the bottom side with an anchor there"),
        ParameterDescriptor(
            "width", .distance,
            summary: "Scales it to this width. Percentages refer to the picture. Its proportions stay"),
        ParameterDescriptor(
            "height", .distance,
            summary: "Scales it to this height. With a width, too, it fits into both"),
        ParameterDescriptor(
            "tiled", .boolean, fallback: .boolean(false), summary: "Repeats it over the whole picture"),
        ParameterDescriptor(
            "gap", .distance, fallback: .length(.pixels(0)),
            summary: "Sets the distance between repeated copies. Percentages refer to their own size"),
    ]

    /// The other picture's corner, and its size.
    struct Place {
        let x: Double
        let y: Double
        let size: PictureSize
    }

    /// - Parameter own: the other picture's rectangle.
    func place(of own: PixelRect, in input: PixelRect) -> Place {
        let size = size(of: own, in: input)
        if anchor == .topLeft, !isTiled, width == nil, height == nil {
            // Any fraction of a pixel.
            return Place(
                x: x.coordinate(along: input.columns), y: y.coordinate(along: input.rows), size: size)
        }
        return Place(
            x: anchor.horizontal.position(of: size.width, x, along: input.columns),
            y: anchor.vertical.position(of: size.height, y, along: input.rows), size: size)
    }

    private func size(of own: PixelRect, in input: PixelRect) -> PictureSize {
        let factors = [
            width.map { $0.pixels(of: input.width) / Double(own.width) },
            height.map { $0.pixels(of: input.height) / Double(own.height) },
        ].compactMap(\.self)
        guard let factor = factors.min() else { return PictureSize(width: own.width, height: own.height) }
        func side(_ side: Int) -> Int { Int(min(max((Double(side) * factor).rounded(), 1), 1e7)) }
        return PictureSize(width: side(own.width), height: side(own.height))
    }

    /// The distances of the copies.
    func period(of size: PictureSize) -> (x: Int, y: Int) {
        func distance(_ side: Int) -> Int { side + Int(min(gap.pixels(of: side), 1e7).rounded()) }
        return (distance(size.width), distance(size.height))
    }
}

/// A side or corner of a picture.
private enum Anchor: String, CaseIterable {
    case topLeft = "top-left"
    case top
    case topRight = "top-right"
    case left
    case center
    case right
    case bottomLeft = "bottom-left"
    case bottom
    case bottomRight = "bottom-right"

    /// The place along one axis.
    enum Side {
        case low
        case middle
        case high

        /// The first coordinate of something with `size` pixels, on whole pixels.
        func position(of size: Int, _ distance: Length, along side: Range<Int>) -> Double {
            let inwards = distance.pixels(of: side.count)
            return switch self {
            case .low: (Double(side.lowerBound) + inwards).rounded()
            case .middle: (Double(side.lowerBound) + Double(side.count - size) / 2 + inwards).rounded(.down)
            case .high: (Double(side.upperBound - size) - inwards).rounded()
            }
        }
    }

    var horizontal: Side {
        switch self {
        case .topLeft, .left, .bottomLeft: .low
        case .top, .center, .bottom: .middle
        case .topRight, .right, .bottomRight: .high
        }
    }

    var vertical: Side {
        switch self {
        case .topLeft, .top, .topRight: .low
        case .left, .center, .right: .middle
        case .bottomLeft, .bottom, .bottomRight: .high
        }
    }
}

/// The shadow of the other picture: its outline in one colour, softened by a Gaussian.
private struct DropShadow {
    /// 0–1.
    let opacity: Double
    private let radius: Double
    private let x: Length
    private let y: Length
    private let color: BackgroundColor
    private let latest = LatestShadow()

    /// Nil without a shadow.
    init?(_ arguments: FilterArguments) throws(FilterError) {
        opacity = try arguments.number("shadow") / 100
        radius = try arguments.number("shadow_radius")
        x = try arguments.length("shadow_x")
        y = try arguments.length("shadow_y")
        color = try arguments.color("shadow_color")
        if opacity == 0 { return nil }
    }

    static let parameters = [
        ParameterDescriptor(
            "shadow", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "%",
            summary: "Sets how opaque a shadow below it is. 0 means no shadow"),
        ParameterDescriptor(
            "shadow_radius", .number(minimum: 0, maximum: 200), fallback: .number(6), unit: "px",
            summary: "Sets how soft the shadow is. It is the standard deviation of a Gaussian"),
        ParameterDescriptor(
            "shadow_x", .length(), fallback: .length(.pixels(0)), summary: "Moves the shadow to the right"),
        ParameterDescriptor(
            "shadow_y", .length(), fallback: .length(.pixels(4)), summary: "Moves the shadow down"),
        ParameterDescriptor(
            "shadow_color", .color, fallback: .color(red: 0, green: 0, blue: 0, alpha: 255),
            summary: "Sets the colour of the shadow"),
    ]

    var layout: PixelLayout { color.red == color.green && color.green == color.blue ? .grayAlpha : .rgba }

    /// On whole pixels.
    func shift(in input: PixelRect) -> (x: Double, y: Double) {
        (x.pixels(of: input.width).rounded(), y.pixels(of: input.height).rounded())
    }

    /// The shadow, and how far it reaches beyond the picture. Its rectangle begins at 0, 0.
    ///
    /// - Parameter picture: always the same one, in some size.
    func cast(by picture: AnyRaster) -> (shadow: AnyRaster, reach: Halo) {
        latest.cast.withLock { cast in
            if let cast, cast.size == picture.rect { return (cast.shadow, cast.reach) }
            let (shadow, reach) = Silhouette(radius: radius, color: color, layout: layout).cast(by: picture)
            cast = (picture.rect, shadow, reach)
            return (shadow, reach)
        }
    }
}

/// The shadow of the latest size. All bands of a picture need the same.
private final class LatestShadow: Sendable {
    let cast = Mutex<(size: PixelRect, shadow: AnyRaster, reach: Halo)?>(nil)
}
