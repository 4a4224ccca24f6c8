/// What an image file format can hold, and what a manifest may ask of it under `save:`.
public struct FormatDescriptor: Hashable, Sendable, Codable {
    /// Whether a file's rows come in order while it is decoded, so that memory does not grow with the picture.
    public enum Streaming: String, Hashable, Sendable, Codable {
        case yes
        case unlessInterlaced = "unless interlaced"
        case no
    }

    /// `jpeg`, `png`, …
    public let name: String
    /// Lower case, without the dot; the first one is the usual one.
    public let extensions: [String]
    public let canRead: Bool
    public let canWrite: Bool
    public let streams: Streaming
    /// The sample formats that can be written; others are converted to the widest of these.
    public let sampleFormats: [SampleFormat]
    public let holdsAlpha: Bool
    /// Of a file that can hold an animation: the times of its frames are multiples of so many milliseconds.
    public let frameTime: Int?
    /// True when an output is a folder: at a path without the extension, with a file of that name in it.
    public let isFolder: Bool
    /// True when writing and reading gives the same samples with `options`' fallbacks.
    public let isLossless: Bool
    /// The largest width and height that can be written.
    public let largestSide: Int
    public let options: [ParameterDescriptor]

    public init(
        name: String, extensions: [String], canRead: Bool, canWrite: Bool, streams: Streaming = .yes,
        sampleFormats: [SampleFormat], holdsAlpha: Bool, frameTime: Int? = nil, isFolder: Bool = false,
        isLossless: Bool, largestSide: Int,
        options: [ParameterDescriptor]
    ) {
        self.name = name
        self.extensions = extensions
        self.canRead = canRead
        self.canWrite = canWrite
        self.streams = streams
        self.sampleFormats = sampleFormats
        self.holdsAlpha = holdsAlpha
        self.frameTime = frameTime
        self.isFolder = isFolder
        self.isLossless = isLossless
        self.largestSide = largestSide
        self.options = options
    }
    /// True when a file can hold an animation of several frames.
    public var holdsAnimation: Bool { frameTime != nil }
}

/// What a picture's file has and its pixels, as filters get them, do not.
package enum DecodingLoss: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file is in CMYK, the pixels are in sRGB.
    case cmyk
    /// The file is in Lab, the pixels are in RGB.
    case lab
    /// The samples have 64 bits, of which 32 are kept.
    case doubles
    /// The file holds further pictures that are no mere previews, such as a gain map, a depth map or a second eye.
    case furtherPictures
}
