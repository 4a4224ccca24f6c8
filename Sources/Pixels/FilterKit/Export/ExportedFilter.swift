import CPenumbraPlugin
import Geometry
import Synchronization

/// The one filter of this library, behind the C interface.
final class ExportedFilter: Sendable {
    private let type: any Filter.Type
    private let description: FilterDescription
    /// Filters with the values of the latest calls, the newest first, or why there is none: the next one mostly has the
    /// same. Making a filter may take long, since authors work out there what does not depend on pixels.
    private let latest = Mutex<[(numbers: [Double], filter: Result<any Filter, any Error>)]>([])

    /// A chain with more filters of one kind, or previews of more values at once, are rare.
    private static let kept = 8

    /// The functions of the C interface have no context, so they find the filter here.
    private static let current = Mutex<(filter: ExportedFilter, address: UInt)?>(nil)

    private init(_ type: any Filter.Type) {
        self.type = type
        description = type.description
    }

    /// The filter's description as the host reads it, made once.
    static func export(_ type: any Filter.Type) -> UnsafePointer<penumbra_plugin>? {
        current.withLock { current in
            if current == nil {
                let description = CDescription.make(type)
                current = (ExportedFilter(type), UInt(bitPattern: description))
            }
            return current.flatMap { UnsafePointer(bitPattern: $0.address) }
        }
    }

    /// The filter of these values, one for each parameter.
    private func filter(_ values: UnsafePointer<Double>?) throws -> any Filter {
        let count = description.parameters.count
        let numbers = Array(UnsafeBufferPointer(start: values, count: values == nil ? 0 : count))
        if let known = latest.withLock({ $0.first { $0.numbers == numbers }?.filter }) { return try known.get() }
        let filter = Result<any Filter, any Error> { try type.init(FilterValues(numbers, description)) }
        latest.withLock { $0 = [(numbers, filter)] + $0.prefix(Self.kept - 1) }
        return try filter.get()
    }

    /// Nil when the filter's author throws for these values. Questions of geometry have no way to say so; rendering, which
    /// comes after them, says it in the author's words.
    private static func filter(_ values: UnsafePointer<Double>?) -> (any Filter)? {
        try? current.withLock { $0?.filter }?.filter(values)
    }
}

/// What the C interface calls.
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
