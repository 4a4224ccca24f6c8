package import Catalogs
package import Geometry
import JobModel
package import Kernels
package import Raster

/// A filter that creates the frames of an animation from a picture: all frames, one below the other, or a single one.
///
/// A frame's pixels are those of ``still``, whatever its position. Frames have the extent of the input.
package struct AnimationFilter: Filter {
    package let timeline: Timeline
    /// The only visible frame, from 0; nil for all frames.
    package let shown: Int?
    /// The number of preceding filters that fade in, and that this filter therefore applies itself.
    package let faded: Int
    /// Those filters, as one filter.
    private var filters: any Filter = NoFilter()
    /// The filter of the only visible frame.
    private var only: (any Filter)?
    /// Creates the filter of one frame from the preceding filters.
    private let still: @Sendable (_ frame: Int, _ filters: any Filter) -> any Filter

    /// - Throws: `FilterError` if the frame does not exist, or if there are too many frames.
    init(
        _ arguments: FilterArguments, named name: String, faded: Int = 0,
        still: @escaping @Sendable (_ timeline: Timeline, _ frame: Int, _ filters: any Filter) -> any Filter
    ) throws(FilterError) {
        let timeline = Timeline(
            duration: try arguments.number("duration"), fps: try arguments.number("fps"),
            repetitions: try arguments.integer("repeat"))
        guard timeline.count <= Self.most else {
            throw FilterError(
                filter: name,
                problem: .failed(
                    reason: "'duration' and 'fps' make \(timeline.count) frames; an animation has at most \(Self.most)")
            )
        }
        shown =
            if arguments.isWord(FilterInvocation.frame) {
                try arguments.word(FilterInvocation.frame) == "all" ? nil : timeline.count - 1
            } else {
                try arguments.integer(FilterInvocation.frame) - 1
            }
        if let shown, shown >= timeline.count {
            throw FilterError(
                filter: name, problem: .failed(reason: "there is no frame \(shown + 1) of \(timeline.count)"))
        }
        self.timeline = timeline
        self.faded = faded
        self.still = { still(timeline, $0, $1) }
        only = shown.map { still(timeline, $0, NoFilter()) }
    }

    static let most = 10_000

    /// The number of frames of its output.
    package var frames: Int { shown == nil ? timeline.count : 1 }

    /// The same filter with the filters that fade in.
    package func fading(_ filters: any Filter) -> AnimationFilter {
        var copy = self
        copy.filters = filters
        copy.only = shown.map { still($0, filters) }
        return copy
    }

    private func still(_ frame: Int) -> any Filter { only ?? still(frame, filters) }
    /// The filter of the last frame, which reads as much as any other frame.
    private var last: any Filter { still(timeline.count - 1) }

    package var isIdentity: Bool { false }
    package var edge: Edge { .clamp }
    package var halo: Halo { last.halo }
    package var isEven: Bool { shown != nil && last.isEven }
    package var hasForeignGeometry: Bool { filters.hasForeignGeometry }
    package func checkGeometry() throws { try filters.checkGeometry() }
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

/// The parameters that all animations share.
enum AnimationParameters {
    static func all(duration: Double) -> [ParameterDescriptor] {
        [
            ParameterDescriptor(
                "duration", .number(minimum: 0.001, maximum: 36_000), fallback: .number(duration), unit: "s",
                summary: "Sets the time from the first frame to the last one"),
            ParameterDescriptor(
                "fps", .number(minimum: 0.1, maximum: 240), fallback: .number(30),
                summary: "Sets the number of frames a second"),
            ParameterDescriptor(
                "repeat", .integer(minimum: 0, maximum: 65535), fallback: .integer(0),
                summary: "Sets how often a viewer plays the animation. 0 plays it without end"),
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
