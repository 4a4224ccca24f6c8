/// The facts about a picture that a filter gets beside its pixels.
@frozen public struct Picture: Hashable, Sendable {
    /// Where the filter's whole input is defined. Its origin is seldom away from 0.
    public let extent: PixelRect
    /// 1 to 4.
    public let channels: Int
    public let hasAlpha: Bool
    /// Which frame of an animation it is, from 0; 0 of a still and of each page of a document. A filter that takes no notice of
    /// it does the same to all frames: noise has to.
    public let frame: Int

    public init(extent: PixelRect, channels: Int, hasAlpha: Bool, frame: Int = 0) {
        self.extent = extent
        self.channels = channels
        self.hasAlpha = hasAlpha
        self.frame = frame
    }

    /// True when a pixel has one colour.
    @inlinable public var isGray: Bool { channels <= 2 }
}
