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
