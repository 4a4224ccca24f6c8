import CPenumbraPlugin
import Filters
import Geometry
import Kernels
import Synchronization

/// The geometry of a plugin with certain values: its input and its output's extent.
///
/// A plugin's geometry functions cannot report errors. If the header forbids an answer, it is recorded and replaced by a
/// harmless one. ``check()`` throws the error before any pixel is rendered.
struct PluginGeometry: Sendable {
    private let functions: PluginFunctions
    private let values: [Double]
    /// The halo of plugins without their own region of interest.
    private let halo: Halo
    let growth: Halo
    private let faults = GeometryFaults()

    /// The longest side of an extent.
    private static let longestSide = 1_000_000
    /// The largest coordinate of an answer. Memory grows with the distance between the input and the output.
    fileprivate static let farthest = 10_000_000

    /// Returns nil if the plugin requests a halo or growth beyond the header's bounds.
    init?(_ functions: PluginFunctions, _ values: [Double]) {
        guard let halo = Halo(functions.halo, values: values), let growth = Halo(functions.growth, values: values)
        else { return nil }
        self.functions = functions
        self.values = values
        self.halo = halo
        self.growth = growth
    }

    /// Whether every pixel is read around its own position.
    var isPlain: Bool { functions.extent == nil && functions.regionOfInterest == nil }

    /// Throws ``PluginFaultError`` if the header forbids an answer.
    func check() throws(PluginFaultError) {
        if let fault = faults.first { throw fault }
    }

    /// The output's extent from the plugin; nil if the plugin leaves it to the host.
    func extent(of input: PixelRect) -> PixelRect? {
        guard let extent = functions.extent else { return nil }
        let answer = FloatingPointMode.kept {
            values.withUnsafeBufferPointer { extent(penumbra_rect(input), $0.baseAddress) }
        }
        let longest = (Self.longestSide, Self.longestSide)
        if let rect = PixelRect(checking: answer, longest: longest) { return rect }
        faults.note("extent", answer, for: input, "sides are 1…\(Self.longestSide) pixels long")
        return input
    }

    /// The input for `output`, within the header's bounds.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard let region = functions.regionOfInterest else { return output.expanded(by: halo) }
        let answer = FloatingPointMode.kept {
            values.withUnsafeBufferPointer { region(penumbra_rect(output), penumbra_rect(input), $0.baseAddress) }
        }
        let more = 2 * Halo.widestOfPlugin
        if let rect = PixelRect(checking: answer, longest: (output.width + more, output.height + more)) { return rect }
        faults.note("region_of_interest", answer, for: output, "no side is empty or over \(more) pixels longer")
        return output
    }

    /// The plugin's input for `area`, from the pixels that were gathered for a larger output.
    func source(for area: PixelRect, in source: FilterSource) throws(PluginFaultError) -> PixelRect {
        let read = needed(for: area, in: source.extent)
        try check()
        guard source.pixels.columns.range.contains(read.columns), source.pixels.rows.range.contains(read.rows) else {
            throw PluginFaultError(
                "its function 'region_of_interest' answers \(read.words) for \(area.words), which is more than for a larger "
                    + "output; report this to its author")
        }
        return read
    }

    /// The largest halo of nine parts of the picture, for plans only.
    func halo(in input: PixelRect) -> Halo {
        guard functions.regionOfInterest != nil, !input.isEmpty else { return halo }
        let output = extent(of: input) ?? input
        let columns = [output.x, output.x + output.width / 2, output.right - 1]
        let rows = [output.y, output.y + output.height / 2, output.bottom - 1]
        return rows.reduce(Halo.none) { widest, y in
            columns.reduce(widest) { widest, x in
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                return widest.covering(needed(for: pixel, in: input), around: pixel)
            }
        }
    }
}

/// The first forbidden answer of a plugin.
private final class GeometryFaults: Sendable {
    // A mutex, because any thread may call the functions.
    private let fault = Mutex<PluginFaultError?>(nil)

    var first: PluginFaultError? { fault.withLock { $0 } }

    func note(_ function: String, _ answer: penumbra_rect, for rect: PixelRect, _ rule: String) {
        let rule = answer.isNear ? rule : "places lie within \(PluginGeometry.farthest) pixels of 0, 0"
        let words = "\(answer.width)×\(answer.height) at \(answer.x), \(answer.y)"
        let found = PluginFaultError(
            "its function '\(function)' answers \(words) for \(rect.words), and \(rule); report this to its author")
        fault.withLock { $0 = $0 ?? found }
    }
}

extension Halo {
    fileprivate func covering(_ needed: PixelRect, around pixel: PixelRect) -> Halo {
        Halo(
            left: max(left, pixel.x - needed.x), top: max(top, pixel.y - needed.y),
            right: max(right, needed.right - pixel.right), bottom: max(bottom, needed.bottom - pixel.bottom)) ?? self
    }
}

extension penumbra_rect {
    fileprivate var isNear: Bool {
        let positions = Int64(-PluginGeometry.farthest)...Int64(PluginGeometry.farthest)
        return positions.contains(x) && positions.contains(y)
    }
}

extension PixelRect {
    fileprivate var words: String { "\(width)×\(height) at \(x), \(y)" }

    /// Returns nil for an empty rectangle, or one that is too far away or too large.
    fileprivate init?(checking rect: penumbra_rect, longest: (width: Int, height: Int)) {
        guard rect.isNear, (1...Int64(longest.width)).contains(rect.width),
            (1...Int64(longest.height)).contains(rect.height)
        else { return nil }
        self.init(x: Int(rect.x), y: Int(rect.y), width: Int(rect.width), height: Int(rect.height))
    }
}
