import CPenumbraPlugin
import Geometry
import Glibc
import Synchronization

/// The one filter of this library, exported through the C interface.
final class ExportedFilter: Sendable {
    private let type: any Filter.Type
    private let description: FilterDescription
    /// The filters for the values of the latest calls, the newest first, or the errors of their initialisers. Successive calls
    /// mostly have the same values. An initialiser may be slow, because authors compute there what does not depend on pixels.
    private let latest = Mutex<[(numbers: [Double], filter: Result<any Filter, any Error>)]>([])

    /// The number of filters in the cache. Chains with more filters of one kind, and previews of more values at once, are
    /// rare.
    private static let kept = 8

    /// The exported filter. It is global, because the functions of the C interface have no context.
    private static let current = Mutex<(filter: ExportedFilter, address: UInt)?>(nil)

    private init(_ type: any Filter.Type) {
        self.type = type
        description = type.description
    }

    /// The filter's description for the host, created once.
    static func export(_ type: any Filter.Type) -> UnsafePointer<penumbra_plugin>? {
        current.withLock { current in
            if current == nil {
                let description = CDescription.make(type)
                current = (ExportedFilter(type), UInt(bitPattern: description))
            }
            return current.flatMap { UnsafePointer(bitPattern: $0.address) }
        }
    }

    /// The filter for these values, one for each parameter.
    private func filter(_ values: UnsafePointer<Double>?) throws -> any Filter {
        let count = description.parameters.count
        let numbers = Array(UnsafeBufferPointer(start: values, count: values == nil ? 0 : count))
        if let known = latest.withLock({ $0.first { $0.numbers == numbers }?.filter }) { return try known.get() }
        let filter = Result<any Filter, any Error> { try type.init(FilterValues(numbers, description)) }
        latest.withLock { $0 = [(numbers, filter)] + $0.prefix(Self.kept - 1) }
        return try filter.get()
    }

    /// Returns nil if the author's initialiser throws for these values. The geometry functions cannot report an error.
    /// Rendering, which follows, reports it in the author's words.
    private static func filter(_ values: UnsafePointer<Double>?) -> (any Filter)? {
        try? current.withLock { $0?.filter }?.filter(values)
    }
}

/// The functions of the C interface.
extension ExportedFilter {
    static let render: @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32 = { pointer in
        guard let tile = penumbra_tile(pointer) else { return -1 }
        do {
            guard let filter = try current.withLock({ $0?.filter })?.filter(tile.values), let lent = Tile(tile) else {
                throw FilterFailure("the host hands over no tile; use a newer Penumbra")
            }
            try filter.render(lent)
            return Int32(PENUMBRA_OK)
        } catch is CancellationError {
            return Int32(PENUMBRA_CANCELLED)
        } catch {
            tile.say("\(error)")
            return -1
        }
    }

    /// Reports what the author's initialiser throws for these values.
    static let checkValues: @convention(c) (UnsafePointer<Double>?, UnsafeMutablePointer<CChar>?, Int) -> Int32 = {
        values, error, capacity in
        guard let filter = current.withLock({ $0?.filter }) else { return Int32(PENUMBRA_OK) }
        do {
            _ = try filter.filter(values)
            return Int32(PENUMBRA_OK)
        } catch let failure {
            penumbra_tile.write("\(failure)", to: error, capacity)
            return -1
        }
    }

    static let isIdentity: @convention(c) (UnsafePointer<Double>?) -> Int32 = { values in
        filter(values)?.isIdentity == true ? 1 : 0
    }

    static let halo: @convention(c) (UnsafePointer<Double>?) -> penumbra_margins = { values in
        penumbra_margins((filter(values) as? any TileFilter)?.halo ?? .none)
    }

    static let growth: @convention(c) (UnsafePointer<Double>?) -> penumbra_margins = { values in
        penumbra_margins((filter(values) as? any SpreadingFilter)?.growth ?? .none)
    }

    static let extent: @convention(c) (penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect = { input, values in
        guard let filter = filter(values) as? any GeometryFilter else { return input }
        return penumbra_rect(filter.extent(of: PixelRect(input)))
    }

    static let regionOfInterest:
        @convention(c) (penumbra_rect, penumbra_rect, UnsafePointer<Double>?) -> penumbra_rect = {
            output, input, values in
            guard let filter = filter(values) as? any GeometryFilter else { return output }
            return penumbra_rect(filter.regionOfInterest(for: PixelRect(output), in: PixelRect(input)))
        }
}

/// A filter's description in C structures that exist as long as the library.
enum CDescription {
    static func make(_ type: any Filter.Type) -> UnsafePointer<penumbra_plugin> {
        let description = type.description
        let parameters = UnsafeMutableBufferPointer<penumbra_parameter>.allocate(
            capacity: max(1, description.parameters.count))
        for (index, parameter) in description.parameters.enumerated() {
            parameters.initializeElement(at: index, to: penumbra_parameter(parameter.definition))
        }
        let plugin = UnsafeMutablePointer<penumbra_plugin>.allocate(capacity: 1)
        plugin.initialize(to: Self.description(of: type, description, UnsafePointer(parameters.baseAddress)))
        return UnsafePointer(plugin)
    }

    private static func description(
        of type: any Filter.Type, _ description: FilterDescription, _ parameters: UnsafePointer<penumbra_parameter>?
    ) -> penumbra_plugin {
        let isArea = type is any TileFilter.Type
        let movesPixels = type is any GeometryFilter.Type
        let all = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32
        return penumbra_plugin(
            abi: PENUMBRA_PLUGIN_ABI, struct_size: UInt32(MemoryLayout<penumbra_plugin>.size),
            name: lasting(description.name), version: lasting(description.version),
            summary: lasting(description.summary), rendering_version: UInt32(clamping: description.renderingVersion),
            kind: penumbra_kind(isArea || movesPixels ? PENUMBRA_AREA : PENUMBRA_POINT),
            formats: penumbra_format(all), parameter_count: UInt32(description.parameters.count),
            parameter_size: UInt32(MemoryLayout<penumbra_parameter>.stride), parameters: parameters,
            halo: isArea ? ExportedFilter.halo : nil,
            growth: type is any SpreadingFilter.Type ? ExportedFilter.growth : nil, render: ExportedFilter.render,
            is_identity: ExportedFilter.isIdentity, extent: movesPixels ? ExportedFilter.extent : nil,
            region_of_interest: movesPixels ? ExportedFilter.regionOfInterest : nil,
            check_values: ExportedFilter.checkValues)
    }

    /// Copies a text. The copy is never freed.
    fileprivate static func lasting(_ text: String) -> UnsafePointer<CChar>? { UnsafePointer(strdup(text)) }

    /// Copies words. A null pointer follows the last one.
    fileprivate static func lasting(_ words: [String]) -> UnsafePointer<UnsafePointer<CChar>?>? {
        let list = UnsafeMutableBufferPointer<UnsafePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { list.initializeElement(at: index, to: lasting(word)) }
        list.initializeElement(at: words.count, to: nil)
        return UnsafePointer(list.baseAddress)
    }
}

extension penumbra_parameter {
    fileprivate init(_ parameter: ParameterDefinition) {
        self.init(
            name: CDescription.lasting(parameter.name), kind: 0, minimum: 0, maximum: 0,
            fallback: parameter.fallback, choices: nil,
            unit: parameter.unit.isEmpty ? nil : CDescription.lasting(parameter.unit),
            summary: CDescription.lasting(parameter.summary),
            needed: parameter.needs.flatMap { CDescription.lasting($0.choice) },
            needed_words: parameter.needs.flatMap { CDescription.lasting($0.words) })
        switch parameter.kind {
        case .number(let range):
            kind = penumbra_parameter_kind(PENUMBRA_NUMBER)
            (minimum, maximum) = (range.lowerBound, range.upperBound)
        case .integer(let range):
            kind = penumbra_parameter_kind(PENUMBRA_INTEGER)
            (minimum, maximum) = (Double(range.lowerBound), Double(range.upperBound))
        case .boolean:
            kind = penumbra_parameter_kind(PENUMBRA_BOOLEAN)
        case .choice(let words):
            kind = penumbra_parameter_kind(PENUMBRA_CHOICE)
            choices = CDescription.lasting(words)
        }
    }
}

/// The address that a plugin's library returns to the host.
public typealias PluginAddress = UnsafeRawPointer

/// The registration of a filter with the host.
public enum Plugin {
    /// The description of a filter for a host with the interface version `hostInterface`. Nil if that version is too old.
    ///
    /// A plugin's library contains one filter, and this line:
    ///
    ///     @c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? { Plugin.export(Sepia.self, to: host) }
    public static func export(_ filter: any Filter.Type, to hostInterface: UInt32) -> PluginAddress? {
        guard hostInterface >= PENUMBRA_PLUGIN_ABI else { return nil }
        return ExportedFilter.export(filter).map { PluginAddress($0) }
    }
}

extension Tile {
    /// Returns nil if this interface does not know the host's values.
    init?(_ tile: penumbra_tile) {
        guard let format = TileFormat(tile.format), let from = tile.source.data, let to = tile.target.data else {
            return nil
        }
        let pixelBytes = Int(tile.channels) * format.bytes
        let (ask, context) = (tile.is_cancelled, tile.context)
        self.init(
            picture: Picture(
                extent: PixelRect(tile.image), channels: Int(tile.channels), hasAlpha: tile.has_alpha != 0,
                frame: Int(tile.frame)),
            area: PixelRect(tile.target.rect), readable: PixelRect(tile.source.rect), format: format,
            input: TileRows(
                start: UnsafeMutableRawPointer(mutating: from), rowBytes: Int(tile.source.row_bytes),
                pixelBytes: pixelBytes),
            output: TileRows(start: to, rowBytes: Int(tile.target.row_bytes), pixelBytes: pixelBytes),
            cancellation: { ask.map { $0(context) != 0 } ?? false })
    }
}

extension TileFormat {
    fileprivate init?(_ format: penumbra_format) {
        switch Int(format) {
        case Int(PENUMBRA_U8): self = .u8
        case Int(PENUMBRA_U16): self = .u16
        case Int(PENUMBRA_F32): self = .f32
        default: return nil
        }
    }

    fileprivate var bytes: Int {
        switch self {
        case .u8: 1
        case .u16: 2
        case .f32: 4
        }
    }
}

extension penumbra_tile {
    /// The fields of a tile that its host provides; zeros for the rest.
    init?(_ pointer: UnsafePointer<penumbra_tile>?) {
        // The size is the first field in every version.
        guard let pointer else { return nil }
        let bytes = UnsafeRawPointer(pointer)
        let size = Int(bytes.load(as: UInt32.self))
        self.init()
        withUnsafeMutableBytes(of: &self) { own in
            own.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: min(size, own.count)))
        }
    }

    /// Stores a message where the host reads the reason of a failure.
    func say(_ text: String) { Self.write(text, to: error, error_capacity) }

    /// Stores a message and its zero byte. A message that is too long is cut.
    static func write(_ text: String, to error: UnsafeMutablePointer<CChar>?, _ capacity: Int) {
        guard let error, capacity > 0 else { return }
        let bytes = Array(text.utf8.prefix(capacity - 1)) + [0]
        for (index, byte) in bytes.enumerated() { error[index] = CChar(bitPattern: byte) }
    }
}

extension PixelRect {
    init(_ rect: penumbra_rect) {
        self.init(x: Int(rect.x), y: Int(rect.y), width: max(0, Int(rect.width)), height: max(0, Int(rect.height)))
    }
}

extension penumbra_rect {
    init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}

extension penumbra_margins {
    init(_ halo: Halo) {
        self.init(
            left: Int32(clamping: halo.left), top: Int32(clamping: halo.top), right: Int32(clamping: halo.right),
            bottom: Int32(clamping: halo.bottom))
    }
}
