import CPenumbraPlugin
import Catalogs
import Geometry

/// The functions of a plugin.
struct PluginFunctions: @unchecked Sendable {
    // Sendable: C functions of a library that is never closed, which `penumbra_plugin.h` allows to be called from any
    // thread at any time.
    typealias Margins = @convention(c) (UnsafePointer<Double>?) -> penumbra_margins
    typealias Render = @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32
    typealias Question = @convention(c) (UnsafePointer<Double>?) -> Int32
    typealias Extent = @convention(c) (penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect
    typealias Region = @convention(c) (penumbra_rect, penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect

    let halo: Margins?
    let growth: Margins?
    let extent: Extent?
    let regionOfInterest: Region?
    let isIdentity: Question?
    let render: Render

    init(_ plugin: penumbra_plugin, _ kind: FilterDescriptor.Kind) throws(PluginProblem) {
        guard let render = plugin.render else { throw PluginProblem("has no render function; give it one") }
        if kind == .area {
            guard (plugin.halo == nil) != (plugin.region_of_interest == nil) else {
                throw PluginProblem("must have either a halo or a region_of_interest, as it is an area filter")
            }
            guard plugin.growth == nil || plugin.extent == nil else {
                throw PluginProblem("has both a growth and an extent; leave one of them out")
            }
        } else if plugin.halo != nil || plugin.growth != nil || plugin.extent != nil
            || plugin.region_of_interest != nil
        {
            throw PluginProblem("has geometry but is a point filter; make it PENUMBRA_AREA")
        }
        halo = plugin.halo
        growth = plugin.growth
        extent = plugin.extent
        regionOfInterest = plugin.region_of_interest
        isIdentity = plugin.is_identity
        self.render = render
    }
}

extension Halo {
    /// The widest that a plugin may ask for; the header says so too.
    static let widestOfPlugin = 16384

    /// What a plugin's function answers for some values; nil when it keeps not to the range.
    init?(_ margins: PluginFunctions.Margins?, values: [Double]) {
        guard let margins else {
            self = .none
            return
        }
        let answer = FloatingPointMode.kept { values.withUnsafeBufferPointer { margins($0.baseAddress) } }
        self.init(
            left: Int(answer.left), top: Int(answer.top), right: Int(answer.right), bottom: Int(answer.bottom))
        guard widest <= Self.widestOfPlugin else { return nil }
    }
}
