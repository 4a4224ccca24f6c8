package import Catalogs
package import Geometry
package import JobModel
package import Kernels
package import Raster

/// A filter with its parameters. It answers questions about geometry without pixels, and renders.
///
/// All coordinates are those of the whole, upright first input of a chain, so a filter may align a grid to them. Its output at
/// a pixel must not depend on the requested rectangle.
package protocol Filter: Sendable {
    /// Whether the filter changes no input. It is then never rendered.
    var isIdentity: Bool { get }
    /// Whether all samples of its output are samples of its input, perhaps at other places. Finer samples are then of no use to
    /// it.
    var copiesSamples: Bool { get }
    /// What limits the filter to a part of the picture; nil for the whole picture.
    var masking: MaskOptions? { get }
    /// The rule for pixels outside the input.
    var edge: Edge { get }
    /// The largest margin that ``needed(for:in:)`` adds to a rectangle.
    var halo: Halo { get }

    /// The halo in pixels of an input, for filters whose halo depends on the input's size.
    func halo(in input: PixelRect) -> Halo
    /// Whether all tiles read approximately the same halo. If not, plans call ``needed(for:in:)`` for tiles all over the
    /// picture, instead of counting the halo for each.
    var isEven: Bool { get }
    /// The number of input pixels for one output pixel, along each axis.
    func scale(in input: PixelRect) -> (x: Double, y: Double)
    /// Whether every row of the output needs only nearby rows of the input, so that pictures can be filtered while they are
    /// decoded.
    func isRowLocal(in input: PixelRect) -> Bool

    /// The domain of definition of the output.
    func extent(of input: PixelRect) -> PixelRect

    /// Why the filter's values do not suit an input of this extent, in words for messages. Nil if they do.
    func misfit(in input: PixelRect) -> String?

    /// The coordinates that are read for `output`, a part of the output's extent. They may lie outside `input`, where ``edge``
    /// applies.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect

    /// Whether ``extent(of:)`` and ``needed(for:in:)`` run code of a plugin.
    var hasForeignGeometry: Bool { get }
    /// Throws `FilterError` if such code has returned an invalid answer. Callers that plan with the answers call this
    /// afterwards. ``render(_:into:)`` throws the same error.
    func checkGeometry() throws

    func outputLayout(for layout: PixelLayout) -> PixelLayout

    /// Whether any part of the output costs as much as all of it, and reads the whole input. Then the picture is never rendered in
    /// tiles or bands.
    var needsWhole: Bool { get }
    /// Why the filter cannot work on such pixels, as a sentence without its full stop. Nil if it can.
    func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String?

    /// The time of one core for a pixel of the output, in nanoseconds. It is a rough estimate, with which the planner chooses
    /// between whole frames and tiles.
    ///
    /// - Parameter layout: the layout of the input.
    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double
    /// The same for an input of a certain extent, if the cost depends on it.
    func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double

    /// The filter in the form that keeps its state from band to band. Nil if there is none for this picture. Without it, each band reads the
    /// rows of its halo again.
    ///
    /// - Parameters:
    ///   - input: the extent of the whole input.
    ///   - layout: the layout of the input.
    ///   - output: the part of the output that is written, from the top down.
    func runningForm(of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat)
        -> RunningForm?

    /// Writes every pixel of `destination`. It is all zeros, and has the layout of ``outputLayout(for:)`` and the input's
    /// sample format. Performs no I/O.
    func render(_ source: FilterSource, into destination: inout AnyRaster) throws
}

/// The input of a filter while it renders one rectangle.
package struct FilterSource: Sendable {
    /// The pixels, which cover the rectangle of ``Filter/needed(for:in:)``.
    package let pixels: KernelSource
    /// The extent of the filter's whole input.
    package let extent: PixelRect
    /// The frame of an animation, from 0; 0 for a still, and for each page of a document. Filters such as noise use it to
    /// differ from frame to frame.
    package let frame: Int

    package init(pixels: KernelSource, extent: PixelRect, frame: Int = 0) {
        self.pixels = pixels
        self.extent = extent
        self.frame = frame
    }

    /// The same input, as another frame of an animation.
    package func showing(frame: Int) -> FilterSource { FilterSource(pixels: pixels, extent: extent, frame: frame) }
}

extension Filter {
    package func halo(in input: PixelRect) -> Halo { halo }

    package var masking: MaskOptions? { nil }

    package func misfit(in input: PixelRect) -> String? { nil }

    package var isEven: Bool { true }

    package var copiesSamples: Bool { false }

    package func runningForm(
        of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) -> RunningForm? { nil }

    package var hasForeignGeometry: Bool { false }

    package var needsWhole: Bool { false }

    package func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String? { nil }

    package func checkGeometry() throws {}

    package func scale(in input: PixelRect) -> (x: Double, y: Double) { (1, 1) }

    /// Only ``Edge/wrap`` needs the last rows for the first.
    package func isRowLocal(in input: PixelRect) -> Bool { edge != .wrap || halo.top + halo.bottom == 0 }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 5 * Double(layout.channels) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        cost(layout, format)
    }

    /// The parts of an input of this extent that must be read for `output`, and the position of each pixel in them.
    package func sourceMap(for output: PixelRect, in input: PixelRect) -> SourceMap {
        SourceMap(needed: needed(for: output, in: input), input: input, edge: edge)
    }

    /// The rectangles of the input that must be read for `output`. They are disjoint: one, or up to four with ``Edge/wrap``.
    package func regionOfInterest(for output: PixelRect, in input: PixelRect) -> [PixelRect] {
        sourceMap(for: output, in: input).rects
    }
}

/// The reason why a filter cannot be created or has failed.
///
/// The manifest reader finds bad values first and shows their position. These messages appear when a chain is built in another
/// way.
package struct FilterError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case unknownFilter(offered: [String])
        case unknownParameter(String, offered: [String])
        case missing(parameter: String)
        case wrongKind(parameter: String, expected: String)
        case outOfRange(parameter: String, value: Double, minimum: Double, maximum: Double)
        case unknownWord(parameter: String, word: String, offered: [String])
        /// `parameter`, or its value, cannot be combined with `other`, or with its value.
        case conflict(parameter: String, value: String?, other: String)
        /// It needs a measurement of the picture as it is in its file, and other filters stand before it.
        case unmeasured
        /// A plugin reported a failure, or did not follow the interface.
        case failed(reason: String)
        /// A plugin did something that no plugin is allowed to do.
        case fault(reason: String)
    }

    package let filter: String
    package let problem: Problem

    package init(filter: String, problem: Problem) {
        self.filter = filter
        self.problem = problem
    }
}

extension FilterError: CustomStringConvertible {
    package var description: String {
        if case .unknownFilter(let offered) = problem {
            return "unknown filter '\(filter)'; there are \(Self.list(offered))"
        }
        return "\(filter): \(reason)"
    }

    /// The problem, without the filter's name.
    package var reason: String {
        switch problem {
        case .unknownFilter(let offered):
            "there is no such filter; there are \(Self.list(offered))"
        case .unknownParameter(let name, let offered):
            "unknown parameter '\(name)'; there are \(Self.list(offered))"
        case .missing(let parameter):
            "'\(parameter)' needs a value"
        case .wrongKind(let parameter, let expected):
            "'\(parameter)' takes \(expected)"
        case .outOfRange(let parameter, let value, let minimum, let maximum):
            "'\(parameter)' is \(value), but must be in \(minimum)…\(maximum)"
        case .unknownWord(let parameter, let word, let offered):
            "'\(parameter)' cannot be '\(word)'; there are \(Self.list(offered))"
        case .conflict(let parameter, let value, let other):
            "'\(parameter)\(value.map { ": \($0)" } ?? "")' does not go with '\(other)'; leave one of them out"
        case .unmeasured:
            "measures the picture as it is in its file, and must be the first filter"
        case .failed(let reason), .fault(let reason):
            reason
        }
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

/// Finds out from the pixels of a picture what a filter has to know before anything is planned.
package protocol PictureMeasure: AnyObject {
    /// Takes rows of the picture, from the top down, in its full width and in coordinates that begin at (0, 0). The frames of
    /// an animation come one after the other.
    func add(_ rows: AnyRaster)
    /// Called when all rows were taken.
    ///
    /// - Parameter part: the part of the picture that the filters before this one keep.
    func measurement(of part: PixelRect) -> Measurement
}

/// A filter for manifests: its name and parameters, and the function that creates it from values.
package struct FilterEntry: Sendable {
    package typealias Make = @Sendable (FilterArguments) throws -> any Filter
    package typealias MakeMeasure =
        @Sendable (FilterArguments, PixelRect, PixelLayout, SampleFormat) throws -> any PictureMeasure
    /// Nil if the measurement is of another kind.
    package typealias MakeMeasured = @Sendable (FilterArguments, Measurement) throws -> (any Filter)?

    private enum Making: Sendable {
        case make(Make)
        case measuring(MakeMeasure, make: MakeMeasured)
    }

    package let descriptor: FilterDescriptor
    private let making: Making

    package init(_ descriptor: FilterDescriptor, make: @escaping Make) {
        precondition(descriptor.measures == nil, "a filter that needs a measurement is made of one")
        self.descriptor = descriptor
        making = .make(make)
    }

    /// A filter that depends on the pixels of the picture.
    package init(_ descriptor: FilterDescriptor, measuring: @escaping MakeMeasure, make: @escaping MakeMeasured) {
        precondition(descriptor.measures != nil, "everybody can see that the filter needs a measurement")
        self.descriptor = descriptor
        making = .measuring(measuring, make: make)
    }

    /// Throws ``FilterError`` if a value is not valid.
    ///
    /// - Parameter measurement: for a filter that needs one.
    package func makeFilter(
        _ values: [String: ParameterValue], pictures: PictureSource = .none, programs: ProgramSource = .none,
        measurement: Measurement? = nil
    ) throws -> any Filter {
        let arguments = try FilterArguments(values, descriptor: descriptor, pictures: pictures, programs: programs)
        switch making {
        case .make(let make): return try make(arguments)
        case .measuring(_, let make):
            guard let measurement, let filter = try make(arguments, measurement) else {
                throw FilterError(filter: descriptor.name, problem: .unmeasured)
            }
            return filter
        }
    }

    /// What measures a picture for the filter. Nil if it needs no measurement. Throws ``FilterError`` if a value is not valid.
    package func makeMeasure(
        _ values: [String: ParameterValue], of picture: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) throws -> (any PictureMeasure)? {
        guard case .measuring(let measuring, _) = making else { return nil }
        return try measuring(FilterArguments(values, descriptor: descriptor), picture, layout, format)
    }

    /// The same filter wrapped in another one, which observes its creation and its calls. Filters that need a measurement
    /// are not wrapped: no plugin is one.
    package func wrapping(
        _ wrap: @escaping @Sendable (_ make: () throws -> any Filter) throws -> any Filter
    ) -> FilterEntry {
        guard case .make(let make) = making else { return self }
        return FilterEntry(descriptor) { arguments in try wrap { try make(arguments) } }
    }
}

/// All filters of an installation, by name.
package struct FilterRegistry: Sendable {
    private let entries: [String: FilterEntry]
    private let pictures: PictureSource
    private let programs: ProgramSource

    /// If two entries have the same name, the first one is used.
    package init(_ entries: [FilterEntry], pictures: PictureSource = .none, programs: ProgramSource = .none) {
        self.pictures = pictures
        self.programs = programs
        self.entries = Dictionary(entries.map { ($0.descriptor.name, $0) }) { first, _ in first }
    }

    /// The descriptors, sorted by name.
    package var descriptors: [FilterDescriptor] { entries.values.map(\.descriptor).sorted { $0.name < $1.name } }

    /// Throws ``FilterError`` if there is no such filter, or if a value is not valid.
    ///
    /// - Parameter measurement: for a filter that needs one.
    package func makeFilter(_ invocation: FilterInvocation, measurement: Measurement? = nil) throws -> any Filter {
        try entry(invocation).makeFilter(
            invocation.values, pictures: pictures, programs: programs, measurement: measurement)
    }

    /// What measures a picture for a filter. Nil if the filter needs no measurement. Throws as ``makeFilter(_:measurement:)``
    /// does.
    package func makeMeasure(
        _ invocation: FilterInvocation, of picture: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) throws -> (any PictureMeasure)? {
        try entry(invocation).makeMeasure(invocation.values, of: picture, layout, format)
    }

    private func entry(_ invocation: FilterInvocation) throws(FilterError) -> FilterEntry {
        guard let entry = entries[invocation.filter] else {
            throw FilterError(filter: invocation.filter, problem: .unknownFilter(offered: entries.keys.sorted()))
        }
        return entry
    }
}
