import JobModel

/// Texts that an output gets, in EXIF, XMP and IPTC alike. They replace whatever the input says in any of these.
extension MetadataTexts.Field {
    /// The tag in EXIF. Title, credit and keywords have none.
    fileprivate var exifTag: UInt16? {
        switch self {
        case .copyright: 0x8298
        case .creator: 0x013B
        case .description: 0x010E
        case .title, .credit, .keywords: nil
        }
    }

    /// Windows' tags with the same meaning, which would contradict the text.
    fileprivate var windowsTags: Set<UInt16> {
        switch self {
        case .creator: [0x9C9D]
        case .title: [0x9C9B]
        case .description: [0x9C9F]
        case .keywords: [0x9C9E]
        case .copyright, .credit: []
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
    var concernsExif: Bool { fields.contains { $0.exifTag != nil } }
}

extension ExifDocument {
    /// Replaces the tags of these texts. Texts are UTF-8, as most programs read and write them; several are joined by `; `.
    mutating func set(_ texts: MetadataTexts) {
        for field in texts.fields {
            removeEntries(in: .main) { $0.tag == field.exifTag || field.windowsTags.contains($0.tag) }
            guard let tag = field.exifTag else { continue }
            let text = Array(texts[field].joined(separator: "; ").utf8)
            add(Entry(tag: tag, type: .ascii, bytes: text + [0]), to: .main)
        }
    }
}
