public import Catalogs

/// What wrote an output, and of what samples. Many outputs have it in common.
public struct OutputEncoding: Hashable, Sendable, Codable {
    /// The libraries that wrote the file, with their versions: `libvips 8.14.1, libjpeg 62.3.0`.
    public let encoder: String
    /// Of the samples that the encoder was given.
    public let layout: PixelLayout
    public let samples: SampleFormat
    /// More than one of an animation.
    public let frames: Int
    /// The decoder of the input made it so many times smaller.
    public let shrink: Int
    /// Penumbra's version.
    public let penumbra: String

    public init(
        encoder: String, layout: PixelLayout, samples: SampleFormat, frames: Int, shrink: Int, penumbra: String
    ) {
        self.encoder = encoder
        self.layout = layout
        self.samples = samples
        self.frames = frames
        self.shrink = shrink
        self.penumbra = penumbra
    }
}

/// An output's pixels as its encoder was given them.
public struct EncodedPixels: Hashable, Sendable, Codable {
    /// Of the digests of all bands, see docs/receipts.md.
    public let digest: Digest
    public let encoding: OutputEncoding

    public init(digest: Digest, encoding: OutputEncoding) {
        self.digest = digest
        self.encoding = encoding
    }
}
