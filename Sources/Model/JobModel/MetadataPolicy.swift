/// Which metadata an output carries. Embedded thumbnails and previews are dropped whatever it says.
public enum MetadataPolicy: Hashable, Sendable {
    case keep
    /// Credit, dates and how it was taken. No place, no serial numbers, no owner, nothing that is not known.
    case `public`
    case icc
    case strip
    /// What is named, and nothing else.
    case only(Set<MetadataKind>)

    /// Those that are said with one word.
    public static let words = ["keep", "public", "icc", "strip"]

    /// What is carried; nil for everything.
    public var kinds: Set<MetadataKind>? {
        switch self {
        case .keep: nil
        case .public: Self.publicKinds
        case .icc: [.icc]
        case .strip: []
        case .only(let kinds): kinds
        }
    }

    private static let publicKinds: Set<MetadataKind> = [
        .icc, .copyright, .creator, .description, .dates, .camera, .resolution,
    ]
}

/// A part of a picture's metadata, whatever block it is in: EXIF, XMP, IPTC or the texts of a PNG.
public enum MetadataKind: String, Hashable, Sendable, CaseIterable {
    case icc
    case copyright
    /// Who made it, and who is to be credited.
    case creator
    /// Title, headline, description.
    case description
    /// When it was taken and changed, without a time zone.
    case dates
    /// Where it was taken: coordinates, and names of places.
    case gps
    /// With what and how it was taken, without serial numbers.
    case camera
    case keywords
    /// Pixels per inch.
    case resolution
}

extension MetadataPolicy: RawRepresentable {
    /// A word, or the kinds as a manifest lists them: `[icc, copyright]`.
    public var rawValue: String {
        switch self {
        case .keep: "keep"
        case .public: "public"
        case .icc: "icc"
        case .strip: "strip"
        case .only(let kinds):
            "[\(MetadataKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ", "))]"
        }
    }

    public init?(rawValue: String) {
        switch rawValue {
        case "keep": self = .keep
        case "public": self = .public
        case "icc": self = .icc
        case "strip": self = .strip
        default:
            guard rawValue.hasPrefix("["), rawValue.hasSuffix("]") else { return nil }
            let names = rawValue.dropFirst().dropLast().split(separator: ",").map { $0.drop { $0 == " " } }
            let kinds = names.compactMap { MetadataKind(rawValue: String($0)) }
            guard kinds.count == names.count, !kinds.isEmpty else { return nil }
            self = .only(Set(kinds))
        }
    }
}

/// As its words.
extension MetadataPolicy: Codable {}
