import JobModel

/// What of an XMP packet an output may carry: no picture, and nothing about the input's size and orientation.
///
/// A packet that is not understood, or that holds something which looks like a picture after all, is not carried.
enum XMPRules {
    /// A property by its namespace and name.
    private struct Property: Hashable {
        let namespace: String
        let name: String
    }

    private static let pictures: Set<Property> = [
        Property(namespace: "http://ns.adobe.com/xap/1.0/", name: "Thumbnails"),
        // Points to a second packet, which a JPEG has in segments of its own and which is not read.
        Property(namespace: "http://ns.adobe.com/xmp/note/", name: "HasExtendedXMP"),
    ]

    /// Depth maps, second pictures and videos of phones.
    private static let pictureNamespaces = "http://ns.google.com/photos/1.0/"

    private static let geometry: Set<Property> = [
        Property(namespace: "http://ns.adobe.com/tiff/1.0/", name: "Orientation"),
        Property(namespace: "http://ns.adobe.com/tiff/1.0/", name: "ImageWidth"),
        Property(namespace: "http://ns.adobe.com/tiff/1.0/", name: "ImageLength"),
        Property(namespace: "http://ns.adobe.com/exif/1.0/", name: "PixelXDimension"),
        Property(namespace: "http://ns.adobe.com/exif/1.0/", name: "PixelYDimension"),
    ]

    private static let color: Set<Property> = [
        Property(namespace: "http://ns.adobe.com/exif/1.0/", name: "ColorSpace"),
        Property(namespace: "http://ns.adobe.com/photoshop/1.0/", name: "ICCProfile"),
    ]

    /// - Parameters:
    ///   - kinds: what is asked for; nil for everything.
    ///   - isConverted: the pixels became sRGB.
    ///   - more: is carried, too, where the packet does not have it.
    static func apply(
        to packet: [UInt8], kinds: Set<MetadataKind>?, isConverted: Bool, adding more: [XMPProperty] = []
    ) -> [UInt8]? {
        guard String(validating: packet, as: UTF8.self) != nil else { return nil }
        let unwanted = isConverted ? pictures.union(geometry).union(color) : pictures.union(geometry)
        do throws(XMLScanner.MalformedError) {
            let tokens = try tokens(of: packet)
            let prefixes = prefixes(in: tokens, of: packet)
            let result = try remove(from: packet, tokens) { name in
                guard let property = property(name, prefixes) else { return false }
                return unwanted.contains(property) || property.namespace.hasPrefix(pictureNamespaces)
            }
            let left = try Self.tokens(of: result)
            let known = XMPCredit(result, left, prefixes: prefixes, kinds: kinds ?? Set(MetadataKind.allCases))
                .properties
            let names = Set(known.map(\.name))
            let missing = more.filter { !names.contains($0.name) }
            let whole = kinds == nil ? adding(missing, to: result, left, prefixes) : (known + missing).packet
            return whole.flatMap { holdsBinary($0) ? nil : $0 }
        } catch {
            return nil
        }
    }

    /// The packet with a further description behind all others. A packet without RDF is replaced, because no reader understands it.
    private static func adding(
        _ properties: [XMPProperty], to packet: [UInt8], _ tokens: Tokens, _ prefixes: [String: String]
    ) -> [UInt8]? {
        guard let description = properties.furtherElement else { return packet }
        let root = Property(namespace: XMPProperty.rdf, name: "RDF")
        let end = tokens.last { token, _ in
            if case .close(let name) = token { property(name, prefixes) == root } else { false }
        }
        guard let end else { return properties.packet }
        return packet[..<end.range.lowerBound] + description + packet[end.range.lowerBound...]
    }

    private typealias Tokens = [(token: XMLScanner.Token, range: Range<Int>)]

    private static func tokens(of packet: [UInt8]) throws(XMLScanner.MalformedError) -> Tokens {
        var scanner = XMLScanner(packet)
        var result: Tokens = []
        while let next = try scanner.next() { result.append(next) }
        return result
    }

    /// The namespaces of prefixes. Where they are declared does not matter: no packet gives one prefix two meanings.
    private static func prefixes(in tokens: Tokens, of packet: [UInt8]) -> [String: String] {
        var result: [String: String] = [:]
        for (token, _) in tokens {
            guard case .open(_, let attributes, _) = token else { continue }
            for attribute in attributes where attribute.name.hasPrefix("xmlns:") {
                result[String(attribute.name.dropFirst(6))] = String(decoding: packet[attribute.value], as: UTF8.self)
            }
        }
        return result
    }

    private static func property(_ name: String, _ prefixes: [String: String]) -> Property? {
        guard let colon = name.firstIndex(of: ":"), let namespace = prefixes[String(name[..<colon])] else { return nil }
        return Property(namespace: namespace, name: String(name[name.index(after: colon)...]))
    }

    /// The packet without the elements and attributes whose names are unwanted.
    private static func remove(
        from packet: [UInt8], _ tokens: Tokens, _ isUnwanted: (String) -> Bool
    ) throws(XMLScanner.MalformedError) -> [UInt8] {
        var result: [UInt8] = []
        var open: [String] = []
        var removedDepth: Int?
        for (token, range) in tokens {
            switch token {
            case .other:
                if removedDepth == nil { result += packet[range] }
            case .open(let name, let attributes, let isEmpty):
                if !isEmpty { open.append(name) }
                if removedDepth == nil, isUnwanted(name) {
                    if !isEmpty { removedDepth = open.count }
                } else if removedDepth == nil {
                    let removed = attributes.filter { isUnwanted($0.name) }.map(\.range)
                    result += bytes(of: range, in: packet, without: removed)
                }
            case .close(let name):
                guard open.last == name else { throw XMLScanner.MalformedError() }
                if removedDepth == nil { result += packet[range] }
                if removedDepth == open.count { removedDepth = nil }
                open.removeLast()
            }
        }
        guard open.isEmpty else { throw XMLScanner.MalformedError() }
        return result
    }

    private static func bytes(of range: Range<Int>, in packet: [UInt8], without removed: [Range<Int>]) -> [UInt8] {
        var result: [UInt8] = []
        var start = range.lowerBound
        for part in removed {
            result += packet[start..<part.lowerBound]
            start = part.upperBound
        }
        return result + packet[start..<range.upperBound]
    }

    /// True for a long run of base64, whatever it codes. Line ends may be in it, as such or as entities.
    static func holdsBinary(_ packet: [UInt8]) -> Bool {
        let longest = 1000  // the longest digest or identifier in known packets has 128 digits
        var run = 0
        for byte in packet {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                run += 1
                if run > longest { return true }
            case UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"), 0x0A, 0x0D, 0x09:
                break
            default:
                run = 0
            }
        }
        return false
    }
}

/// A property of an XMP packet, as the specification's data model has it (ISO 16684-1, 6).
struct XMPProperty: Hashable {
    /// With Penumbra's prefix: `dc:creator`.
    let name: String
    let value: Value

    indirect enum Value: Hashable {
        /// XML, as it stands between two tags.
        case text([UInt8])
        /// A link, as it stands between double quotes.
        case link([UInt8])
        /// `kind` is `Alt`, `Bag` or `Seq`.
        case list(kind: String, [Item])
        case structure([XMPProperty])
    }

    struct Item: Hashable {
        /// As in `xml:lang`.
        let language: [UInt8]?
        let value: Value
    }

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

    /// All that Penumbra writes, by their names in packets.
    static let namespaces: [String: String] = [
        "http://purl.org/dc/elements/1.1/": "dc", "http://ns.adobe.com/photoshop/1.0/": "photoshop",
        "http://ns.adobe.com/xap/1.0/rights/": "xmpRights", "http://ns.adobe.com/xap/1.0/": "xmp",
        "http://ns.adobe.com/exif/1.0/": "exif", "http://ns.adobe.com/tiff/1.0/": "tiff",
        "http://ns.adobe.com/exif/1.0/aux/": "aux", "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/": "Iptc4xmpCore",
        "http://creativecommons.org/ns#": "cc", "http://ns.useplus.org/ldf/xmp/1.0/": "plus",
    ]

    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
}

extension [XMPProperty] {
    /// A packet of these properties; nil if there are none.
    var packet: [UInt8]? {
        guard let content = element(declaring: []) else { return nil }
        var result = [UInt8]("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPProperty.rdf)\">".utf8)
        result += content
        result += "</rdf:RDF></x:xmpmeta>".utf8
        return result
    }

    /// A description of these properties, for a packet whose prefixes may be others; nil if there are none.
    var furtherElement: [UInt8]? { element(declaring: [" xmlns:rdf=\"\(XMPProperty.rdf)\""]) }

    private func element(declaring more: [String]) -> [UInt8]? {
        guard !isEmpty else { return nil }
        let prefixes = Set(flatMap(\.names).map { String($0.prefix { $0 != ":" }) })
        let own = XMPProperty.namespaces.filter { prefixes.contains($0.value) }.sorted { $0.value < $1.value }
            .map { " xmlns:\($0.value)=\"\($0.key)\"" }
        var result = [UInt8]("<rdf:Description\(more.joined()) rdf:about=\"\"\(own.joined())>".utf8)
        for property in self { result += property.element }
        result += "</rdf:Description>".utf8
        return result
    }
}

extension XMPProperty {
    /// Its own, and those of the members of structures.
    fileprivate var names: [String] { [name] + value.names }

    fileprivate var element: [UInt8] { value.element(name) }
}

extension XMPProperty.Value {
    fileprivate var names: [String] {
        switch self {
        case .text, .link: []
        case .list(_, let items): items.flatMap(\.value.names)
        case .structure(let members): members.flatMap(\.names)
        }
    }

    fileprivate func element(_ name: String, language: [UInt8]? = nil) -> [UInt8] {
        var result = Array("<\(name)".utf8)
        if let language {
            result += " xml:lang=\"".utf8
            result += language
            result += "\"".utf8
        }
        switch self {
        case .text(let text):
            result += ">".utf8
            result += text
        case .link(let target):
            result += " rdf:resource=\"".utf8
            result += target
            result += "\">".utf8
        case .list(let kind, let items):
            result += "><rdf:\(kind)>".utf8
            for item in items { result += item.value.element("rdf:li", language: item.language) }
            result += "</rdf:\(kind)>".utf8
        case .structure(let members):
            result += " rdf:parseType=\"Resource\">".utf8
            for member in members { result += member.element }
        }
        result += "</\(name)>".utf8
        return result
    }
}

/// Those properties of an XMP packet that an output is asked to carry, and nothing else of it: neither names of programs nor
/// identifiers, nor unknown properties.
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

    /// A text; nil for blanks alone. A date's time zone tells where a person was.
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
