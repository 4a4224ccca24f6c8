/// A length in pixels, or in percent of the side that it is measured along.
public enum Length: Hashable, Sendable, Codable {
    case pixels(Double)
    case percent(Double)

    public var isZero: Bool {
        switch self {
        case .pixels(let value), .percent(let value): value == 0
        }
    }

    /// The length in pixels, along a side of `side` pixels.
    public func pixels(of side: Int) -> Double {
        switch self {
        case .pixels(let value): value
        case .percent(let value): value * Double(side) / 100
        }
    }
}

/// A rectangle with rounded corners that a manifest names: `{x: 10%, y: 0, width: 200, height: 50%, corner_radius: 8}`.
public struct Region: Hashable, Sendable, Codable {
    public let x: Length
    public let y: Length
    public let width: Length
    public let height: Length
    public let cornerRadius: Length

    public init(x: Length, y: Length, width: Length, height: Length, cornerRadius: Length = .pixels(0)) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.cornerRadius = cornerRadius
    }
}

/// Several regions of one picture, or none.
public struct RegionSet: Hashable, Sendable, Codable {
    public let regions: [Region]
    /// More regions, which are no rectangles. Recipes without them do not have the key.
    private let drawn: [RegionOutline]?
    /// The size of the picture that lengths in pixels refer to. Nil for the filter's input.
    public let size: PictureSize?

    public init(_ regions: [Region], outlines: [RegionOutline] = [], of size: PictureSize? = nil) {
        self.regions = regions
        self.size = size
        drawn = outlines.isEmpty ? nil : outlines
    }

    public var outlines: [RegionOutline] { drawn ?? [] }
    /// Of rectangles and outlines.
    public var count: Int { regions.count + outlines.count }

    private enum CodingKeys: String, CodingKey {
        case regions, size
        case drawn = "outlines"
    }
}

/// A region within closed straight lines, such as the outline of a person.
public struct RegionOutline: Hashable, Sendable, Codable {
    /// For each closed line, x and y of its corners in turn, in pixels. What lies within lines of opposite directions is a hole.
    public let rings: [[Double]]
    /// How far the region reaches beyond its lines, in pixels.
    public let grow: Double

    public init(rings: [[Double]], grow: Double = 0) {
        self.rings = rings
        self.grow = grow
    }

    /// The number of corners.
    public var corners: Int { rings.reduce(0) { $0 + $1.count / 2 } }

    /// One picture has at most as many. More would take long.
    public static let mostCorners = 100_000
}

/// The width and height of a picture in pixels.
public struct PictureSize: Hashable, Sendable, Codable {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A file with the regions of the pictures of a job: `{from: faces.json, categories: [face], grow: 15%}`.
public struct RegionFile: Hashable, Sendable, Codable {
    /// What becomes of a picture that the file does not list.
    public enum Unlisted: String, Hashable, Sendable, Codable, CaseIterable {
        /// It fails, because somebody may have forgotten it.
        case fail
        /// It has no regions.
        case none
    }

    /// What a region of a file is where the file has an outline, too.
    public enum Shape: String, Hashable, Sendable, Codable, CaseIterable {
        /// The box around it.
        case box
        /// What the outline encloses.
        case outline
    }

    /// Absolute. With the fields `{dir}`, `{stem}` or `{ext}`, each picture has a file of its own.
    public let path: String
    /// The names of the categories that count. Empty for all.
    public let categories: [String]
    /// How far each side moves outwards. Percents refer to the region's own sides.
    public let grow: Length
    public let cornerRadius: Length
    public let unlisted: Unlisted
    public let shape: Shape

    public init(
        path: String, categories: [String] = [], grow: Length = .pixels(0), cornerRadius: Length = .pixels(0),
        unlisted: Unlisted = .fail, shape: Shape = .box
    ) {
        self.path = path
        self.categories = categories
        self.grow = grow
        self.cornerRadius = cornerRadius
        self.unlisted = unlisted
        self.shape = shape
    }
}

/// A point that a manifest names: `{x: 10%, y: 24}`.
public struct Point: Hashable, Sendable, Codable {
    public let x: Length
    public let y: Length

    public init(x: Length, y: Length) {
        self.x = x
        self.y = y
    }
}

/// A picture that a filter reads beside its input, or another file, such as a font.
public struct PictureReference: Hashable, Sendable, Codable {
    /// Absolute.
    public let path: String
    /// The digest of its bytes, as 32 hexadecimal digits. Nil before it was read.
    public let digest: String?
    /// Recipes of pictures that belong to all inputs do not have it.
    private let own: Bool?

    /// - Parameter isOwn: see ``isOwn``.
    public init(path: String, digest: String? = nil, isOwn: Bool = false) {
        self.path = path
        self.digest = digest
        own = isOwn ? true : nil
    }

    /// Whether a ``PictureTemplate`` has found it for one input. Then a mask may be black: the input has nothing to change.
    public var isOwn: Bool { own == true }

    /// Whether two references have the same bytes, wherever the files are. Compares paths if the bytes are unknown.
    public func hasContent(of other: PictureReference) -> Bool {
        guard let digest, let otherDigest = other.digest else { return path == other.path }
        return digest == otherDigest
    }
}

/// The path of a picture that each input has of its own: `masks/{stem}.png`.
public struct PictureTemplate: Hashable, Sendable, Codable {
    /// Absolute, with at least one of the fields `{dir}`, `{stem}` and `{ext}`.
    public let path: String

    public init(path: String) { self.path = path }
}

/// The value of one parameter in a manifest, after its schema gave it a type.
public enum ParameterValue: Hashable, Sendable, Codable {
    case number(Double)
    case pair(x: Double, y: Double)
    case integer(Int)
    case boolean(Bool)
    /// A choice, or a word that a number's parameter also takes (`samples: continuous`).
    case word(String)
    case text(String)
    case region(Region)
    /// Several, or none: a picture without faces.
    case regions(RegionSet)
    /// The regions of each picture are in a file. They take its place before a filter is made.
    case regionFile(RegionFile)
    case length(Length)
    case path([Point])
    /// All numbers by their names.
    case numbers([String: Double])
    case size(SizeWish)
    /// Red, green, blue and alpha, each 0–255.
    case color(red: Int, green: Int, blue: Int, alpha: Int)
    /// A picture, a table of colours, or a font.
    case picture(PictureReference)
    /// The path of a picture of each input. Before a filter is made, a ``picture(_:)`` takes its place.
    case pictureTemplate(PictureTemplate)
    case command(ProgramCommand)
    case template(TextTemplate)
}

extension ParameterValue {
    /// The number of a value that is one; nil for any other value.
    package var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
}
