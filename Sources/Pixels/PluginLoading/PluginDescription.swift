import CPenumbraPlugin
import CPluginTrial
import Catalogs

/// What a plugin says about itself, copied from its C structures and checked.
struct PluginDescription: Sendable {
    let name: String
    let version: String
    let summary: String
    let renderingVersion: Int
    let kind: FilterDescriptor.Kind
    /// The sample formats that it takes; f32 is one of them.
    let formats: Set<SampleFormat>
    /// In the order of its values.
    let parameters: [ParameterDescriptor]
    /// Which parameters need which words of others.
    let needs: [ParameterRule]
    let functions: PluginFunctions

    /// Names that the host's own parameters have.
    private static let reserved: Set<String> = ["edge", "extent", "light", "within"]
    private static let mostParameters = Int(PLUGIN_MOST_PARAMETERS)
    private static let letters = Set("abcdefghijklmnopqrstuvwxyz".utf8)
    private static let controls: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
    private static let others = Set("0123456789-_".utf8)

    init(_ plugin: UnsafePointer<penumbra_plugin>) throws(PluginProblem) {
        // These two come first in every version of the structure; only then is it known how much may be read.
        let (abi, size) = UnsafeRawPointer(plugin).loadUnaligned(as: (UInt32, UInt32).self)
        guard abi == PENUMBRA_PLUGIN_ABI else {
            throw PluginProblem(
                "was built for plugin interface \(abi), and this Penumbra speaks \(PENUMBRA_PLUGIN_ABI); build it again"
            )
        }
        guard size >= Self.firstSize else {
            throw PluginProblem("describes itself in \(size) bytes; set struct_size to sizeof(penumbra_plugin)")
        }
        try self.init(Self.copy(plugin, size: Int(size)))
    }

    /// What the first revision of the header had.
    private static let firstSize = MemoryLayout<penumbra_plugin>.offset(of: \.is_identity) ?? .max

    /// A description with nothing in the members that an older header lacks.
    private static func copy(_ plugin: UnsafePointer<penumbra_plugin>, size: Int) -> penumbra_plugin {
        var whole = penumbra_plugin()
        withUnsafeMutableBytes(of: &whole) { target in
            target.copyMemory(
                from: UnsafeRawBufferPointer(start: plugin, count: min(size, MemoryLayout<penumbra_plugin>.size)))
        }
        return whole
    }

    private init(_ plugin: penumbra_plugin) throws(PluginProblem) {
        name = try Self.name(plugin.name, "name")
        version = try Self.text(plugin.version, "version")
        summary = try Self.text(plugin.summary, "summary")
        renderingVersion = Int(plugin.rendering_version)
        kind = try Self.kind(plugin.kind)
        formats = try Self.formats(plugin.formats)
        (parameters, needs) = try Self.parameters(plugin)
        functions = try PluginFunctions(plugin, kind)
    }

    private static func kind(_ kind: penumbra_kind) throws(PluginProblem) -> FilterDescriptor.Kind {
        switch Int(kind) {
        case Int(PENUMBRA_POINT): .point
        case Int(PENUMBRA_AREA): .area
        default: throw PluginProblem("has kind \(kind); use PENUMBRA_POINT or PENUMBRA_AREA")
        }
    }

    private static func formats(_ mask: penumbra_format) throws(PluginProblem) -> Set<SampleFormat> {
        let formats = Set(SampleFormat.allCases.filter { mask & $0.pluginFormat != 0 })
        guard formats.contains(.f32) else {
            throw PluginProblem("does not take 32-bit floats; add PENUMBRA_F32 to formats")
        }
        return formats
    }

    private static func parameters(
        _ plugin: penumbra_plugin
    ) throws(PluginProblem) -> ([ParameterDescriptor], needs: [ParameterRule]) {
        let (count, size) = (Int(plugin.parameter_count), Int(plugin.parameter_size))
        guard count > 0 else { return ([], []) }
        guard count <= mostParameters, size >= penumbra_parameter.firstSize, let first = plugin.parameters else {
            throw PluginProblem(
                "describes \(count) parameters of \(size) bytes; give at most \(mostParameters), and their size")
        }
        let described = (0..<count).map { penumbra_parameter(at: UnsafeRawPointer(first) + $0 * size, size: size) }
        var result: [ParameterDescriptor] = []
        for parameter in described { result.append(try ParameterDescriptor(parameter)) }
        let names = result.map(\.name)
        guard Set(names).count == count, reserved.isDisjoint(with: names) else {
            throw PluginProblem("names a parameter twice, or as one that the host adds; rename it")
        }
        var needs: [ParameterRule] = []
        for (parameter, name) in zip(described, names) {
            if let rule = try ParameterRule(needOf: parameter, name, among: result) { needs.append(rule) }
        }
        return (result, needs)
    }

    /// A name as manifests can write it.
    static func name(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(PluginProblem) -> String {
        let name = try text(pointer, what)
        let isPlain = name.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
        guard let first = name.utf8.first, letters.contains(first), isPlain else {
            throw PluginProblem("has the \(what) '\(name)'; use small letters, digits, - and _")
        }
        return name
    }

    /// A line of text as terminals can be given it.
    static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(PluginProblem) -> String {
        guard let pointer else { throw PluginProblem("has no \(what); give it one") }
        let text = String(cString: pointer)
        guard text.unicodeScalars.allSatisfy({ !controls.contains($0.properties.generalCategory) }) else {
            throw PluginProblem("has a line break or control character in its \(what); write it in one line of text")
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
