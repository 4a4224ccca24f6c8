package import Catalogs
package import Geometry

/// What was measured of a picture for a filter that depends on its pixels.
package enum Measurement: Hashable, Sendable, Codable {
    /// The part of the picture that is kept. Nil for all of it.
    case part(PixelRect?)
    /// The angle in degrees, counter-clockwise, by which the picture is turned.
    case angle(Double)
    /// The light of red, green and blue at a place: 1 is full intensity. Nil if nothing can be seen there.
    case light([Double]?)
}

extension Measurement {
    package var kind: FilterDescriptor.Measured {
        switch self {
        case .part: .part
        case .angle: .angle
        case .light: .light
        }
    }
}

/// The measurements for the filters at the beginning of a chain.
package struct MeasuredFilters: Hashable, Sendable, Codable {
    package let filters: [FilterInvocation]
    /// One for each filter.
    package let measurements: [Measurement]

    package init(filters: [FilterInvocation], measurements: [Measurement]) {
        self.filters = filters
        self.measurements = measurements
    }
}

/// The measurements of a picture for all chains of a task.
package struct MeasuredPicture: Hashable, Sendable, Codable {
    package let chains: [MeasuredFilters]
    /// The stamp of the measured file. Nil if it would not show later changes.
    package let stamp: FileStamp?

    package init(_ chains: [MeasuredFilters], stamp: FileStamp?) {
        self.chains = chains
        self.stamp = stamp
    }
}

extension [MeasuredFilters] {
    /// The measurements for the first filters of a chain. Empty if it needs none.
    package func measurements(for chain: [FilterInvocation]) -> [Measurement] {
        let filters = chain.measuredFilters
        return first { $0.filters == filters }?.measurements ?? []
    }
}
