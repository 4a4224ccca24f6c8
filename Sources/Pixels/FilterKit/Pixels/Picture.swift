/// The properties of a picture that a filter receives.
@frozen public struct Picture: Hashable, Sendable {
    /// The extent of the filter's whole input. Its origin is mostly 0.
    public let extent: PixelRect
    /// The number of channels, 1 to 4.
    public let channels: Int
    public let hasAlpha: Bool
    /// The frame of an animation, from 0; 0 for a still and for each page of a document. A filter that ignores it treats all
    /// frames equally. Noise must use it.
    public let frame: Int

    public init(extent: PixelRect, channels: Int, hasAlpha: Bool, frame: Int = 0) {
        self.extent = extent
        self.channels = channels
        self.hasAlpha = hasAlpha
        self.frame = frame
    }

    /// Whether a pixel has one colour channel.
    @inlinable public var isGray: Bool { channels <= 2 }
}
