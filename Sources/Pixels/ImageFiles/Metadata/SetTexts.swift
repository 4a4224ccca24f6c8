import JobModel

/// Texts that an output gets, in EXIF, XMP and IPTC alike. They replace whatever the input says in any of these.
extension MetadataTexts.Field {
    /// The text's tag in EXIF. Title and keywords have one of Windows instead, and credit has none.
    fileprivate var exifTag: UInt16? {
        switch self {
        case .copyright: 0x8298
        case .creator: 0x013B
        case .description: 0x010E
        case .title, .credit, .keywords: nil
        }
    }

    /// Windows' tag with the same meaning. It is written where EXIF has no other. Elsewhere it would contradict the text.
    fileprivate var windowsTag: UInt16? {
        switch self {
        case .creator: 0x9C9D
        case .title: 0x9C9B
        case .description: 0x9C9F
        case .keywords: 0x9C9E
        case .copyright, .credit: nil
        }
    }

    /// The dataset of the record 2, and the most bytes that the standard (IIM 4.2) allows it.
    var dataset: (number: UInt8, limit: Int) {
        switch self {
        case .copyright: (116, 128)
        case .creator: (80, 32)
        case .title: (5, 64)
        case .description: (120, 2000)
        case .credit: (110, 32)
        case .keywords: (25, 64)
        }
    }

    /// The property of XMP, and the kind of list of its value; empty for a text.
    private var property: (name: String, kind: String) {
        switch self {
        case .copyright: ("dc:rights", "Alt")
        case .creator: ("dc:creator", "Seq")
        case .title: ("dc:title", "Alt")
        case .description: ("dc:description", "Alt")
        case .credit: ("photoshop:Credit", "")
        case .keywords: ("dc:subject", "Bag")
        }
    }

    /// Datasets of the record 2 that would contradict the text: an author's position.
    var furtherDatasets: Set<UInt8> { self == .creator ? [85] : [] }

    /// All properties with this meaning, by namespace and name.
    var synonyms: [(namespace: String, name: String)] {
        let (dublin, tiff) = ("http://purl.org/dc/elements/1.1/", "http://ns.adobe.com/tiff/1.0/")
        let (photoshop, plus) = ("http://ns.adobe.com/photoshop/1.0/", "http://ns.useplus.org/ldf/xmp/1.0/")
        return switch self {
        case .copyright:
            [
                (dublin, "rights"), (tiff, "Copyright"), (plus, "CopyrightOwner"),
                ("http://ns.adobe.com/xap/1.0/rights/", "Owner"),
            ]
        case .creator:
            [
                (dublin, "creator"), (tiff, "Artist"), (photoshop, "AuthorsPosition"), (plus, "ImageCreator"),
                ("http://creativecommons.org/ns#", "attributionName"),
            ]
        case .title: [(dublin, "title")]
        case .description: [(dublin, "description"), (tiff, "ImageDescription")]
        case .credit: [(photoshop, "Credit")]
        case .keywords: [(dublin, "subject"), ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject")]
        }
    }

    /// Keywords of texts in a PNG with this meaning.
    var pngKeywords: Set<String> {
        switch self {
        case .copyright: ["Copyright"]
        case .creator: ["Author", "Artist"]
        case .title: ["Title"]
        case .description: ["Description"]
        case .keywords: ["Keywords"]
        case .credit: []
        }
    }

    fileprivate func xmp(_ texts: [String]) -> XMPProperty {
        let escaped = texts.map(XMPProperty.escaped)
        let (name, kind) = property
        switch kind {
        case "": return XMPProperty(name, .text(escaped.first ?? []))
        case "Alt":
            return XMPProperty(
                name,
                .list(kind: kind, [.init(language: Array("x-default".utf8), value: .text(escaped.first ?? []))]))
        default:
            return XMPProperty(name, .list(kind: kind, escaped.map { .init(language: nil, value: .text($0)) }))
        }
    }
}

extension MetadataTexts {
    /// The texts as properties of XMP.
    var properties: [XMPProperty] { fields.map { $0.xmp(self[$0]) } }

    /// Whether EXIF has a tag for one of them.
    var concernsExif: Bool { fields.contains { $0.exifTag ?? $0.windowsTag != nil } }
}

extension ExifDocument {
    /// Replaces the tags of these texts. Texts are UTF-8, as most programs read and write them, and UTF-16 in the tags of Windows.
    /// Several are joined by `; `.
    mutating func set(_ texts: MetadataTexts) {
        for field in texts.fields {
            removeEntries(in: .main) { [field.exifTag, field.windowsTag].contains($0.tag) }
            let text = texts[field].joined(separator: "; ")
            if let tag = field.exifTag {
                add(Entry(tag: tag, type: .ascii, bytes: Array(text.utf8) + [0]), to: .main)
            } else if let tag = field.windowsTag {
                // The lower byte comes first in every file.
                let units = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
                add(Entry(tag: tag, type: .byte, bytes: units + [0, 0]), to: .main)
            }
        }
    }
}
