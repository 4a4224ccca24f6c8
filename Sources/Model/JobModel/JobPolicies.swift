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

/// What happens if an output already exists.
public enum ExistingPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Renders changed outputs, and replaces only files that Penumbra published.
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

/// How an unchanged file is recognised.
public enum ComparePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// By size, time and inode. If these differ, by its bytes.
    case stamp
    /// By its size alone, for file systems whose times and inodes are not stable.
    case size
    /// By its bytes.
    case content
}

/// What happens to outputs if a new version of Penumbra or of a plugin changes the pixels of their filters.
public enum UpgradePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case rerender
}

/// When outputs are safe from a power failure.
public enum Durability: String, Hashable, Sendable, Codable, CaseIterable {
    /// Each output is synced before it is renamed.
    case file
    /// Many outputs are written, their file system is synced, and then they are renamed.
    case batch
}

/// Whether a receipt is written beside each output.
public enum ReceiptPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case none
    case sidecar
}

/// What becomes of a picture's earlier outputs if the picture cannot be rendered any more.
public enum FailedOutputPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case remove
}

/// How many failed frames stop a job.
public enum FailureLimit: Hashable, Sendable, Codable {
    case none
    case count(Int)
    /// A share of the frames with work.
    case percent(Double)

    /// The number of failures that stops a job with this many planned frames; nil for none. At least 20, because all frames
    /// of a small job may be broken.
    public func count(of frames: Int) -> Int? {
        switch self {
        case .none: nil
        case .count(let count): count
        case .percent(let percent): max(20, Int((Double(frames) * percent / 100).rounded(.down)) + 1)
        }
    }
}

/// Which pages of a file are read.
public enum PageChoice: Hashable, Sendable, Codable {
    /// The first page, or the page that the file names as its picture.
    case first
    /// One page, from 0.
    case page(Int)
    /// All frames of an animation, one after the other; the first page of any other file.
    case animation
    /// One frame, from 0, of the animation that the job makes from the first page.
    case frame(Int)

    /// The same choice without its number.
    public var unnumbered: PageChoice {
        switch self {
        case .page: .page(0)
        case .frame: .frame(0)
        case .first, .animation: self
        }
    }

    /// The same choice with another number. Pages after the first are chosen by their numbers.
    public func numbered(_ number: Int) -> PageChoice {
        switch self {
        case .page: .page(number)
        case .frame: .frame(number)
        case .first: number > 0 ? .page(number) : .first
        case .animation: self
        }
    }

    /// 0 if there is none.
    public var number: Int {
        switch self {
        case .page(let number), .frame(let number): number
        case .first, .animation: 0
        }
    }
}

/// Which metadata an output carries. Embedded thumbnails and previews are always dropped.
public enum MetadataPolicy: Hashable, Sendable {
    case keep
    /// Credit, dates and camera settings. No location, serial numbers, owner, or unknown data.
    case `public`
    case icc
    case strip
    /// Only the listed kinds.
    case only(Set<MetadataKind>)

    /// The policies that are one word.
    public static let words = describedWords.map(\.word)

    /// The kinds that are carried; nil for all.
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

/// A kind of metadata, in any block: EXIF, XMP, IPTC or the texts of a PNG.
public enum MetadataKind: String, Hashable, Sendable, CaseIterable {
    case icc
    case copyright
    /// Author and credit.
    case creator
    /// Title, headline, description.
    case description
    /// When it was taken and changed, without a time zone.
    case dates
    /// Where it was taken: coordinates and names of locations.
    case gps
    /// Camera and settings, without serial numbers.
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
