import JobModel

/// The rules for the XMP packet of an output: no picture, and no properties of the input's size and orientation.
///
/// A packet that cannot be parsed, or that contains something similar to a picture, is dropped.
enum XMPRules {
    /// A property by its namespace and name.
    private struct Property: Hashable {
        let namespace: String
        let name: String
    }

    private static let pictures: Set<Property> = [
        Property(namespace: "http://ns.adobe.com/xap/1.0/", name: "Thumbnails"),
        // A pointer to a second packet, which a JPEG has in other segments, and which Penumbra does not read.
        Property(namespace: "http://ns.adobe.com/xmp/note/", name: "HasExtendedXMP"),
    ]

    /// The namespaces of depth maps, second pictures and videos of phones.
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
    ///   - kinds: the requested kinds; nil for all.
    ///   - isConverted: whether the pixels were converted to sRGB.
    ///   - more: properties that are added where the packet lacks them.
    ///   - texts: the packet loses all properties with their meanings.
    static func apply(
        to packet: [UInt8], kinds: Set<MetadataKind>?, isConverted: Bool, adding more: [XMPProperty] = [],
        replacing texts: MetadataTexts? = nil
    ) -> [UInt8]? {
        guard String(validating: packet, as: UTF8.self) != nil else { return nil }
        let replaced = (texts?.fields ?? []).flatMap(\.synonyms).map {
            Property(namespace: $0.namespace, name: $0.name)
        }
        let unwanted = pictures.union(geometry).union(isConverted ? color : [])
        do throws(XMLScanner.MalformedError) {
            let tokens = try tokens(of: packet)
            let prefixes = prefixes(in: tokens, of: packet)
            // Names with two meanings could hide what the texts replace.
            if texts != nil, isAmbiguous(tokens, of: packet) { return nil }
            let description = Property(namespace: XMPProperty.rdf, name: "Description")
            let result = try remove(from: packet, tokens) { name, parent in
                guard let property = property(name, prefixes) else { return false }
                // Other elements have properties of other pictures, such as the parts of a composite.
                let isOwn = parent.flatMap { Self.property($0, prefixes) } == description
                return unwanted.contains(property) || isOwn && replaced.contains(property)
                    || property.namespace.hasPrefix(pictureNamespaces)
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

    /// The packet with another description after all others. A packet without RDF is replaced, because no reader understands
    /// it.
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

    /// The namespaces of prefixes. The place of a declaration is ignored, because no packet gives one prefix two meanings.
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

    /// Whether a prefix stands for two namespaces, or names have none.
    private static func isAmbiguous(_ tokens: Tokens, of packet: [UInt8]) -> Bool {
        var known: [String: ArraySlice<UInt8>] = [:]
        for (token, _) in tokens {
            guard case .open(_, let attributes, _) = token else { continue }
            for attribute in attributes {
                if attribute.name == "xmlns" { return true }
                guard attribute.name.hasPrefix("xmlns:") else { continue }
                let namespace = packet[attribute.value]
                if let other = known.updateValue(namespace, forKey: attribute.name), !other.elementsEqual(namespace) {
                    return true
                }
            }
        }
        return false
    }

    /// The packet without the elements and attributes that are unwanted.
    ///
    /// - Parameter isUnwanted: gets a name, and that of the element that has it.
    private static func remove(
        from packet: [UInt8], _ tokens: Tokens, _ isUnwanted: (String, _ parent: String?) -> Bool
    ) throws(XMLScanner.MalformedError) -> [UInt8] {
        var result: [UInt8] = []
        var open: [String] = []
        var removedDepth: Int?
        for (token, range) in tokens {
            switch token {
            case .other:
                if removedDepth == nil { result += packet[range] }
            case .open(let name, let attributes, let isEmpty):
                let parent = open.last
                if !isEmpty { open.append(name) }
                if removedDepth == nil, isUnwanted(name, parent) {
                    if !isEmpty { removedDepth = open.count }
                } else if removedDepth == nil {
                    let removed = attributes.filter { isUnwanted($0.name, name) }.map(\.range)
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

    /// Whether the packet contains a long run of base64. It may include line ends, as characters or as entities.
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

/// A property of an XMP packet in the specification's data model (ISO 16684-1, 6).
struct XMPProperty: Hashable {
    /// The name with Penumbra's prefix: `dc:creator`.
    let name: String
    let value: Value

    indirect enum Value: Hashable {
        /// XML text, escaped for an element's content.
        case text([UInt8])
        /// A link, escaped for a value in double quotes.
        case link([UInt8])
        /// `kind` is `Alt`, `Bag` or `Seq`.
        case list(kind: String, [Item])
        case structure([XMPProperty])
    }

    struct Item: Hashable {
        /// The language, as in `xml:lang`.
        let language: [UInt8]?
        let value: Value
    }

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

    /// The namespaces that Penumbra writes, by their prefixes in packets.
    static let namespaces: [String: String] = [
        "http://purl.org/dc/elements/1.1/": "dc", "http://ns.adobe.com/photoshop/1.0/": "photoshop",
        "http://ns.adobe.com/xap/1.0/rights/": "xmpRights", "http://ns.adobe.com/xap/1.0/": "xmp",
        "http://ns.adobe.com/exif/1.0/": "exif", "http://ns.adobe.com/tiff/1.0/": "tiff",
        "http://ns.adobe.com/exif/1.0/aux/": "aux", "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/": "Iptc4xmpCore",
        "http://creativecommons.org/ns#": "cc", "http://ns.useplus.org/ldf/xmp/1.0/": "plus",
    ]

    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// A text escaped for an element's content, without characters that XML cannot contain.
    static func escaped(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;".utf8
            case "<": result += "&lt;".utf8
            case ">": result += "&gt;".utf8
            case _ where scalar.value < 0x20 && !"\t\n\r".unicodeScalars.contains(scalar): break
            case "\u{FFFE}", "\u{FFFF}": break
            default: result += String(scalar).utf8
            }
        }
        return result
    }
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

    /// A description of these properties that declares its prefixes, for any packet; nil if there are none.
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
    /// The property's name, and the names of its structures' members.
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

/// The requested properties of an XMP packet. Everything else is dropped: names of programs, identifiers, and unknown
/// properties.
///
/// Only properties of the picture itself count. Packets also contain properties of other pictures, such as the sources of a
/// composite (`xmpMM:Pantry`). Their creators are not this picture's creators.
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

    /// The members of a structure that are kept: names and web pages, but no addresses and telephone numbers.
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
        /// The element's own text.
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
                // Comments are skipped.
                if let last = open.last, packet[range.lowerBound] != UInt8(ascii: "<") {
                    elements[last].text += packet[range]
                }
            }
        }
    }

    /// The properties in order. If several have the same name, the first is used, as readers do.
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

    /// Nil for an empty value, and for a value that readers do not understand here.
    ///
    /// - Parameter level: the depth in a property. Known properties have at most a list of structures of texts.
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

    /// A structure, written as members of the element, or of a description in it, or as attributes of either.
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
            // The value of a property with qualifiers, without the qualifiers.
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

    /// A text; nil if it is blank. The time zone is removed from a date, because it tells where a person was.
    private func text(_ bytes: [UInt8], of name: String?) -> XMPProperty.Value? {
        guard bytes.contains(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
        let isDate = name.map { Self.properties[.dates]?.contains($0) ?? false } ?? false
        return .text(isDate && !kinds.contains(.gps) ? TimeZones.removed(from: bytes) : bytes)
    }

    private func language(of index: Int) -> [UInt8]? {
        elements[index].attributes.first { $0.name == "xml:lang" }.map { quoted(packet[$0.value]) }
    }

    /// A text escaped for double quotes.
    private func quoted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.flatMap { $0 == UInt8(ascii: "\"") ? Array("&quot;".utf8) : [$0] }
    }

    /// The name with the prefix that Penumbra writes.
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
