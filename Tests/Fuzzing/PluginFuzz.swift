import CPenumbraPlugin
import Catalogs
@testable import PluginLoading

/// Builds the description of a plugin in memory, with numbers and pointers of the input's choice, and reads it.
@c(LLVMFuzzerTestOneInput)
public func fuzzPlugin(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    var described = DescribedPlugin(&input)
    defer { described.free() }
    do throws(PluginError) {
        let plugin = try PluginDescription(described.pointer)
        precondition(plugin.formats.contains(.f32), "a plugin takes floats")
        precondition(Set(plugin.parameters.map(\.name)).count == plugin.parameters.count, "a name is there once")
        for parameter in plugin.parameters { check(parameter) }
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal has words")
    }
    return 0
}

private func check(_ parameter: ParameterDescriptor) {
    switch (parameter.kind, parameter.fallback) {
    case (.number(let low, let high), .number(let value)?): precondition(low <= value && value <= high)
    case (.integer(let low, let high), .integer(let value)?): precondition(low <= value && value <= high)
    case (.choice(let words), .word(let word)?): precondition(words.contains(word))
    case (.boolean, .boolean?): break
    default: preconditionFailure("a parameter has a fallback of its own kind")
    }
}

/// A description in blocks of memory of its own, so that AddressSanitizer sees each byte too far.
private struct DescribedPlugin {
    private(set) var pointer: UnsafePointer<penumbra_plugin>
    private var blocks: [UnsafeMutableRawPointer] = []

    init(_ input: inout Input) {
        var plugin = penumbra_plugin()
        plugin.abi = UInt32(PENUMBRA_PLUGIN_ABI) &+ UInt32(input.choice(8) / 7)
        var blocks: [UnsafeMutableRawPointer] = []
        let size = MemoryLayout<penumbra_plugin>.size - input.choice(16)
        plugin.struct_size = UInt32(size)
        plugin.kind = Int32(input.choice(4))
        plugin.formats = UInt32(input.choice(8)) | UInt32(input.choice(4) == 0 ? 0 : PENUMBRA_F32)
        plugin.name = Self.text(&input, &blocks)
        plugin.version = Self.text(&input, &blocks)
        plugin.summary = Self.text(&input, &blocks)
        plugin.parameter_count = UInt32(input.choice(6)) * (input.choice(16) == 0 ? 0x1000_0001 : 1)
        let parameterSize = MemoryLayout<penumbra_parameter>.size + 8 - input.choice(32)
        plugin.parameter_size = UInt32(parameterSize)
        if input.choice(8) > 0, plugin.parameter_count < 8 {
            let list = Self.block(parameterSize * Int(plugin.parameter_count), &blocks)
            for index in 0..<Int(plugin.parameter_count) {
                var parameter = Self.parameter(&input, &blocks)
                Self.copy(&parameter, to: list + index * parameterSize, size: parameterSize)
            }
            plugin.parameters = UnsafePointer(list.assumingMemoryBound(to: penumbra_parameter.self))
        }
        let functions = input.choice(64)
        if functions & 1 == 0 { plugin.render = { _ in 0 } }
        if functions & 2 == 2 { plugin.halo = { _ in penumbra_margins() } }
        if functions & 4 == 4 { plugin.growth = { _ in penumbra_margins() } }
        if functions & 8 == 8 { plugin.extent = { extent, _ in extent } }
        if functions & 16 == 16 { plugin.region_of_interest = { region, _, _ in region } }
        if functions & 32 == 32 { plugin.is_identity = { _ in 1 } }
        let whole = Self.block(size, &blocks)
        Self.copy(&plugin, to: whole, size: size)
        pointer = UnsafePointer(whole.assumingMemoryBound(to: penumbra_plugin.self))
        self.blocks = blocks
    }

    mutating func free() {
        for block in blocks { block.deallocate() }
        blocks = []
    }

    private static func parameter(_ input: inout Input, _ blocks: inout [UnsafeMutableRawPointer]) -> penumbra_parameter
    {
        var parameter = penumbra_parameter()
        parameter.name = text(&input, &blocks)
        parameter.kind = Int32(input.choice(6))
        parameter.minimum = input.number()
        parameter.maximum = input.number()
        parameter.fallback = input.number()
        parameter.choices = words(&input, &blocks)
        parameter.unit = text(&input, &blocks)
        parameter.summary = text(&input, &blocks)
        parameter.needed = text(&input, &blocks)
        parameter.needed_words = words(&input, &blocks)
        return parameter
    }

    /// Nil, or bytes of the input that end with a zero.
    private static func text(_ input: inout Input, _ blocks: inout [UnsafeMutableRawPointer]) -> UnsafePointer<CChar>? {
        let length = input.choice(16)
        guard length > 0 else { return nil }
        let bytes = (1..<length).map { _ in UInt8(input.choice(256)) } + [0]
        let block = block(length, &blocks)
        block.copyMemory(from: bytes, byteCount: length)
        return UnsafePointer(block.assumingMemoryBound(to: CChar.self))
    }

    private static func words(
        _ input: inout Input, _ blocks: inout [UnsafeMutableRawPointer]
    ) -> UnsafePointer<UnsafePointer<CChar>?>? {
        let count = input.choice(5)
        guard count > 0 else { return nil }
        let list = block(count * MemoryLayout<UnsafePointer<CChar>?>.size, &blocks)
            .assumingMemoryBound(to: UnsafePointer<CChar>?.self)
        for index in 0..<count { list[index] = index == count - 1 ? nil : text(&input, &blocks) }
        return UnsafePointer(list)
    }

    /// Copies a structure, or the part of it that has room.
    private static func copy<Structure>(_ structure: inout Structure, to target: UnsafeMutableRawPointer, size: Int) {
        let target = UnsafeMutableRawBufferPointer(start: target, count: size)
        withUnsafeBytes(of: &structure) { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(size))) }
    }

    private static func block(_ size: Int, _ blocks: inout [UnsafeMutableRawPointer]) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: max(1, size), alignment: 8)
        block.initializeMemory(as: UInt8.self, repeating: 0, count: max(1, size))
        blocks.append(block)
        return block
    }
}

extension Input {
    fileprivate mutating func number() -> Double {
        switch choice(8) {
        case 0: .nan
        case 1: .infinity
        case 2: -.infinity
        case 3: 1e300
        case 4: Double(choice(256)) / 16
        case 5: 9_223_372_036_854_775_808
        default: Double(choice(256)) - 128
        }
    }
}
