/// The side of a tile.
public enum TileSize: Hashable, Sendable, Codable {
    /// As large as the halo demands: at most 30 % more pixels are read than written.
    case auto
    case pixels(Int)
}

/// Whether a frame is rendered as one task or cut into tiles.
public enum ShardMode: String, Hashable, Sendable, Codable, CaseIterable {
    case auto
    case frame
    case tile
}

/// What happens when an output is already there.
public enum ExistingPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Renders what changed, and replaces only what Penumbra published.
    case update
    case overwrite
    case skip
    case error
}

/// How much is checked before an output is published.
public enum VerifyLevel: String, Hashable, Sendable, Codable, CaseIterable {
    /// Digests of tiles and files are compared.
    case digest
    /// Also renders a random sample again on another worker, over shifted tile borders.
    case audit
    /// Also decodes the written file and compares.
    case full
}

/// How long one attempt of a task may take.
public enum TimeLimit: Hashable, Sendable, Codable {
    /// Grows with the megapixels of the task.
    case auto
    case seconds(Double)
}

/// Which colour space the filters see and the output keeps.
public enum ColorPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case srgb
}

/// How a file is known to be what it was.
public enum ComparePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// By size, time and inode; by its bytes where these differ.
    case stamp
    /// By its size alone, for file systems whose times and inodes wander.
    case size
    /// By its bytes.
    case content
}

/// What becomes of outputs whose filters give other pixels in this version of Penumbra.
public enum UpgradePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case rerender
}

/// When outputs are safe from a power failure.
public enum Durability: String, Hashable, Sendable, Codable, CaseIterable {
    /// Each is synced before it is renamed.
    case file
    /// Many are written, their file system is synced, and then they are renamed.
    case batch
}

/// Whether a receipt is written beside each output.
public enum ReceiptPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case none
    case sidecar
}

/// How many failed frames stop a job.
public enum FailureLimit: Hashable, Sendable, Codable {
    case none
    case count(Int)
    /// Of the frames that are to be rendered.
    case percent(Double)

    /// The number of failures that stops a job, for so many planned frames; nil for none. Never below 20: of a
    /// few frames all may be broken.
    public func count(of frames: Int) -> Int? {
        switch self {
        case .none: nil
        case .count(let count): count
        case .percent(let percent): max(20, Int((Double(frames) * percent / 100).rounded(.down)) + 1)
        }
    }
}

/// Which of a file's pages are read.
public enum PageChoice: Hashable, Sendable, Codable {
    /// The first page, or the one that the file names as its picture.
    case first
    /// One page, from 0.
    case page(Int)
    /// All frames of an animation, one after the other; the first page of any other file.
    case animation
    /// One frame, from 0, of the animation that the job makes of the first page.
    case frame(Int)

    /// The same choice whatever its number.
    public var unnumbered: PageChoice {
        switch self {
        case .page: .page(0)
        case .frame: .frame(0)
        case .first, .animation: self
        }
    }

    /// The same choice with another number. The pages behind the first one of a file are chosen by their numbers.
    public func numbered(_ number: Int) -> PageChoice {
        switch self {
        case .page: .page(number)
        case .frame: .frame(number)
        case .first: number > 0 ? .page(number) : .first
        case .animation: self
        }
    }

    /// 0 where there is none.
    public var number: Int {
        switch self {
        case .page(let number), .frame(let number): number
        case .first, .animation: 0
        }
    }
}

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
