import CPenumbraPlugin
import Catalogs
import Geometry

/// The functions of a plugin.
struct PluginFunctions: @unchecked Sendable {
    // Sendable: C functions of a library that is never closed, which `penumbra_plugin.h` allows to be called from any
    // thread at any time.
    typealias Margins = @convention(c) (UnsafePointer<Double>?) -> penumbra_margins
    typealias Render = @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32

    let halo: Margins?
    let growth: Margins?
    let render: Render

    init(_ plugin: penumbra_plugin, _ kind: FilterDescriptor.Kind) throws(PluginProblem) {
        guard let render = plugin.render else { throw PluginProblem("has no render function; give it one") }
        guard (kind == .area) == (plugin.halo != nil), kind == .area || plugin.growth == nil else {
            throw PluginProblem("must have a halo function if it is an area filter, and only then")
        }
        halo = plugin.halo
        growth = plugin.growth
        self.render = render
    }
}

extension Halo {
    /// The widest that a plugin may ask for; the header says so too.
    private static let widestOfPlugin = 16384

    /// What a plugin's function answers for some values; nil when it keeps not to the range.
    init?(_ margins: PluginFunctions.Margins?, values: [Double]) {
        guard let margins else {
            self = .none
            return
        }
        let answer = values.withUnsafeBufferPointer { margins($0.baseAddress) }
        self.init(
            left: Int(answer.left), top: Int(answer.top), right: Int(answer.right), bottom: Int(answer.bottom))
        guard widest <= Self.widestOfPlugin else { return nil }
    }
}
