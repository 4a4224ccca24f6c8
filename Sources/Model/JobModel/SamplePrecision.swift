public import Catalogs

/// The samples between the filters of a chain.
public enum ChainPrecision: String, Hashable, Sendable, Codable, CaseIterable {
    case auto
    case input
    case u8 = "8"
    case u16 = "16"
    case f32 = "float"

    /// The precision with these samples.
    public init(_ samples: SampleFormat) {
        self =
            switch samples {
            case .u8: .u8
            case .u16: .u16
            case .f32: .f32
            }
    }

    /// Nil if they depend on the picture.
    public var samples: SampleFormat? {
        switch self {
        case .auto, .input: nil
        case .u8: .u8
        case .u16: .u16
        case .f32: .f32
        }
    }
}

/// The samples of an output's file.
public enum OutputDepth: String, Hashable, Sendable, Codable, CaseIterable {
    case input
    case u8 = "8"
    case u16 = "16"
    case f32 = "float"

    /// Nil for the samples of the input's file.
    public var samples: SampleFormat? {
        switch self {
        case .input: nil
        case .u8: .u8
        case .u16: .u16
        case .f32: .f32
        }
    }
}

extension FormatDescriptor {
    /// The depths that the format can store. `input` is not among them.
    package var depths: [OutputDepth] {
        OutputDepth.allCases.filter { depth in depth.samples.map(sampleFormats.contains) ?? false }
    }
}
