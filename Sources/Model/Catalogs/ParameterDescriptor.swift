/// What values a parameter takes. The manifest reader types and checks a value by this alone.
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
    /// `{x, y, width, height, corner_radius}`, each in px or %.
    case region
    /// A place in pixels or percent: `12`, `12px`, `-10%`.
    case length(within: LengthLimit = .widest)
    /// A length that cannot be negative.
    case distance
    /// At least two places, each `{x, y}` in px or %.
    case path
    /// `{name: number, …}`: some numbers that belong together, each in its own range.
    case numbers([NamedRange])
    /// See ``SizeWish``.
    case size
    /// `#rgb`, `#rrggbb`, `#rrggbbaa`, or one of the names white, black, transparent.
    case color
    /// The path of a picture, from the manifest's folder. Plugins cannot have one.
    case picture
    /// Likewise, of a picture that is seen in the output: all that such a filter works on is sRGB.
    case layer
}

/// One of the numbers of ``ParameterKind/numbers(_:)``.
public struct NamedRange: Hashable, Sendable, Codable {
    public let name: String
    public let minimum: Double
    public let maximum: Double
    /// What is used when it is not given; nil when it must be.
    public let fallback: Double?

    public init(_ name: String, _ range: ClosedRange<Double>, fallback: Double? = nil) {
        self.name = name
        minimum = range.lowerBound
        maximum = range.upperBound
        self.fallback = fallback
    }
}

/// How far a length may lead, either way.
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
    /// Another key for the same parameter; its value is multiplied by `scale` to give the parameter's own.
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
    /// What is used when the manifest does not say; nil when the parameter may simply be absent.
    public let fallback: ParameterValue?
    /// A value as one would write it, when a manifest has to give one.
    public let requiredLike: String?
    /// Whether a job can say it for all its filters, by a key of its own with this name, and a setting for all jobs.
    public let isShared: Bool
    /// As printed after a value: `px`, `°`, `%`; empty when the value has none.
    public let unit: String
    /// One line, without a full stop.
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

    /// The same with another fallback.
    func fallingBack(to fallback: ParameterValue) -> ParameterDescriptor {
        ParameterDescriptor(
            name, kind, fallback: fallback, unit: unit, summary: summary, synonyms: synonyms,
            requiredLike: requiredLike,
            isShared: isShared)
    }
}

/// A rule between two parameters of one filter, kept as data so that the manifest reader can hold it.
public enum ParameterRule: Hashable, Sendable, Codable {
    /// When `parameter` is the word `value`, `other` takes `required` if the manifest is silent, and nothing else.
    case implies(parameter: String, value: String, other: String, required: String)
    /// When `parameter` is the word `value`, `other` must be absent.
    case excludes(parameter: String, value: String, other: String)
    /// When `parameter` is given, all of `others` must be absent, and their fallbacks are not filled in.
    case replaces(parameter: String, others: [String])
    /// `parameter` has an effect only where `other` is no word, or one of `words`; none are with no word.
    case needs(parameter: String, other: String, words: [String])
}
