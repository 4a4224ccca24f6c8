package import Catalogs
package import Geometry
package import JobModel
package import Kernels
package import Raster

/// A filter with its parameters: it answers questions of geometry without pixels, then renders.
///
/// All coordinates are those of the whole, oriented first input of a chain, so a filter may anchor a grid to them. What
/// it writes at a pixel must not depend on the rectangle that was asked for.
package protocol Filter: Sendable {
    /// True when the filter changes nothing, whatever its input; it is then never rendered.
    var isIdentity: Bool { get }
    /// What the filter sees outside its input.
    var edge: Edge { get }
    /// The most that ``needed(for:in:)`` adds to a rectangle.
    var halo: Halo { get }

    /// The same in pixels of an input, where it depends on the input's size.
    func halo(in input: PixelRect) -> Halo
    /// False where some tiles read far more around them than others: plans then ask ``needed(for:in:)`` for tiles all over
    /// the picture, instead of counting the halo for each.
    var isEven: Bool { get }
    /// Pixels of the input to one of the output, along each axis.
    func scale(in input: PixelRect) -> (x: Double, y: Double)
    /// True when every row of the output needs only rows of the input near it, so that pictures can be
    /// filtered while they are decoded.
    func isRowLocal(in input: PixelRect) -> Bool

    /// The domain of definition of the output.
    func extent(of input: PixelRect) -> PixelRect

    /// The coordinates that are read for `output`, which lies in the output's extent. They may lie outside `input`;
    /// what is seen there is decided by ``edge``.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect

    /// True when ``extent(of:)`` and ``needed(for:in:)`` run code that is not Penumbra's.
    var hasForeignGeometry: Bool { get }
    /// Throws `FilterError` when such code has given an answer that no filter may give. Who plans by the answers asks
    /// this afterwards; ``render(_:into:)`` throws the same.
    func checkGeometry() throws

    func outputLayout(for layout: PixelLayout) -> PixelLayout

    /// What a pixel of the output takes of one core's time, in nanoseconds: a rough estimate, by which the planner
    /// chooses between whole frames and tiles.
    ///
    /// - Parameter layout: the input's.
    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double
    /// The same for an input of a certain extent, where it depends on that.
    func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double

    /// Writes every pixel of `destination`, which is all zeros, has the layout that ``outputLayout(for:)`` gave, and
    /// the input's sample format. Performs no I/O.
    func render(_ source: FilterSource, into destination: inout AnyRaster) throws
}

/// The input of a filter while it renders one rectangle.
package struct FilterSource: Sendable {
    /// Covers what ``Filter/needed(for:in:)`` asked for.
    package let pixels: KernelSource
    /// The extent of the filter's whole input.
    package let extent: PixelRect
    /// Which frame of an animation the input is, from 0; 0 of a still, and of each page of a document. Filters such as noise
    /// use it to differ from frame to frame.
    package let frame: Int

    package init(pixels: KernelSource, extent: PixelRect, frame: Int = 0) {
        self.pixels = pixels
        self.extent = extent
        self.frame = frame
    }

    /// The same input as another frame of an animation.
    package func showing(frame: Int) -> FilterSource { FilterSource(pixels: pixels, extent: extent, frame: frame) }
}

extension Filter {
    package func halo(in input: PixelRect) -> Halo { halo }

    package var isEven: Bool { true }

    package var hasForeignGeometry: Bool { false }

    package func checkGeometry() throws {}

    package func scale(in input: PixelRect) -> (x: Double, y: Double) { (1, 1) }

    /// Only ``Edge/wrap`` needs the last rows for the first.
    package func isRowLocal(in input: PixelRect) -> Bool { edge != .wrap || halo.top + halo.bottom == 0 }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 5 * Double(layout.channels) }

    package func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        cost(layout, format)
    }

    /// What must be read of an input of this extent for `output`, and where each pixel of it goes.
    package func sourceMap(for output: PixelRect, in input: PixelRect) -> SourceMap {
        SourceMap(needed: needed(for: output, in: input), input: input, edge: edge)
    }

    /// The rectangles of the input that must be read for `output`: disjoint, one, or up to four with ``Edge/wrap``.
    package func regionOfInterest(for output: PixelRect, in input: PixelRect) -> [PixelRect] {
        sourceMap(for: output, in: input).rects
    }
}

/// Why a filter cannot be made or has failed.
///
/// The manifest reader finds bad values first and shows where they stand; these messages reach those who build a chain
/// in another way.
package struct FilterError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case unknownFilter(offered: [String])
        case unknownParameter(String, offered: [String])
        case missing(parameter: String)
        case wrongKind(parameter: String, expected: String)
        case outOfRange(parameter: String, value: Double, minimum: Double, maximum: Double)
        case unknownWord(parameter: String, word: String, offered: [String])
        /// `parameter`, or this value of it, does not go with `other`, or with this value of it.
        case conflict(parameter: String, value: String?, other: String)
        /// A plugin said so, or did not keep to the interface.
        case failed(reason: String)
        /// A plugin did what no plugin may do.
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

    /// The problem, without the filter's name before it.
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
        case .failed(let reason), .fault(let reason):
            reason
        }
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

/// A filter that a manifest can ask for: what it is called and takes, and how to make one from values.
package struct FilterEntry: Sendable {
    package let descriptor: FilterDescriptor
    private let make: @Sendable (FilterArguments) throws -> any Filter

    package init(_ descriptor: FilterDescriptor, make: @escaping @Sendable (FilterArguments) throws -> any Filter) {
        self.descriptor = descriptor
        self.make = make
    }

    /// Throws ``FilterError`` when a value does not fit.
    package func makeFilter(_ values: [String: ParameterValue], pictures: PictureSource = .none) throws -> any Filter {
        try make(FilterArguments(values, descriptor: descriptor, pictures: pictures))
    }

    /// The same filter inside another one, which sees its making and its calls.
    package func wrapping(
        _ wrap: @escaping @Sendable (_ make: () throws -> any Filter) throws -> any Filter
    ) -> FilterEntry {
        let make = make
        return FilterEntry(descriptor) { arguments in try wrap { try make(arguments) } }
    }
}

/// All filters of an installation, by name.
package struct FilterRegistry: Sendable {
    private let entries: [String: FilterEntry]
    private let pictures: PictureSource

    /// Of two entries with one name, the first stays.
    package init(_ entries: [FilterEntry], pictures: PictureSource = .none) {
        self.pictures = pictures
        self.entries = Dictionary(entries.map { ($0.descriptor.name, $0) }) { first, _ in first }
    }

    /// Sorted by name.
    package var descriptors: [FilterDescriptor] { entries.values.map(\.descriptor).sorted { $0.name < $1.name } }

    /// Throws ``FilterError`` when there is no such filter, or a value does not fit.
    package func makeFilter(_ invocation: FilterInvocation) throws -> any Filter {
        guard let entry = entries[invocation.filter] else {
            throw FilterError(filter: invocation.filter, problem: .unknownFilter(offered: entries.keys.sorted()))
        }
        return try entry.makeFilter(invocation.values, pictures: pictures)
    }
}
