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
    /// Whether files have a place for a colour profile. If not, colours are converted to sRGB.
    public let holdsProfile: Bool
    /// Whether files have a place for a copyright and other texts.
    public let holdsTexts: Bool
    /// The unit of the times of an animation's frames, in milliseconds. Nil if the format holds no animations.
    public let frameTime: Int?
    /// True if a file is a video. ffmpeg writes it, at a constant frame rate.
    public let isVideo: Bool
    /// True for raw pictures of cameras. Many cameras store a JPEG beside each, so a folder among the inputs does not stand for them.
    public let isCameraRaw: Bool
    /// True if an output is a folder. Its path has no extension, and it contains a file of that name.
    public let isFolder: Bool
    /// True if writing and reading gives the same samples with the fallbacks of `options`.
    public let isLossless: Bool
    /// The largest width and height that can be written.
    public let largestSide: Int
    public let options: [ParameterDescriptor]
    /// The values of options that limit `sampleFormats`.
    public let sampleLimits: [SampleLimit]
    /// The options that have an effect only with a value of another one.
    public let conditions: [OptionCondition]

    public init(
        name: String, extensions: [String], canRead: Bool, canWrite: Bool, streams: Streaming = .yes,
        sampleFormats: [SampleFormat], holdsAlpha: Bool, holdsProfile: Bool = true, holdsTexts: Bool = true,
        frameTime: Int? = nil, isVideo: Bool = false, isCameraRaw: Bool = false, isFolder: Bool = false,
        isLossless: Bool, largestSide: Int, options: [ParameterDescriptor], sampleLimits: [SampleLimit] = [],
        conditions: [OptionCondition] = []
    ) {
        self.name = name
        self.extensions = extensions
        self.canRead = canRead
        self.canWrite = canWrite
        self.streams = streams
        self.sampleFormats = sampleFormats
        self.holdsAlpha = holdsAlpha
        self.holdsProfile = holdsProfile
        self.holdsTexts = holdsTexts
        self.frameTime = frameTime
        self.isVideo = isVideo
        self.isCameraRaw = isCameraRaw
        self.isFolder = isFolder
        self.isLossless = isLossless
        self.largestSide = largestSide
        self.options = options
        self.sampleLimits = sampleLimits
        self.conditions = conditions
    }

    /// True if a file can hold an animation of several frames.
    public var holdsAnimation: Bool { frameTime != nil }

    /// The limits that hold for the values of a job.
    package func sampleLimits(with values: [String: ParameterValue]) -> [SampleLimit] {
        sampleLimits.filter { values[$0.option] == $0.value }
    }

    /// The format with the samples that these values allow.
    package func limited(by values: [String: ParameterValue]) -> FormatDescriptor {
        let samples = sampleLimits(with: values).reduce(sampleFormats) { samples, limit in
            samples.filter(limit.samples.contains)
        }
        return FormatDescriptor(
            name: name, extensions: extensions, canRead: canRead, canWrite: canWrite, streams: streams,
            sampleFormats: samples, holdsAlpha: holdsAlpha, holdsProfile: holdsProfile, holdsTexts: holdsTexts,
            frameTime: frameTime, isVideo: isVideo, isFolder: isFolder, isLossless: isLossless,
            largestSide: largestSide, options: options, sampleLimits: sampleLimits,
            conditions: conditions)
    }
}

/// The value of an option with which a file has only some of the samples of its format.
public struct SampleLimit: Hashable, Sendable, Codable {
    public let option: String
    public let value: ParameterValue
    public let samples: [SampleFormat]

    public init(_ option: String, _ value: ParameterValue, _ samples: [SampleFormat]) {
        self.option = option
        self.value = value
        self.samples = samples
    }
}

/// Options that have an effect only with a value of another option.
public struct OptionCondition: Hashable, Sendable, Codable {
    public let options: [String]
    public let other: String
    public let value: ParameterValue

    public init(_ options: [String], need other: String, _ value: ParameterValue) {
        self.options = options
        self.other = other
        self.value = value
    }
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
