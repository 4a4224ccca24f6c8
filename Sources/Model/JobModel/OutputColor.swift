public import Catalogs

/// The colour space of an output's file, if it is not the one in which the filters worked.
public struct OutputColor: Hashable, Sendable, Codable {
    public enum Space: Hashable, Sendable, Codable {
        case named(NamedColorSpace)
        /// The ICC profile in a file: of RGB, gray or CMYK.
        case profile(PictureReference)
    }

    public let space: Space
    public let intent: RenderingIntent
    /// Whether the darkest colour of the picture becomes the darkest colour of the output.
    public let blackPoint: Bool

    public init(_ space: Space, intent: RenderingIntent = .relative, blackPoint: Bool = true) {
        self.space = space
        self.intent = intent
        self.blackPoint = blackPoint
    }

    /// The file of the profile. Nil for a space with a name.
    public var profile: PictureReference? {
        if case .profile(let profile) = space { profile } else { nil }
    }

    /// The same with another reference to its profile.
    func mappingProfile(_ transform: (PictureReference) -> PictureReference) -> OutputColor {
        profile.map { OutputColor(.profile(transform($0)), intent: intent, blackPoint: blackPoint) } ?? self
    }

    /// Whether the space is known to have colours that sRGB has not. A profile may be one of gray or of a press.
    package var isWide: Bool {
        if case .named(let name) = space { name.needsProfile } else { false }
    }

    /// The space as a manifest names it.
    package var words: String {
        switch space {
        case .named(let name): name.rawValue
        case .profile(let profile): profile.path
        }
    }
}

/// A colour space that needs no file.
public enum NamedColorSpace: String, Hashable, Sendable, Codable, CaseIterable {
    case srgb
    case p3
    case adobe
    case gray

    /// Whether a file must say that its colours are in this space. Colours without a profile are in sRGB, or gray with its curve.
    public var needsProfile: Bool {
        switch self {
        case .srgb, .gray: false
        case .p3, .adobe: true
        }
    }
}

/// What becomes of colours that a profile's device cannot show.
public enum RenderingIntent: String, Hashable, Sendable, Codable, CaseIterable {
    case perceptual
    case relative
    case saturation
    case absolute
}

/// A file that an output needs beside its input.
package enum NamedFileKind: Hashable, Sendable, Codable {
    case picture
    /// A table of colours, a `.cube` file.
    case table
    case font
    /// An ICC profile for outputs in this format. The format is nil if it depends on the input.
    case profile(format: String?)
}
