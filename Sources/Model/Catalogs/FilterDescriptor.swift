/// What a filter offers to a manifest.
public struct FilterDescriptor: Hashable, Sendable, Codable {
    /// How many input pixels one output pixel needs.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// Its own pixel only.
        case point
        /// A neighbourhood.
        case area
        /// Pixels move: sizes, positions or both change.
        case geometry
        /// One picture becomes several frames. Such a filter stands under `animate:`, and in no other chain.
        case animation
    }

    /// Where the filter's code is.
    public enum Origin: Hashable, Sendable, Codable {
        case builtIn
        case plugin(path: String)
    }

    public let name: String
    public let kind: Kind
    /// A sentence on one line, without its full stop: `Blurs with a Gaussian`.
    public let summary: String
    /// Changes only when the filter's pixels change.
    public let renderingVersion: Int
    public let parameters: [ParameterDescriptor]
    public let rules: [ParameterRule]
    public let origin: Origin
    /// Whether a plugin decides by itself what it reads, so that pixels may move.
    public let hasOwnGeometry: Bool
    /// Whether it refuses some values that its parameters and rules allow, so that only a worker can tell.
    public let refusesValues: Bool

    /// What is measured of each picture before the filter is made. Nil for nothing.
    public let measures: Measured?

    /// Something that is found out from the pixels of a picture, as it is in its file. So such a filter stands at the
    /// beginning of a chain.
    public enum Measured: String, Hashable, Sendable, Codable {
        /// The part of the picture that the filter keeps.
        case part
        /// The angle by which the filter turns the picture. It is measured in the part that a filter before this one keeps.
        case angle
        /// The light of a place of the picture, whatever filters before this one keep of it.
        case light

        /// Whether a filter may measure this behind `other`.
        public func mayFollow(_ other: Measured) -> Bool {
            switch self {
            case .part: false
            case .angle: other == .part
            case .light: other != .light
            }
        }
    }

    /// Whether things may be in other places of the output than of the input.
    public var mayMovePixels: Bool { kind == .geometry || hasOwnGeometry }

    public init(
        name: String, kind: Kind, summary: String, renderingVersion: Int, parameters: [ParameterDescriptor],
        rules: [ParameterRule] = [], origin: Origin = .builtIn, hasOwnGeometry: Bool = false,
        refusesValues: Bool = false, measures: Measured? = nil
    ) {
        (self.hasOwnGeometry, self.refusesValues, self.measures) = (hasOwnGeometry, refusesValues, measures)
        self.name = name
        self.kind = kind
        self.summary = summary
        self.renderingVersion = renderingVersion
        self.parameters = parameters
        self.rules = rules
        self.origin = origin
    }

    /// The filter with other fallbacks for shared parameters.
    func sharing(_ shared: [String: ParameterValue]) -> FilterDescriptor {
        with(
            parameters: parameters.map { parameter in
                shared[parameter.name].flatMap { parameter.isShared ? parameter.fallingBack(to: $0) : nil } ?? parameter
            })
    }

    func with(parameters: [ParameterDescriptor]) -> FilterDescriptor {
        FilterDescriptor(
            name: name, kind: kind, summary: summary, renderingVersion: renderingVersion, parameters: parameters,
            rules: rules, origin: origin, hasOwnGeometry: hasOwnGeometry, refusesValues: refusesValues,
            measures: measures)
    }

    /// The fallbacks of the parameters that `given` lacks, except for parameters that a given one replaces.
    public func fallbacks(beside given: [String: ParameterValue]) -> [String: ParameterValue] {
        var fallbacks: [String: ParameterValue] = [:]
        for parameter in parameters where given[parameter.name] == nil {
            fallbacks[parameter.name] = parameter.fallback
        }
        for case .replaces(let parameter, let others) in rules where given[parameter] != nil {
            for other in others { fallbacks[other] = nil }
        }
        return fallbacks
    }
}
