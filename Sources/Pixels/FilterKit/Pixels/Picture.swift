/// What a filter knows of the picture that it is applied to, beside its pixels.
@frozen public struct Picture: Hashable, Sendable {
    /// Where the filter's whole input is defined. Its origin is seldom away from 0.
    public let extent: PixelRect
    /// 1 to 4.
    public let channels: Int
    public let hasAlpha: Bool

    public init(extent: PixelRect, channels: Int, hasAlpha: Bool) {
        self.extent = extent
        self.channels = channels
        self.hasAlpha = hasAlpha
    }

    /// True when a pixel has one colour.
    @inlinable public var isGray: Bool { channels <= 2 }
}
