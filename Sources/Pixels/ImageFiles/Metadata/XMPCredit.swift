import JobModel

/// Those properties of an XMP packet that an output is asked to carry, and nothing else of it: neither names of programs nor
/// identifiers, nor properties that nobody knows.
///
/// A property counts only where it describes the picture itself. Packets also hold the properties of other pictures, such as those
/// that a composite was made of (`xmpMM:Pantry`): their creators are not this picture's.
struct XMPCredit {
    private static let properties: [MetadataKind: Set<String>] = [
        .copyright: [
            "dc:rights", "xmpRights:Marked", "xmpRights:Owner", "xmpRights:UsageTerms", "xmpRights:WebStatement",
            "tiff:Copyright", "cc:license", "plus:CopyrightOwner", "plus:Licensor",
        ],
        .creator: [
            "dc:creator", "photoshop:AuthorsPosition", "photoshop:Credit", "photoshop:Source", "tiff:Artist",
            "cc:attributionName", "cc:attributionURL", "plus:ImageCreator",
        ],
        .description: ["dc:title", "dc:description", "photoshop:Headline", "tiff:ImageDescription"],
        .dates: [
            "xmp:CreateDate", "xmp:ModifyDate", "photoshop:DateCreated", "exif:DateTimeOriginal",
            "exif:DateTimeDigitized", "tiff:DateTime",
        ],
        .gps: [
            "exif:GPSLatitude", "exif:GPSLongitude", "exif:GPSAltitude", "exif:GPSAltitudeRef", "exif:GPSTimeStamp",
            "exif:GPSMapDatum", "exif:GPSVersionID", "exif:GPSImgDirection", "exif:GPSImgDirectionRef",
            "photoshop:City", "photoshop:State", "photoshop:Country", "Iptc4xmpCore:Location",
            "Iptc4xmpCore:CountryCode",
        ],
        .camera: [
            "tiff:Make", "tiff:Model", "tiff:Software", "exif:ExposureTime", "exif:FNumber", "exif:ExposureProgram",
            "exif:ISOSpeedRatings", "exif:ShutterSpeedValue", "exif:ApertureValue", "exif:ExposureBiasValue",
            "exif:MeteringMode", "exif:FocalLength", "exif:FocalLengthIn35mmFilm", "exif:WhiteBalance", "aux:Lens",
        ],
        .keywords: ["dc:subject"],
    ]

    /// What of a structure is carried: names and pages, no addresses and numbers of telephones.
    private static let members: Set = [
        "plus:CopyrightOwnerName", "plus:ImageCreatorName", "plus:LicensorName", "plus:LicensorURL",
    ]

    private let packet: [UInt8]
    private let kinds: Set<MetadataKind>
    private let wanted: Set<String>
    /// The namespace of each prefix.
    private let prefixes: [String: String]
    private var elements: [Element] = []

    private struct Element {
        let name: String
        let attributes: [XMLScanner.Attribute]
        var children: [Int] = []
        /// What stands in it beside other elements.
        var text: [UInt8] = []
    }

    init(
        _ packet: [UInt8], _ tokens: [(token: XMLScanner.Token, range: Range<Int>)], prefixes: [String: String],
        kinds: Set<MetadataKind>
    ) {
        self.packet = packet
        self.prefixes = prefixes
        self.kinds = kinds
        wanted = Set(kinds.flatMap { Self.properties[$0] ?? [] })
        var open: [Int] = []
        for (token, range) in tokens {
            switch token {
            case .open(let name, let attributes, let isEmpty):
                elements.append(Element(name: name, attributes: attributes))
                if let parent = open.last { elements[parent].children.append(elements.count - 1) }
                if !isEmpty { open.append(elements.count - 1) }
            case .close: _ = open.popLast()
            case .other:
                // Not a comment.
                if let last = open.last, packet[range.lowerBound] != UInt8(ascii: "<") {
                    elements[last].text += packet[range]
                }
            }
        }
    }

    /// In their order. Of several that have one name the first counts, as readers take it.
    var properties: [XMPProperty] {
        guard let root = elements.firstIndex(where: { rdf($0.name) == "RDF" }) else { return [] }
        var (result, names) = ([XMPProperty](), Set<String>())
        func take(_ name: String?, _ value: XMPProperty.Value?) {
            guard let name, wanted.contains(name), let value, names.insert(name).inserted else { return }
            result.append(XMPProperty(name, value))
        }
        for description in elements[root].children where rdf(elements[description].name) == "Description" {
            for attribute in elements[description].attributes {
                let name = own(attribute.name)
                take(name, text(Array(packet[attribute.value]), of: name))
            }
            for child in elements[description].children {
                let name = own(elements[child].name)
                take(name, value(child, of: name))
            }
        }
        return result
    }

    /// Nil for what is empty, and for what a reader would not understand here.
    ///
    /// - Parameter level: how deep in a property. Known ones have a list of structures of texts at most.
    private func value(_ index: Int, of name: String?, level: Int = 0) -> XMPProperty.Value? {
        guard level < 4 else { return nil }
        let element = elements[index]
        if let list = element.children.first(where: { ["Alt", "Bag", "Seq"].contains(rdf(elements[$0].name)) }) {
            let items = elements[list].children.compactMap { item -> XMPProperty.Item? in
                guard rdf(elements[item].name) == "li" else { return nil }
                return value(item, of: name, level: level + 1).map { .init(language: language(of: item), value: $0) }
            }
            return items.isEmpty ? nil : .list(kind: rdf(elements[list].name) ?? "Bag", items)
        }
        if let text = text(element.text, of: name) { return text }
        if let link = element.attributes.first(where: { rdf($0.name) == "resource" }) {
            return .link(quoted(packet[link.value]))
        }
        return structure(index, of: name, level: level)
    }

    /// Written as members of the element, or of a description in it, or as attributes of either.
    private func structure(_ index: Int, of name: String?, level: Int) -> XMPProperty.Value? {
        let inner = elements[index].children.first { rdf(elements[$0].name) == "Description" } ?? index
        var members: [XMPProperty] = []
        func take(_ name: String?, _ value: XMPProperty.Value?) {
            guard let name, let value, Self.members.contains(name), !members.contains(where: { $0.name == name }) else {
                return
            }
            members.append(XMPProperty(name, value))
        }
        for attribute in elements[inner].attributes {
            // A value with qualifiers is carried without them.
            if rdf(attribute.name) == "value" { return text(Array(packet[attribute.value]), of: name) }
            let member = own(attribute.name)
            take(member, text(Array(packet[attribute.value]), of: member))
        }
        for child in elements[inner].children {
            if rdf(elements[child].name) == "value" { return value(child, of: name, level: level + 1) }
            let member = own(elements[child].name)
            take(member, value(child, of: member, level: level + 1))
        }
        return members.isEmpty ? nil : .structure(members)
    }

    /// A text; nil for blanks alone. A date's zone tells a place.
    private func text(_ bytes: [UInt8], of name: String?) -> XMPProperty.Value? {
        guard bytes.contains(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
        let isDate = name.map { Self.properties[.dates]?.contains($0) ?? false } ?? false
        return .text(isDate && !kinds.contains(.gps) ? TimeZones.removed(from: bytes) : bytes)
    }

    private func language(of index: Int) -> [UInt8]? {
        elements[index].attributes.first { $0.name == "xml:lang" }.map { quoted(packet[$0.value]) }
    }

    /// Between double quotes.
    private func quoted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.flatMap { $0 == UInt8(ascii: "\"") ? Array("&quot;".utf8) : [$0] }
    }

    /// With the prefix that Penumbra writes.
    private func own(_ name: String) -> String? {
        guard let (namespace, local) = split(name), let prefix = XMPProperty.namespaces[namespace] else { return nil }
        return "\(prefix):\(local)"
    }

    /// The name of a part of RDF; nil for other names.
    private func rdf(_ name: String) -> String? {
        guard let (namespace, local) = split(name), namespace == XMPProperty.rdf else { return nil }
        return local
    }

    private func split(_ name: String) -> (namespace: String, local: String)? {
        guard let colon = name.firstIndex(of: ":"), let namespace = prefixes[String(name[..<colon])] else { return nil }
        return (namespace, String(name[name.index(after: colon)...]))
    }
}
