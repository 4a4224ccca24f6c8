/// How one sample of a pixel is stored.
public enum SampleFormat: String, Hashable, Sendable, Codable, CaseIterable {
    /// 0–255.
    case u8
    /// 0–65535.
    case u16
    /// Nominally 0–1, never clamped between filters.
    case f32

    @inlinable public var bytes: Int {
        switch self {
        case .u8: 1
        case .u16: 2
        case .f32: 4
        }
    }
}

/// The samples of a pixel, interleaved in this order. Alpha is always the last one and never premultiplied.
public enum PixelLayout: String, Hashable, Sendable, Codable, CaseIterable {
    /// The layouts that filters get and give. Only files have ``cmyk``.
    public static let allCases: [PixelLayout] = [.gray, .grayAlpha, .rgb, .rgba]

    case gray
    case grayAlpha
    case rgb
    case rgba
    /// The inks cyan, magenta, yellow and black. 0 is none.
    case cmyk

    @inlinable public var channels: Int {
        switch self {
        case .gray: 1
        case .grayAlpha: 2
        case .rgb: 3
        case .rgba, .cmyk: 4
        }
    }

    @inlinable public var hasAlpha: Bool { self == .grayAlpha || self == .rgba }

    /// The same colours with an alpha channel, which CMYK cannot have.
    public var addingAlpha: PixelLayout {
        switch self {
        case .gray, .grayAlpha: .grayAlpha
        case .rgb, .rgba: .rgba
        case .cmyk: .cmyk
        }
    }

    /// The same colours without an alpha channel.
    public var removingAlpha: PixelLayout {
        switch self {
        case .gray, .grayAlpha: .gray
        case .rgb, .rgba: .rgb
        case .cmyk: .cmyk
        }
    }
}
