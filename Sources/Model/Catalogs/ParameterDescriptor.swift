/// The values that a parameter takes. The manifest reader needs nothing else to type and check a value.
public enum ParameterKind: Hashable, Sendable, Codable {
    case number(minimum: Double, maximum: Double)
    /// A number for both axes, or `{x, y}`.
    case numberOrPair(minimum: Double, maximum: Double)
    /// A number, or one of the words.
    case numberOrWord(minimum: Double, maximum: Double, words: [String])
    case integer(minimum: Int, maximum: Int)
    /// An integer, or one of the words.
    case integerOrWord(minimum: Int, maximum: Int, words: [String])
    case choice([String])
    case boolean
    case text
    /// The address of an output on a site, with fields as in an output's path: `https://example.org/iiif/{stem}`.
    case address
    /// `{x, y, width, height, corner_radius}`, each in px or %; a list of them; or a file that has them for each picture.
    case regions
    /// A position in pixels or percent: `12`, `12px`, `-10%`.
    case length(within: LengthLimit = .widest)
    /// A length that cannot be negative.
    case distance
    /// At least two points, each `{x, y}` in px or %.
    case path
    /// `{name: number, …}`: numbers that belong together, each with its own range.
    case numbers([NamedRange])
    /// See ``SizeWish``.
    case size
    /// `#rgb`, `#rrggbb`, `#rrggbbaa`, or one of the names white, black, transparent.
    case color
    /// The path of a picture, from the manifest's folder. Plugins cannot have one.
    case picture
    /// The path of a table of colours (a LUT), a `.cube` file, from the manifest's folder. Plugins cannot have one.
    case table
    /// The path of a picture that is visible in the output. Everything that such a filter works on is sRGB.
    case layer
    /// The path of a font file, from the manifest's folder. Plugins cannot have one.
    case font
    /// Words with fields such as `{stem}`.
    case template
    /// A program with its arguments. The programs are those that the settings allow. Plugins cannot have one.
    case command([AllowedProgram])
}

/// One of the numbers of ``ParameterKind/numbers(_:)``.
public struct NamedRange: Hashable, Sendable, Codable {
    public let name: String
    public let minimum: Double
    public let maximum: Double
    /// The value if it is not given. Nil if it must be given.
    public let fallback: Double?

    public init(_ name: String, _ range: ClosedRange<Double>, fallback: Double? = nil) {
        self.name = name
        minimum = range.lowerBound
        maximum = range.upperBound
        self.fallback = fallback
    }
}

/// The largest absolute value of a length.
public struct LengthLimit: Hashable, Sendable, Codable {
    public let pixels: Double
    public let percent: Double

    public init(pixels: Double, percent: Double) {
        self.pixels = pixels
        self.percent = percent
    }

    /// Pixels and percent that no picture exceeds, so that sums of a few lengths stay exact.
    public static let widest = LengthLimit(pixels: 1e9, percent: 1e9)
}

/// One parameter of a filter, or one option of an output format.
public struct ParameterDescriptor: Hashable, Sendable, Codable {
    /// Another key for the same parameter. Its value is multiplied by `scale`.
    public struct Synonym: Hashable, Sendable, Codable {
        public let name: String
        public let scale: Double

        public init(_ name: String, scale: Double = 1) {
            self.name = name
            self.scale = scale
        }
    }

    public let name: String
    public let kind: ParameterKind
    /// The value if the manifest gives none. Nil if the parameter may be absent.
    public let fallback: ParameterValue?
    /// An example value, for parameters that a manifest must give.
    public let requiredLike: String?
    /// Whether a job can set it for all its filters by a key of this name, and a setting for all jobs.
    public let isShared: Bool
    /// The unit after a printed value: `px`, `°`, `%`. Empty if the value has none.
    public let unit: String
    /// A sentence on one line, without its full stop: `Blurs with a Gaussian`.
    public let summary: String
    public let synonyms: [Synonym]

    public init(
        _ name: String, _ kind: ParameterKind, fallback: ParameterValue? = nil, unit: String = "", summary: String,
        synonyms: [Synonym] = [], requiredLike: String? = nil, isShared: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.unit = unit
        self.summary = summary
        self.synonyms = synonyms
        self.requiredLike = requiredLike
        self.isShared = isShared
    }

    /// The parameter with another fallback.
    func fallingBack(to fallback: ParameterValue) -> ParameterDescriptor {
        ParameterDescriptor(
            name, kind, fallback: fallback, unit: unit, summary: summary, synonyms: synonyms,
            requiredLike: requiredLike,
            isShared: isShared)
    }
}

/// A rule between two parameters of one filter. It is data, so that the manifest reader can apply it.
public enum ParameterRule: Hashable, Sendable, Codable {
    /// If `parameter` is the word `value`, then `other` must be `required`, which is also its fallback.
    case implies(parameter: String, value: String, other: String, required: String)
    /// If `parameter` is the word `value`, `other` must be absent.
    case excludes(parameter: String, value: String, other: String)
    /// If `parameter` is given, all of `others` must be absent, and their fallbacks are not filled in.
    case replaces(parameter: String, others: [String])
    /// `parameter` has an effect only if `other` is no word, or one of `words`. If `words` is empty, no word qualifies.
    case needs(parameter: String, other: String, words: [String])
    /// If `parameter` is given, one of `others` must be given, too.
    case belongs(parameter: String, to: [String])
    /// The number `parameter` must be smaller than the number `other`.
    case below(parameter: String, other: String)
    /// `parameter` has no effect if `other` is a multiple of `step`, which is above 0.
    case idleAtMultiples(parameter: String, other: String, step: Double)
}
