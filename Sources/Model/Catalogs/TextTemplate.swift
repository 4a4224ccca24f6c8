/// A field that stands for a part of a picture's name, or for something else that is known before the picture is opened, in output
/// names and in texts.
public enum NameField: Hashable, Sendable, Codable {
    /// The input's folder below the glob's part before its first wildcard; never `..`.
    case dir
    case stem
    case ext
    case job
    case width
    case height
    /// The input's index in sorted order, from 1, zero-padded to `digits`.
    case index(digits: Int)
    /// The page of a file that has several, from 1, zero-padded to `digits`.
    case frame(digits: Int)
    /// The run's date in UTC, `2026-11-21`.
    case date
    /// Eight hexadecimal digits that change with the input's bytes, the chain and the save options.
    case hash8

    /// The field as manifests write it, without its braces.
    public var written: String {
        switch self {
        case .dir: "dir"
        case .stem: "stem"
        case .ext: "ext"
        case .job: "job"
        case .width: "width"
        case .height: "height"
        case .index(let digits): digits == 1 ? "index" : "index:0\(digits)"
        case .frame(let digits): digits == 1 ? "frame" : "frame:0\(digits)"
        case .date: "date"
        case .hash8: "hash8"
        }
    }

    /// Whether it is known only after the picture was opened, with all filters.
    public var needsProbe: Bool {
        switch self {
        case .width, .height, .hash8: true
        case .dir, .stem, .ext, .job, .index, .frame, .date: false
        }
    }
}

/// A value of a picture's EXIF metadata, in a form for people.
public enum ExifField: String, Hashable, Sendable, Codable, CaseIterable {
    /// The most bytes of a value. Longer ones are cut.
    package static let longestText = 400

    case date = "exif.date"
    case time = "exif.time"
    case camera = "exif.camera"
    case lens = "exif.lens"
    case focalLength = "exif.focal_length"
    case exposure = "exif.exposure"
    case aperture = "exif.aperture"
    case iso = "exif.iso"
}

/// Words with fields. The coordinator fills in names, and workers fill in metadata.
public struct TextTemplate: Hashable, Sendable, Codable {
    public enum Piece: Hashable, Sendable, Codable {
        case literal(String)
        case name(NameField)
        case exif(ExifField)
        /// The picture's metadata do not have the value.
        case missing(ExifField)
    }

    public let pieces: [Piece]

    public init(_ pieces: [Piece]) { self.pieces = pieces }

    /// The words, without fields that are not filled in.
    public var text: String {
        pieces.map { if case .literal(let text) = $0 { text } else { "" } }.joined()
    }

    /// The words with their fields in braces.
    public var written: String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .name(let field): "{\(field.written)}"
            case .exif(let field), .missing(let field): "{\(field.rawValue)}"
            }
        }.joined()
    }

    /// Whether it has a field that the coordinator fills in.
    public var hasNames: Bool {
        pieces.contains { if case .name = $0 { true } else { false } }
    }

    /// The fields that workers fill in, in order, without repetitions.
    public var exifFields: [ExifField] {
        ExifField.allCases.filter { pieces.contains(.exif($0)) }
    }

    /// - Parameter value: nil for a field that is filled in later.
    public func filling(_ value: (Piece) -> Piece?) -> TextTemplate {
        var result: [Piece] = []
        for piece in pieces {
            let filled = value(piece) ?? piece
            if case .literal(let text) = filled, case .literal(let before)? = result.last {
                result[result.count - 1] = .literal(before + text)
            } else {
                result.append(filled)
            }
        }
        return TextTemplate(result)
    }
}
