import CPenumbraPlugin
import Geometry

/// What a plugin with certain values reads, and where its output is defined.
struct PluginGeometry: Sendable {
    private let functions: PluginFunctions
    private let values: [Double]
    /// Of plugins without a region of interest of their own.
    private let halo: Halo
    let growth: Halo

    private static let longestSide = 1_000_000

    /// Nil when the plugin asks for a halo or growth beyond the header's bounds.
    init?(_ functions: PluginFunctions, _ values: [Double]) {
        guard let halo = Halo(functions.halo, values: values), let growth = Halo(functions.growth, values: values)
        else { return nil }
        self.functions = functions
        self.values = values
        self.halo = halo
        self.growth = growth
    }

    /// True when every pixel is read around its own place.
    var isPlain: Bool { functions.extent == nil && functions.regionOfInterest == nil }

    /// The output's extent as the plugin has it; nil when it leaves that to the host, or answers what cannot be.
    func extent(of input: PixelRect) -> PixelRect? {
        guard let extent = functions.extent else { return nil }
        let answer = FloatingPointMode.kept {
            values.withUnsafeBufferPointer { extent(penumbra_rect(input), $0.baseAddress) }
        }
        return PixelRect(checking: answer, longestSide: Self.longestSide)
    }

    /// What is read for `output`, as the header bounds it.
    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard let region = functions.regionOfInterest else { return output.expanded(by: halo) }
        let answer = FloatingPointMode.kept {
            values.withUnsafeBufferPointer { region(penumbra_rect(output), penumbra_rect(input), $0.baseAddress) }
        }
        let longest = max(output.width, output.height) + 2 * Halo.widestOfPlugin
        return PixelRect(checking: answer, longestSide: longest) ?? output
    }

    /// The most that a part of the picture needs around it, measured at nine places: for plans, not for pixels.
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

extension Halo {
    fileprivate func covering(_ needed: PixelRect, around pixel: PixelRect) -> Halo {
        Halo(
            left: max(left, pixel.x - needed.x), top: max(top, pixel.y - needed.y),
            right: max(right, needed.right - pixel.right), bottom: max(bottom, needed.bottom - pixel.bottom)) ?? self
    }
}

extension PixelRect {
    /// Nil for what is empty, far away or too large.
    fileprivate init?(checking rect: penumbra_rect, longestSide: Int) {
        let places = -(1 << 40)...Int64(1 << 40)
        let sides = 1...Int64(longestSide)
        guard places.contains(rect.x), places.contains(rect.y), sides.contains(rect.width), sides.contains(rect.height)
        else { return nil }
        self.init(x: Int(rect.x), y: Int(rect.y), width: Int(rect.width), height: Int(rect.height))
    }
}
