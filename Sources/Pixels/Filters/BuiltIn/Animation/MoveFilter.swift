import Arithmetic
import Catalogs
import Geometry
import JobModel
import Kernels
import Raster
import Synchronization

/// `move`: another picture moves along a path in front of the input, blurred according to its speed.
enum MoveFilter {
    static let entry = FilterEntry(
        FilterDescriptor(
            name: "move", kind: .animation,
            summary: "Moves another picture in front of the picture, blurred by its speed",
            renderingVersion: 3,
            parameters: [
                ParameterDescriptor(
                    "picture", .layer, summary: "Names the picture that moves, from the folder of the manifest",
                    requiredLike: "logo.png"),
                ParameterDescriptor(
                    "path", .path, summary: "Lists the places of its top left corner, from the first to the last one",
                    requiredLike: "[{x: 0, y: 50%}, {x: 80%, y: 50%}]"),
            ] + AnimationParameters.all(duration: 1) + [
                ParameterDescriptor(
                    "curve", .choice(AnimationParameters.curves), fallback: .word("ease-in-out"),
                    summary: "Chooses how the speed changes on the way"),
                ParameterDescriptor(
                    "spring",
                    .numbers([
                        NamedRange("damping", 0.01...1), NamedRange("velocity", -1000...1000, fallback: 0),
                    ]),
                    summary:
                        "Lets the picture swing about its end. With damping 1 it does not swing. 'velocity' is the speed at the beginning, in lengths of the way a second"
                ),
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 1000), fallback: .number(40), unit: "px",
                    summary:
                        "Sets the radius of a blurred copy. The faster the picture moves, the more visible the copy is"),
                ParameterDescriptor(
                    "shutter", .boolean, fallback: .boolean(false),
                    summary: "Blurs as a camera does instead: by the mean of all places while the shutter is open"),
                ParameterDescriptor(
                    "shutter_angle", .number(minimum: 0, maximum: 360), fallback: .number(180), unit: "°",
                    summary: "Sets how long the shutter is open. 360 is the whole time of a frame"),
            ],
            rules: [.replaces(parameter: "spring", others: ["curve"])], refusesValues: true),
        make: { try make($0) })

    private static func make(_ arguments: FilterArguments) throws -> any Filter {
        let duration = try arguments.number("duration")
        let easing: Easing
        if let spring = try arguments.numbers("spring") {
            easing = .spring(
                Spring(damping: spring["damping"] ?? 1, velocity: spring["velocity"] ?? 0, duration: duration))
        } else {
            easing = Easing(curve: try arguments.word("curve"))
        }
        let blur: MovingLayer.Blur =
            try arguments.boolean("shutter")
            ? .shutter(angle: try arguments.number("shutter_angle")) : .swept(radius: try arguments.number("radius"))
        let layer = MovingLayer(
            layer: try arguments.layer("picture"), path: try arguments.path("path"), easing: easing, blur: blur)
        return try AnimationFilter(arguments, named: "move") { clock, _ in MoveStill(layer: layer, clock: clock) }
    }
}

/// A moving picture.
private struct MovingLayer: Sendable {
    enum Blur: Sendable {
        /// A blur along the path, laid over the picture.
        case swept(radius: Double)
        case shutter(angle: Double)
    }

    let layer: Layer
    let path: [Point]
    let easing: Easing
    let blur: Blur

    /// The visible layers in a frame.
    func fronts(at clock: AnimationClock, in input: PixelRect) -> [Overlay.Front] {
        let route = Route(
            path.map {
                Route.Point(x: $0.x.coordinate(along: input.columns), y: $0.y.coordinate(along: input.rows))
            })
        func progress(_ time: Double) -> Double { easing.progress(at: clock.share(at: time)) }
        func location(_ time: Double) -> Route.Point { route.position(at: progress(time)) }
        let time = clock.time
        let here = location(time)
        let sharp = Overlay.Front(layer.raster, x: here.x, y: here.y)
        switch blur {
        case .swept(let radius):
            // The visible speed: the distance since the display's last refresh.
            let opacity = Self.opacity(distance: location(clock.time(before: 1.0 / 60)).distance(to: here))
            guard opacity > 0, radius > 0, let line = route.line(at: progress(time)) else { return [sharp] }
            let swept = layer.swept(along: line.direction, radius: radius)
            return [
                sharp,
                Overlay.Front(
                    swept.picture, x: here.x - Double(swept.reach.x), y: here.y - Double(swept.reach.y),
                    opacity: opacity),
            ]
        case .shutter(let angle):
            let half = angle / 360 / clock.timeline.fps / 2
            guard half > 0, route.length > 0 else { return [sharp] }
            let shutter = Shutter(layer.raster, times: time - half...time + half, in: input, location: location)
            guard let mean = shutter.mean else { return [] }
            return [Overlay.Front(mean.picture, x: Double(mean.x), y: Double(mean.y))]
        }
    }

    /// clamp(log₂(d)/5, 0, 1), with d in pixels, as in fastred/MotionBlur (UIView+MotionBlur.m).
    private static func opacity(distance: Double) -> Double {
        distance > 1 ? min(DeterministicMath.log2(distance) / 5, 1) : 0
    }
}

/// One frame of a move.
private struct MoveStill: Filter {
    let layer: MovingLayer
    let clock: AnimationClock
    private let known = Fronts()

    /// The visible layers, which are the same for every part of the frame.
    private final class Fronts: Sendable {
        let value = Mutex<(input: PixelRect, fronts: [Overlay.Front])?>(nil)
    }

    init(layer: MovingLayer, clock: AnimationClock) { (self.layer, self.clock) = (layer, clock) }

    var isIdentity: Bool { false }
    var edge: Edge { .clamp }
    var halo: Halo { .none }
    func extent(of input: PixelRect) -> PixelRect { input }
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 1.6 * Double(layout.channels) }

    func outputLayout(for layout: PixelLayout) -> PixelLayout {
        Overlay.layout(of: layout, under: layer.layer.raster.layout)
    }

    func render(_ source: FilterSource, into destination: inout AnyRaster) {
        Overlay(fronts(in: source.extent)).render(source.pixels, into: &destination)
    }

    private func fronts(in input: PixelRect) -> [Overlay.Front] {
        known.value.withLock { known in
            if let known, known.input == input { return known.fronts }
            let fronts = layer.fronts(at: clock, in: input)
            known = (input, fronts)
            return fronts
        }
    }
}
