/// What an image file format can hold, and what a manifest may ask of it under `save:`.
public struct FormatDescriptor: Hashable, Sendable, Codable {
    /// Whether a decoder gives a file's rows in order, so that memory does not grow with the picture.
    public enum Streaming: String, Hashable, Sendable, Codable {
        case yes
        case unlessInterlaced = "unless interlaced"
        case no
    }

    /// `jpeg`, `png`, …
    public let name: String
    /// In lower case, without the dot. The first one is the usual one.
    public let extensions: [String]
    public let canRead: Bool
    public let canWrite: Bool
    public let streams: Streaming
    /// The sample formats that can be written. Others are converted to the widest of these.
    public let sampleFormats: [SampleFormat]
    public let holdsAlpha: Bool
    /// Whether files have a place for a copyright and other texts.
    public let holdsTexts: Bool
    /// The unit of the times of an animation's frames, in milliseconds. Nil if the format holds no animations.
    public let frameTime: Int?
    /// True if an output is a folder. Its path has no extension, and it contains a file of that name.
    public let isFolder: Bool
    /// True if writing and reading gives the same samples with the fallbacks of `options`.
    public let isLossless: Bool
    /// The largest width and height that can be written.
    public let largestSide: Int
    public let options: [ParameterDescriptor]

    public init(
        name: String, extensions: [String], canRead: Bool, canWrite: Bool, streams: Streaming = .yes,
        sampleFormats: [SampleFormat], holdsAlpha: Bool, holdsTexts: Bool = true, frameTime: Int? = nil,
        isFolder: Bool = false,
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
        self.holdsTexts = holdsTexts
        self.frameTime = frameTime
        self.isFolder = isFolder
        self.isLossless = isLossless
        self.largestSide = largestSide
        self.options = options
    }
    /// True if a file can hold an animation of several frames.
    public var holdsAnimation: Bool { frameTime != nil }
}

/// A property of a picture's file that its pixels, as filters get them, do not have.
package enum DecodingLoss: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file is in CMYK, the pixels are in sRGB.
    case cmyk
    /// The file is in Lab, the pixels are in RGB.
    case lab
    /// The samples have 64 bits, of which 32 are kept.
    case doubles
    /// The file contains further pictures that are no previews, such as a gain map, a depth map or a second eye.
    case furtherPictures
}
