import Catalogs
import Geometry
import Kernels
import Raster
import Synchronization

/// The parameters of a picture in front of another one: where it lies, whether it repeats, how it is combined with what is behind it,
/// and its shadow.
struct FrontOptions {
    /// The part of the picture that `x` and `y` count from.
    private let anchor: Anchor
    private let x: Length
    private let y: Length
    let isTiled: Bool
    private let gap: Length
    /// 0–1.
    private let opacity: Double
    private let mode: BlendMode
    private let shadow: DropShadow?

    /// - Parameter filter: for messages.
    init(_ arguments: FilterArguments, of filter: String) throws(FilterError) {
        anchor = Anchor(rawValue: try arguments.word("anchor")) ?? .topLeft
        x = try arguments.length("x")
        y = try arguments.length("y")
        isTiled = try arguments.boolean("tiled")
        gap = try arguments.length("gap")
        opacity = try arguments.boolean("hidden") ? 0 : try arguments.number("opacity") / 100
        mode = BlendMode(rawValue: try arguments.word("blend")) ?? .normal
        shadow = try DropShadow(arguments)
        if isTiled, shadow != nil {
            throw FilterError(filter: filter, problem: .conflict(parameter: "tiled", value: "true", other: "shadow"))
        }
    }

    /// - Parameter noun: the picture in front, as summaries call it.
    static func places(of noun: String) -> [ParameterDescriptor] {
        [
            ParameterDescriptor(
                "anchor", .choice(Anchor.allCases.map(\.rawValue)), fallback: .word("top-left"),
                summary: "Chooses the side or corner of the picture where \(noun) lies"),
            ParameterDescriptor(
                "x", .length(), fallback: .length(.pixels(0)),
                summary: "Sets its distance from the left side, or from the right side with an anchor there"),
            ParameterDescriptor(
                "y", .length(), fallback: .length(.pixels(0)),
                summary: "Sets its distance from the top side, or from the bottom side with an anchor there"),
        ]
    }

    static func looks(of noun: String) -> [ParameterDescriptor] {
        [
            ParameterDescriptor(
                "tiled", .boolean, fallback: .boolean(false), summary: "Repeats it over the whole picture"),
            ParameterDescriptor(
                "gap", .distance, fallback: .length(.pixels(0)),
                summary: "Sets the distance between repeated copies. Percentages refer to their own size"),
            ParameterDescriptor(
                "opacity", .number(minimum: 0, maximum: 100), fallback: .number(100), unit: "%",
                summary: "Sets how opaque \(noun) is. 0 makes it invisible"),
            ParameterDescriptor(
                "blend", .choice(BlendMode.allCases.map(\.rawValue)), fallback: .word("normal"),
                summary: "Chooses how its colours combine with those behind it"),
        ] + DropShadow.parameters + [
            ParameterDescriptor("hidden", .boolean, fallback: .boolean(false), summary: "Leaves \(noun) out")
        ]
    }

    /// Whether nothing of it is visible.
    var isHidden: Bool { opacity == 0 }

    /// The side of the anchor.
    var side: Anchor.Side { anchor.horizontal }

    func outputLayout(for layout: PixelLayout, under front: PixelLayout) -> PixelLayout {
        let under = Overlay.layout(of: layout, under: front)
        return shadow.map { Overlay.layout(of: under, under: $0.layout) } ?? under
    }

    func cost(_ layout: PixelLayout) -> Double { (mode == .normal ? 1.6 : 2.4) * Double(layout.channels) }

    /// The largest width of a picture that does not reach beyond the sides of the input.
    func room(in input: PixelRect) -> Int {
        let distance = max(-1e9, min(x.pixels(of: input.width), 1e9))
        let taken =
            switch anchor.horizontal {
            case .low, .high: isTiled ? 0 : max(0, distance)
            case .middle: isTiled ? 0 : 2 * abs(distance)
            }
        return max(1, Int(Double(input.width) - taken))
    }

    /// Lays a picture over a part of the input.
    ///
    /// - Parameters:
    ///   - size: the picture is scaled to it.
    ///   - isSharp: whether it lies on whole pixels. Otherwise it may lie between them.
    ///   - mask: where it is visible; nil for everywhere.
    func lay(
        _ layer: Layer, of size: PictureSize, isSharp: Bool, over source: KernelSource, in input: PixelRect,
        within mask: Mask?, into destination: inout AnyRaster
    ) throws(FilterError) {
        let overlay = Overlay(try fronts(of: layer, size, isSharp, over: destination.rect, in: input))
        guard let mask else { return overlay.render(source, into: &destination) }
        func rendered(_ overlay: Overlay) -> AnyRaster {
            var result = AnyRaster(zeroed: destination.rect, layout: destination.layout, format: destination.format)
            overlay.render(source, into: &result)
            return result
        }
        // A gray picture becomes a colour picture if the one in front has colours.
        let original = destination.layout == source.raster.layout ? source : KernelSource(rendered(Overlay([])))
        Replacement(rendered(overlay)).render(original, light: .encoded, within: mask, into: &destination)
    }

    /// The pictures to be laid over a part of the input, the lowest first.
    private func fronts(
        of layer: Layer, _ size: PictureSize, _ isSharp: Bool, over part: PixelRect, in input: PixelRect
    ) throws(FilterError) -> [Overlay.Front] {
        guard !input.isEmpty else { return [] }
        let place = place(of: size, isSharp, in: input)
        if isTiled {
            let picture = try layer.scaled(to: size)
            return [
                Overlay.Front(
                    picture, x: Int(place.x), y: Int(place.y), repeatedBy: period(of: size), opacity: opacity,
                    mode: mode)
            ]
        }
        var fronts: [Overlay.Front] = []
        if let shadow {
            let (cast, reach) = shadow.cast(by: layer, try layer.scaled(to: size, isLimited: true))
            let shift = shadow.shift(in: input)
            fronts.append(
                Overlay.Front(
                    cast, x: place.x - Double(reach.left) + shift.x, y: place.y - Double(reach.top) + shift.y,
                    opacity: opacity * shadow.opacity))
        }
        guard layer.isLarge(size) else {
            let picture = try layer.scaled(to: size)
            return fronts + [Overlay.Front(picture, x: place.x, y: place.y, opacity: opacity, mode: mode)]
        }
        // Of a huge picture, only the visible part is made.
        let own = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        let visible = part.translated(x: -Int(place.x), y: -Int(place.y)).intersection(own)
        guard !visible.isEmpty else { return fronts }
        return fronts + [
            Overlay.Front(
                layer.scaledPart(visible, of: size), x: place.x + Double(visible.x), y: place.y + Double(visible.y),
                opacity: opacity, mode: mode)
        ]
    }

    /// The first corner of a picture of this size.
    private func place(of size: PictureSize, _ isSharp: Bool, in input: PixelRect) -> (x: Double, y: Double) {
        if anchor == .topLeft, !isTiled, !isSharp {
            // Any fraction of a pixel.
            return (x.coordinate(along: input.columns), y.coordinate(along: input.rows))
        }
        return (
            anchor.horizontal.position(of: size.width, x, along: input.columns),
            anchor.vertical.position(of: size.height, y, along: input.rows)
        )
    }

    /// The distances of the copies.
    private func period(of size: PictureSize) -> (x: Int, y: Int) {
        func distance(_ side: Int) -> Int { side + Int(min(gap.pixels(of: side), 1e7).rounded()) }
        return (distance(size.width), distance(size.height))
    }
}

/// A side or corner of a picture.
enum Anchor: String, CaseIterable {
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

/// The shadow of a picture in front: its outline in one colour, softened by a Gaussian.
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
    /// - Parameter picture: the layer in some size.
    func cast(by layer: Layer, _ picture: AnyRaster) -> (shadow: AnyRaster, reach: Halo) {
        latest.cast.withLock { cast in
            if let cast, cast.layer === layer, cast.size == picture.rect { return (cast.shadow, cast.reach) }
            let (shadow, reach) = Silhouette(radius: radius, color: color, layout: layout).cast(by: picture)
            cast = (layer, picture.rect, shadow, reach)
            return (shadow, reach)
        }
    }
}

/// The shadow of the latest size. All bands of a picture need the same.
private final class LatestShadow: Sendable {
    let cast = Mutex<(layer: Layer, size: PixelRect, shadow: AnyRaster, reach: Halo)?>(nil)
}
