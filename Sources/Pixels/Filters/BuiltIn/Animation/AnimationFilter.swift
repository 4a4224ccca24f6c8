package import Catalogs
package import Geometry
package import JobModel
import Kernels
package import Raster

/// A filter that creates the frames of an animation from a picture: all frames, one below the other, or a single one.
///
/// A frame's pixels are those of ``still(_:)``, whatever its position. Frames have the extent of the input.
package struct AnimationFilter: Filter {
    /// Creates the filter of one frame from the filters that fade in.
    package typealias Still = @Sendable (_ timeline: Timeline, _ frame: Int, _ filters: any Filter) -> any Filter

    /// Which frames are visible.
    private enum Choice {
        case all
        /// From 0.
        case one(Int)
        case last
    }

    /// The name in manifests.
    private let name: String
    package let timeline: Timeline
    private let choice: Choice
    /// The number of preceding filters that fade in, and that this filter therefore applies itself.
    package let faded: Int
    private let makeStill: Still
    /// The filters that fade in, as one filter.
    private let filters: any Filter
    /// The filter of the only visible frame.
    private let only: (any Filter)?

    /// Reads the parameters that all animations have. Whether there are such frames is not checked: see ``problem``.
    init(
        _ arguments: FilterArguments, named name: String, faded: Int = 0,
        still: @escaping @Sendable (_ clock: AnimationClock, _ filters: any Filter) -> any Filter
    ) throws(FilterError) {
        let (delay, duration) = (try arguments.number("delay"), try arguments.number("duration"))
        let hold = try arguments.numbers("hold")
        let timeline = Timeline(
            duration: delay + duration, fps: try arguments.number("fps"),
            repetitions: try arguments.integer("repeat"), isThereAndBack: try arguments.boolean("there_and_back"),
            hold: Timeline.Hold(first: hold?["first"] ?? 0, last: hold?["last"] ?? 0))
        let choice: Choice =
            if arguments.isWord(FilterInvocation.frame) {
                try arguments.word(FilterInvocation.frame) == "all" ? .all : .last
            } else {
                .one(try arguments.integer(FilterInvocation.frame) - 1)
            }
        self.init(name, timeline, choice, faded: faded) { timeline, frame, filters in
            still(AnimationClock(timeline: timeline, frame: frame, delay: delay, duration: duration), filters)
        }
    }

    private init(
        _ name: String, _ timeline: Timeline, _ choice: Choice, faded: Int, filters: any Filter = NoFilter(),
        still: @escaping Still
    ) {
        (self.name, self.timeline, self.choice, self.faded, self.filters) = (name, timeline, choice, faded, filters)
        makeStill = still
        only = Self.shown(choice, timeline).map { still(timeline, $0, filters) }
    }

    private static func shown(_ choice: Choice, _ timeline: Timeline) -> Int? {
        switch choice {
        case .all: nil
        case .one(let frame): frame
        case .last: timeline.count - 1
        }
    }

    static let most = 10_000

    /// The only visible frame, from 0; nil for all frames.
    package var shown: Int? { Self.shown(choice, timeline) }

    /// The number of frames of its output.
    package var frames: Int { shown == nil ? timeline.count : 1 }

    /// The error if there are too many frames, or if the chosen one does not exist.
    package var problem: FilterError? {
        let reason: String
        if timeline.count > Self.most {
            reason = "'duration' and 'fps' make \(timeline.count) frames; an animation has at most \(Self.most)"
        } else if let shown, shown >= timeline.count {
            reason = "there is no frame \(shown + 1) of \(timeline.count)"
        } else {
            return nil
        }
        return FilterError(filter: name, problem: .failed(reason: reason))
    }

    /// The same filter with the filters that fade in.
    package func fading(_ filters: any Filter) -> AnimationFilter {
        AnimationFilter(name, timeline, choice, faded: faded, filters: filters, still: makeStill)
    }

    /// The animations as one that is as long as the longest of them. Each frame has the result of the first animation,
    /// changed by the next one, and so on. The last animation decides what all share: the rate, holds and visible frames.
    ///
    /// - Parameters:
    ///   - animations: at least one.
    ///   - chained: several filters as one.
    package static func joining(
        _ animations: [AnimationFilter], chained: @escaping @Sendable ([any Filter]) -> any Filter
    ) -> AnimationFilter {
        guard let first = animations.first, let last = animations.last, animations.count > 1 else {
            return animations[0]
        }
        let shared = last.timeline
        let timeline = Timeline(
            duration: animations.reduce(0) { max($0, $1.timeline.duration) }, fps: shared.fps,
            repetitions: shared.repetitions, isThereAndBack: shared.isThereAndBack, hold: shared.hold)
        let stills = animations.map(\.makeStill)
        return AnimationFilter(first.name, timeline, last.choice, faded: first.faded) { timeline, frame, filters in
            chained(stills.map { $0(timeline, frame, filters) })
        }
    }

    private func still(_ frame: Int) -> any Filter { only ?? makeStill(timeline, frame, filters) }
    /// The filter of the frame at the end, which reads as much as any other frame.
    private var last: any Filter { still(timeline.turn) }

    package var isIdentity: Bool { false }
    package var edge: Edge { .clamp }
    package var halo: Halo { last.halo }
    package var isEven: Bool { shown != nil && last.isEven }
    package var hasForeignGeometry: Bool { filters.hasForeignGeometry }
    package func checkGeometry() throws { try filters.checkGeometry() }
    package var needsWhole: Bool { filters.needsWhole }
    package func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String? {
        filters.objection(to: layout, samples)
    }
    package func halo(in input: PixelRect) -> Halo { last.halo(in: input) }
    package func isRowLocal(in input: PixelRect) -> Bool { shown != nil && last.isRowLocal(in: input) }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { last.outputLayout(for: layout) }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { last.cost(layout, format) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        last.cost(layout, format, in: input)
    }

    package func extent(of input: PixelRect) -> PixelRect {
        PixelRect(x: input.x, y: input.y, width: input.width, height: input.height * frames)
    }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let needed = parts(of: output, input).map { still($0.frame).needed(for: $0.rect, in: input) }
        return needed.dropFirst().reduce(needed.first ?? .empty) { $0.union($1) }
    }

    /// The parts of the frames in a rectangle of the output, in coordinates of the input.
    package func parts(of output: PixelRect, _ input: PixelRect) -> [(frame: Int, rect: PixelRect)] {
        if let shown { return [(shown, output)] }
        guard !output.isEmpty else { return [] }
        let frames = (output.y - input.y) / input.height...(output.bottom - 1 - input.y) / input.height
        return frames.map { frame in
            (frame, output.translated(x: 0, y: -frame * input.height).intersection(input))
        }
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        if let shown { return try still(shown).render(source.showing(frame: shown), into: &destination) }
        for (frame, rect) in parts(of: destination.rect, source.extent) {
            var picture = AnyRaster(zeroed: rect, layout: destination.layout, format: destination.format)
            try still(frame).render(source.showing(frame: frame), into: &picture)
            destination.paste(picture.translated(x: 0, y: frame * source.extent.height))
        }
    }
}

/// The time of one frame, as an animation sees it that may begin later than others.
struct AnimationClock: Sendable {
    let timeline: Timeline
    let frame: Int
    /// When the animation begins, in seconds.
    let delay: Double
    /// The seconds that it takes.
    let duration: Double

    /// The time of the frame; see ``Timeline/time(of:)``.
    var time: Double { timeline.time(of: frame) }

    /// The time that was shown `seconds` before.
    func time(before seconds: Double) -> Double { timeline.isOnWayBack(frame) ? time + seconds : time - seconds }

    /// The share of the animation's duration that has passed at a time. Below 0 it has not begun, above 1 it has ended.
    func share(at time: Double) -> Double { (timeline.moment(at: time) - delay) / duration }
}

/// The parameters that all animations have.
enum AnimationParameters {
    static func all(duration: Double) -> [ParameterDescriptor] {
        [
            ParameterDescriptor(
                "duration", .number(minimum: 0.001, maximum: 36_000), fallback: .number(duration), unit: "s",
                summary: "Sets the time from the beginning to the end"),
            ParameterDescriptor(
                "delay", .number(minimum: 0, maximum: 36_000), fallback: .number(0), unit: "s",
                summary: "Sets when it begins"),
            ParameterDescriptor(
                "fps", .number(minimum: 0.1, maximum: 240), fallback: .number(30),
                summary: "Sets the number of frames a second"),
            ParameterDescriptor(
                "repeat", .integer(minimum: 0, maximum: 65535), fallback: .integer(0),
                summary: "Sets how often a viewer plays the animation. 0 plays it without end"),
            ParameterDescriptor(
                "hold",
                .numbers([NamedRange("first", 0...600, fallback: 0), NamedRange("last", 0...600, fallback: 0)]),
                summary: "Shows the first frame, or the frame at the end, for so many seconds more"),
            ParameterDescriptor(
                "there_and_back", .boolean, fallback: .boolean(false),
                summary: "Plays the animation backwards after its end, to its beginning"),
            ParameterDescriptor(
                FilterInvocation.frame,
                .integerOrWord(minimum: 1, maximum: AnimationFilter.most, words: ["all", "last"]),
                fallback: .word("all"),
                summary:
                    "Chooses the only frame that is rendered. With {frame} in the output's path, each frame becomes a file"
            ),
        ]
    }

    static let curves = ["linear", "ease-in", "ease-out", "ease-in-out"]
}

extension Easing {
    /// - Parameter curve: one of ``AnimationParameters/curves``.
    init(curve: String) {
        self =
            switch curve {
            case "ease-in": .easeIn
            case "ease-out": .easeOut
            case "ease-in-out": .easeInOut
            default: .linear
            }
    }
}

/// A filter that returns its input.
struct NoFilter: Filter {
    var isIdentity: Bool { true }
    var edge: Edge { .clamp }
    var halo: Halo { .none }
    func extent(of input: PixelRect) -> PixelRect { input }
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    func render(_ source: FilterSource, into destination: inout AnyRaster) {
        source.pixels.copyPixels(to: &destination)
    }
}
