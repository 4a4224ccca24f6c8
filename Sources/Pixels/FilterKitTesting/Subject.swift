package import CPenumbraPlugin
import CPluginTrial
import Geometry

/// The plugin under test.
struct Subject: @unchecked Sendable {
    // Sendable: a constant description and C functions. The header requires that any thread may call them.
    let plugin: penumbra_plugin
    let parameters: [penumbra_parameter]
    /// What is done around each call of its `render`.
    var calling = FilterContract.Calling()

    private static let firstSize = MemoryLayout<penumbra_plugin>.offset(of: \.is_identity) ?? .max

    /// Returns nil for a plugin that no host would use.
    init?(_ pointer: UnsafePointer<penumbra_plugin>) {
        let (abi, size) = UnsafeRawPointer(pointer).loadUnaligned(as: (UInt32, UInt32).self)
        guard abi == PENUMBRA_PLUGIN_ABI, size >= Self.firstSize else { return nil }
        var whole = penumbra_plugin()
        withUnsafeMutableBytes(of: &whole) { target in
            target.copyMemory(
                from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), MemoryLayout<penumbra_plugin>.size)))
        }
        guard whole.render != nil, whole.formats & penumbra_format(PENUMBRA_F32) != 0 else { return nil }
        guard let parameters = Self.parameters(whole) else { return nil }
        plugin = whole
        self.parameters = parameters
    }

    private static func parameters(_ plugin: penumbra_plugin) -> [penumbra_parameter]? {
        let (count, size) = (Int(plugin.parameter_count), Int(plugin.parameter_size))
        guard count > 0 else { return [] }
        guard count <= PLUGIN_MOST_PARAMETERS, size >= penumbra_parameter.firstSize, let first = plugin.parameters
        else { return nil }
        return (0..<count).map { penumbra_parameter(at: UnsafeRawPointer(first) + $0 * size, size: size) }
    }

    var isPoint: Bool { plugin.kind == PENUMBRA_POINT }
    var fallbacks: [Double] { parameters.map(\.fallback) }

    /// The sample formats that the plugin supports.
    var formats: [SampleKind] { SampleKind.allCases.filter { plugin.formats & $0.flag != 0 } }

    func extent(of input: PixelRect, _ values: [Double]) -> PixelRect {
        if let extent = plugin.extent { return PixelRect(extent(penumbra_rect(input), values)) }
        return plugin.growth.map { input.expanded(by: Halo($0(values))) } ?? input
    }

    func needed(for output: PixelRect, in input: PixelRect, _ values: [Double]) -> PixelRect {
        if let region = plugin.region_of_interest {
            return PixelRect(region(penumbra_rect(output), penumbra_rect(input), values))
        }
        return plugin.halo.map { output.expanded(by: Halo($0(values))) } ?? output
    }

    func isIdentity(_ values: [Double]) -> Bool { plugin.is_identity.map { $0(values) != 0 } ?? false }

    /// Whether the filter says that it cannot work with these values. Penumbra then never asks it for pixels.
    private func refuses(_ values: [Double]) -> Bool {
        guard let check = plugin.check_values else { return false }
        var error = [CChar](repeating: 0, count: 1024)
        return check(values, &error, error.count) != Int32(PENUMBRA_OK)
    }

    /// The fallbacks with one parameter at the ends of its range, at 0, or each of its words, if the filter can work with them.
    var variations: [(what: String, values: [Double])] {
        parameters.indices.flatMap { index in
            parameters[index].telling.compactMap { value in
                var values = fallbacks
                values[index] = value
                return refuses(values) ? nil : ("\(parameters[index].title) \(value)", values)
            }
        }
    }
}

extension Subject {
    /// What the filter declares to say which pixels it reads.
    var declared: String { plugin.region_of_interest != nil ? "region of interest" : isPoint ? "tile" : "halo" }

    /// Values in the words of a manifest: `radius 4, edge clamp`. Nil if the filter has no parameters.
    func words(_ values: [Double]) -> String? {
        guard !parameters.isEmpty else { return nil }
        return zip(parameters, values).map { "\($0.title) \($0.words($1))" }.joined(separator: ", ")
    }
}

extension penumbra_parameter {
    /// The size of the structure in the first revision of the header.
    package static let firstSize = MemoryLayout<penumbra_parameter>.offset(of: \.needed) ?? .max

    /// A copy in which the members that an older header lacks are zero.
    package init(at address: UnsafeRawPointer, size: Int) {
        self.init()
        withUnsafeMutableBytes(of: &self) { target in
            target.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min(size, target.count)))
        }
    }

    fileprivate var title: String { name.map { String(cString: $0) } ?? "" }

    fileprivate func words(_ value: Double) -> String {
        switch Int(kind) {
        case Int(PENUMBRA_BOOLEAN): value == 0 ? "false" : "true"
        case Int(PENUMBRA_CHOICE): choices?[Int(value)].map { String(cString: $0) } ?? "\(value)"
        default: value == value.rounded() && value.magnitude < 1e15 ? "\(Int(value))" : "\(value)"
        }
    }

    /// Values that are worth testing.
    fileprivate var telling: [Double] {
        switch Int(kind) {
        case Int(PENUMBRA_BOOLEAN): return [0, 1]
        case Int(PENUMBRA_CHOICE):
            var count = 0
            while count < PLUGIN_MOST_CHOICES, choices?[count] != nil { count += 1 }
            return (0..<count).map { Double($0) }
        default: return Array(Set([minimum, maximum] + (minimum <= 0 && maximum >= 0 ? [0] : []))).sorted()
        }
    }
}

/// The storage format of samples.
enum SampleKind: CaseIterable, Sendable {
    case u8, u16, f32

    var flag: penumbra_format {
        switch self {
        case .u8: penumbra_format(PENUMBRA_U8)
        case .u16: penumbra_format(PENUMBRA_U16)
        case .f32: penumbra_format(PENUMBRA_F32)
        }
    }

    var bytes: Int {
        switch self {
        case .u8: 1
        case .u16: 2
        case .f32: 4
        }
    }
}

extension PixelRect {
    /// The first and the last column and row.
    var words: String { "x \(x)…\(right - 1), y \(y)…\(bottom - 1)" }

    init(_ rect: penumbra_rect) {
        let limit = Int64(1) << 40
        self.init(
            x: Int(rect.x.clamped(limit)), y: Int(rect.y.clamped(limit)), width: Int(max(0, rect.width.clamped(limit))),
            height: Int(max(0, rect.height.clamped(limit))))
    }
}

extension Int64 {
    fileprivate func clamped(_ limit: Int64) -> Int64 { Swift.min(Swift.max(self, -limit), limit) }
}

extension penumbra_rect {
    init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}

extension Halo {
    /// Negative sides count as 0; ``ContractCheck/geometry`` reports them.
    init(_ margins: penumbra_margins) {
        let sides = [margins.left, margins.top, margins.right, margins.bottom].map { max(0, Int($0)) }
        self = Halo(left: sides[0], top: sides[1], right: sides[2], bottom: sides[3]) ?? .none
    }
}

/// A picture that is not stored: every sample is computed for its position, and repeated beyond the borders as by `edge:
/// clamp`.
struct TestPicture: Sendable {
    enum Content: Sendable {
        /// Noise over steps, with some pixels of alpha 0 and full alpha.
        case noise
        /// NaN, infinite, very large, very small and negative values, and values above full intensity; floats only.
        case special
    }

    let extent: PixelRect
    let channels: Int
    let hasAlpha: Bool
    let content: Content

    private static let specials: [Float] = [
        .nan, .infinity, -.infinity, 1e30, -1e30, .leastNonzeroMagnitude, -1, 2, -0.0, 0.5, 1,
    ]

    /// The value on a scale where 1 is full intensity.
    private func value(_ x: Int, _ y: Int, _ channel: Int) -> Float {
        let (x, y) = (min(max(x, extent.x), extent.right - 1), min(max(y, extent.y), extent.bottom - 1))
        let random = Self.hash(x, y, channel)
        if content == .special, random % 5 == 0 {
            return Self.specials[Int(random / 5 % UInt64(Self.specials.count))]
        }
        let noise = Float(random >> 40) / Float(1 << 24)
        if hasAlpha, channel == channels - 1 { return (x + y) % 7 == 0 ? 0 : (x + y) % 3 == 0 ? 1 : noise }
        return (x / 8 + y / 8) % 2 == 0 ? noise : 0.75 + noise / 4
    }

    /// Writes the bytes of one sample. Area filters receive premultiplied colours.
    func store(
        _ x: Int, _ y: Int, _ channel: Int, _ kind: SampleKind, isMultiplied: Bool, to address: UnsafeMutableRawPointer
    ) {
        var value = value(x, y, channel)
        if kind != .f32 || content == .noise {  // as a host converts it from integers
            value = (value * 255).rounded(.down) / 255
            if isMultiplied, hasAlpha, channel < channels - 1 {
                value *= (self.value(x, y, channels - 1) * 255).rounded(.down) / 255
            }
        }
        switch kind {
        case .u8: address.storeBytes(of: UInt8(value * 255 + 0.5), as: UInt8.self)
        case .u16: address.storeBytes(of: UInt16(value * 65535 + 0.5), as: UInt16.self)
        case .f32: address.storeBytes(of: value, as: Float.self)
        }
    }

    /// The finaliser of SplitMix64, applied to the position.
    private static func hash(_ x: Int, _ y: Int, _ channel: Int) -> UInt64 {
        var z = UInt64(bitPattern: Int64(x &* 73_856_093 ^ y &* 19_349_663 ^ channel &* 83_492_791))
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}

extension TestPicture {
    /// Pictures of one to four channels, with sides that are multiples of no tile size.
    static func all(_ content: Content) -> [TestPicture] {
        (1...4).map { channels in
            TestPicture(
                extent: PixelRect(x: 0, y: 0, width: 61, height: 43), channels: channels,
                hasAlpha: channels % 2 == 0, content: content)
        }
    }

    var title: String { ["gray", "gray with alpha", "RGB", "RGB with alpha"][channels - 1] }
}
