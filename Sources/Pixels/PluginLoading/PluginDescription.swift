import CPenumbraPlugin
import CPluginTrial
import Catalogs
import FilterKitTesting
import Geometry
import JobModel

/// A plugin's description of itself, copied from C structures and validated.
struct PluginDescription: Sendable {
    let name: String
    let version: String
    let summary: String
    let renderingVersion: Int
    let kind: FilterDescriptor.Kind
    /// The sample formats that it supports; f32 is one of them.
    let formats: Set<SampleFormat>
    /// The parameters, in the order of its values.
    let parameters: [ParameterDescriptor]
    /// The parameters that depend on words of other parameters.
    let needs: [ParameterRule]
    let functions: PluginFunctions

    /// The names of the host's own parameters.
    private static let reserved: Set<String> = ["edge", "extent", "light", "within"]
    private static let mostParameters = Int(PLUGIN_MOST_PARAMETERS)
    private static let letters = Set("abcdefghijklmnopqrstuvwxyz".utf8)
    private static let others = Set("0123456789-_".utf8)

    init(_ plugin: UnsafePointer<penumbra_plugin>) throws(PluginError) {
        // These two fields come first in every version of the structure. They tell how much of it may be read.
        let (abi, size) = UnsafeRawPointer(plugin).loadUnaligned(as: (UInt32, UInt32).self)
        guard abi == PENUMBRA_PLUGIN_ABI else {
            throw PluginError(
                "was built for plugin interface \(abi), and this Penumbra speaks \(PENUMBRA_PLUGIN_ABI); build it again"
            )
        }
        guard size >= Self.firstSize, Self.endsBehindMember(Int(size)) else {
            throw PluginError("describes itself in \(size) bytes; set struct_size to sizeof(penumbra_plugin)")
        }
        try self.init(Self.copy(plugin, size: Int(size)))
    }

    /// Whether a structure of this size ends behind a member. All members that were added are pointers, and half a pointer leads
    /// anywhere.
    private static func endsBehindMember(_ size: Int) -> Bool {
        size.isMultiple(of: MemoryLayout<UnsafeRawPointer>.size)
    }

    /// The size of the structure in the first revision of the header.
    private static let firstSize = MemoryLayout<penumbra_plugin>.offset(of: \.is_identity) ?? .max

    /// A copy in which the members that an older header lacks are zero.
    private static func copy(_ plugin: UnsafePointer<penumbra_plugin>, size: Int) -> penumbra_plugin {
        var whole = penumbra_plugin()
        withUnsafeMutableBytes(of: &whole) { target in
            target.copyMemory(
                from: UnsafeRawBufferPointer(start: plugin, count: min(size, MemoryLayout<penumbra_plugin>.size)))
        }
        return whole
    }

    private init(_ plugin: penumbra_plugin) throws(PluginError) {
        name = try Self.name(plugin.name, "name")
        version = try Self.text(plugin.version, "version")
        summary = try Self.text(plugin.summary, "summary")
        renderingVersion = Int(plugin.rendering_version)
        kind = try Self.kind(plugin.kind)
        formats = try Self.formats(plugin.formats)
        (parameters, needs) = try Self.parameters(plugin)
        functions = try PluginFunctions(plugin, kind)
    }

    private static func kind(_ kind: penumbra_kind) throws(PluginError) -> FilterDescriptor.Kind {
        switch Int(kind) {
        case Int(PENUMBRA_POINT): .point
        case Int(PENUMBRA_AREA): .area
        default: throw PluginError("has kind \(kind); use PENUMBRA_POINT or PENUMBRA_AREA")
        }
    }

    private static func formats(_ mask: penumbra_format) throws(PluginError) -> Set<SampleFormat> {
        let formats = Set(SampleFormat.allCases.filter { mask & $0.pluginFormat != 0 })
        guard formats.contains(.f32) else {
            throw PluginError("does not take 32-bit floats; add PENUMBRA_F32 to formats")
        }
        return formats
    }

    private static func parameters(
        _ plugin: penumbra_plugin
    ) throws(PluginError) -> ([ParameterDescriptor], needs: [ParameterRule]) {
        let (count, size) = (Int(plugin.parameter_count), Int(plugin.parameter_size))
        guard count > 0 else { return ([], []) }
        guard count <= mostParameters, size >= penumbra_parameter.firstSize, endsBehindMember(size),
            let first = plugin.parameters
        else {
            throw PluginError(
                "describes \(count) parameters of \(size) bytes; give at most \(mostParameters), and their size")
        }
        let described = (0..<count).map { penumbra_parameter(at: UnsafeRawPointer(first) + $0 * size, size: size) }
        var result: [ParameterDescriptor] = []
        for parameter in described { result.append(try ParameterDescriptor(parameter)) }
        let names = result.map(\.name)
        guard Set(names).count == count, reserved.isDisjoint(with: names) else {
            throw PluginError("names a parameter twice, or as one that the host adds; rename it")
        }
        var needs: [ParameterRule] = []
        for (parameter, name) in zip(described, names) {
            if let rule = try ParameterRule(needOf: parameter, name, among: result) { needs.append(rule) }
        }
        return (result, needs)
    }

    /// A valid name for manifests.
    static func name(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(PluginError) -> String {
        let name = try text(pointer, what)
        let isPlain = name.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
        guard let first = name.utf8.first, letters.contains(first), isPlain else {
            throw PluginError("has the \(what) '\(name)'; use small letters, digits, - and _")
        }
        return name
    }

    /// A line of text that is safe for terminals, and that a coordinator takes.
    static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(PluginError) -> String {
        guard let pointer else { throw PluginError("has no \(what); give it one") }
        let text = String(cString: pointer)
        guard text.utf8.count <= CatalogLimits.name else {
            throw PluginError(
                "has a \(what) of \(text.utf8.count) bytes; shorten it to at most \(CatalogLimits.name)")
        }
        guard !text.unicodeScalars.contains(where: VisibleText.isUnsafe) else {
            throw PluginError("has a line break or control character in its \(what); write it in one line of text")
        }
        return text
    }
}

extension SampleFormat {
    var pluginFormat: penumbra_format {
        switch self {
        case .u8: penumbra_format(PENUMBRA_U8)
        case .u16: penumbra_format(PENUMBRA_U16)
        case .f32: penumbra_format(PENUMBRA_F32)
        }
    }
}

extension ParameterDescriptor {
    /// The descriptor of a plugin's parameter.
    init(_ parameter: penumbra_parameter) throws(PluginError) {
        let name = try PluginDescription.name(parameter.name, "parameter name")
        let (kind, fallback) = try Self.kind(parameter, name)
        let unit = parameter.unit == nil ? "" : try PluginDescription.text(parameter.unit, "unit for '\(name)'")
        self.init(
            name, kind, fallback: fallback, unit: unit,
            summary: try PluginDescription.text(parameter.summary, "summary for '\(name)'"))
    }

    private static func kind(
        _ parameter: penumbra_parameter, _ name: String
    ) throws(PluginError) -> (ParameterKind, ParameterValue) {
        let fallback = parameter.fallback
        switch Int(parameter.kind) {
        case Int(PENUMBRA_NUMBER):
            try check(fallback, in: parameter.minimum, parameter.maximum, name)
            return (.number(minimum: parameter.minimum, maximum: parameter.maximum), .number(fallback))
        case Int(PENUMBRA_INTEGER):
            try check(fallback, in: parameter.minimum, parameter.maximum, name)
            guard let low = Int(exactly: parameter.minimum), let high = Int(exactly: parameter.maximum),
                let value = Int(exactly: fallback)
            else { throw PluginError("gives whole-number parameter '\(name)' bounds with fractions; round them") }
            return (.integer(minimum: low, maximum: high), .integer(value))
        case Int(PENUMBRA_BOOLEAN):
            return (.boolean, .boolean(fallback != 0))
        case Int(PENUMBRA_CHOICE):
            let words = try Self.words(parameter.choices, name, "choices")
            guard !words.isEmpty else {
                throw PluginError("gives '\(name)' no choices; add some, and NULL at their end")
            }
            guard let index = Int(exactly: fallback), words.indices.contains(index) else {
                throw PluginError("gives '\(name)' a fallback that is not the index of a choice; correct it")
            }
            return (.choice(words), .word(words[index]))
        default:
            throw PluginError("gives '\(name)' the unknown kind \(parameter.kind); see penumbra_plugin.h")
        }
    }

    private static func check(_ value: Double, in low: Double, _ high: Double, _ name: String) throws(PluginError) {
        guard low.isFinite, high.isFinite, low <= value, value <= high else {
            throw PluginError("gives '\(name)' a range without its fallback; set minimum, maximum and fallback")
        }
    }

    /// The words up to a null pointer.
    ///
    /// - Parameter what: the name of the parameter, for messages.
    fileprivate static func words(
        _ list: UnsafePointer<UnsafePointer<CChar>?>?, _ name: String, _ what: String
    ) throws(PluginError) -> [String] {
        var words: [String] = []
        while let word = list?[words.count] {
            guard words.count < PLUGIN_MOST_CHOICES else {
                throw PluginError(
                    "gives '\(name)' more than \(PLUGIN_MOST_CHOICES) choices; give fewer, and NULL at their end")
            }
            let text = try PluginDescription.text(word, "\(what) for '\(name)'")
            guard !text.isEmpty else {
                throw PluginError("has an empty word in its \(what) for '\(name)'; give it letters, or remove it")
            }
            words.append(text)
        }
        return words
    }
}

extension ParameterRule {
    /// Returns nil for a parameter that always has an effect.
    init?(
        needOf parameter: penumbra_parameter, _ name: String, among parameters: [ParameterDescriptor]
    ) throws(PluginError) {
        guard parameter.needed != nil else { return nil }
        let needed = try PluginDescription.text(parameter.needed, "needed parameter for '\(name)'")
        let words = try ParameterDescriptor.words(parameter.needed_words, name, "needed words")
        guard case .choice(let choices) = parameters.first(where: { $0.name == needed })?.kind, !words.isEmpty,
            words.allSatisfy(choices.contains)
        else {
            throw PluginError(
                "says that '\(name)' needs '\(needed)', without words that this one has; correct needed_words")
        }
        self = .needs(parameter: name, other: needed, words: words)
    }
}

/// The functions of a plugin.
struct PluginFunctions: @unchecked Sendable {
    // Sendable: these are C functions of a library that is never closed. `penumbra_plugin.h` requires that any thread may call
    // them at any time.
    typealias Margins = @convention(c) (UnsafePointer<Double>?) -> penumbra_margins
    typealias Render = @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32
    typealias Question = @convention(c) (UnsafePointer<Double>?) -> Int32
    typealias Check = @convention(c) (UnsafePointer<Double>?, UnsafeMutablePointer<CChar>?, Int) -> Int32
    typealias Extent = @convention(c) (penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect
    typealias Region = @convention(c) (penumbra_rect, penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect

    let halo: Margins?
    let growth: Margins?
    let extent: Extent?
    let regionOfInterest: Region?
    let isIdentity: Question?
    let checkValues: Check?
    let render: Render

    init(_ plugin: penumbra_plugin, _ kind: FilterDescriptor.Kind) throws(PluginError) {
        guard let render = plugin.render else { throw PluginError("has no render function; give it one") }
        if kind == .area {
            guard (plugin.halo == nil) != (plugin.region_of_interest == nil) else {
                throw PluginError("must have either a halo or a region_of_interest, as it is an area filter")
            }
            guard plugin.growth == nil || plugin.extent == nil else {
                throw PluginError("has both a growth and an extent; leave one of them out")
            }
        } else if plugin.halo != nil || plugin.growth != nil || plugin.extent != nil
            || plugin.region_of_interest != nil
        {
            throw PluginError("has geometry but is a point filter; make it PENUMBRA_AREA")
        }
        halo = plugin.halo
        growth = plugin.growth
        extent = plugin.extent
        regionOfInterest = plugin.region_of_interest
        isIdentity = plugin.is_identity
        checkValues = plugin.check_values
        self.render = render
    }
}

extension Halo {
    /// The largest halo of a plugin, as in the header.
    static let widestOfPlugin = 16384

    /// The result of a plugin's function for some values; nil if it is out of range.
    init?(_ margins: PluginFunctions.Margins?, values: [Double]) {
        guard let margins else {
            self = .none
            return
        }
        let answer = FloatingPointMode.kept { values.withUnsafeBufferPointer { margins($0.baseAddress) } }
        self.init(left: Int(answer.left), top: Int(answer.top), right: Int(answer.right), bottom: Int(answer.bottom))
        guard widest <= Self.widestOfPlugin else { return nil }
    }
}
