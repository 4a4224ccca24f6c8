import JobModel

/// Writes a new packet with those properties of another that are asked for, and nothing else of it: neither names of
/// programs nor identifiers, nor properties that nobody knows.
struct XMPCredit {
    private struct Property {
        /// As the new packet writes it.
        let prefix: String
        let name: String
    }

    private static let namespaces: [String: String] = [
        "http://purl.org/dc/elements/1.1/": "dc", "http://ns.adobe.com/photoshop/1.0/": "photoshop",
        "http://ns.adobe.com/xap/1.0/rights/": "xmpRights", "http://ns.adobe.com/xap/1.0/": "xmp",
        "http://ns.adobe.com/exif/1.0/": "exif", "http://ns.adobe.com/tiff/1.0/": "tiff",
        "http://ns.adobe.com/exif/1.0/aux/": "aux", "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/": "Iptc4xmpCore",
    ]

    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    private static let properties: [MetadataKind: Set<String>] = [
        .copyright: [
            "dc:rights", "xmpRights:Marked", "xmpRights:Owner", "xmpRights:UsageTerms", "xmpRights:WebStatement",
            "tiff:Copyright",
        ],
        .creator: ["dc:creator", "photoshop:AuthorsPosition", "photoshop:Credit", "photoshop:Source", "tiff:Artist"],
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

    private let packet: [UInt8]
    private let wanted: Set<String>
    /// The namespace of each prefix.
    private let prefixes: [String: String]

    init(_ packet: [UInt8], prefixes: [String: String], kinds: Set<MetadataKind>) {
        self.packet = packet
        self.prefixes = prefixes
        wanted = Set(kinds.flatMap { Self.properties[$0] ?? [] })
    }

    /// Nil when there is nothing of it.
    func packet(_ tokens: [(token: XMLScanner.Token, range: Range<Int>)]) -> [UInt8]? {
        var (found, depth) = (Found(), 0)
        // How deep the property lies that is carried, and what of it is not.
        var (kept, skipped): (Int?, Int?) = (nil, nil)
        for (token, range) in tokens {
            switch token {
            case .other:
                if kept != nil, skipped == nil, packet[range.lowerBound] != UInt8(ascii: "<") {
                    found.content += packet[range]
                }
            case .open(let name, let attributes, let isEmpty):
                let own = property(name)
                if kept != nil {
                    // Lists and their items are known; what else is inside of a property is not.
                    if skipped == nil, let name = structural(name) {
                        found.open(name, structural(attributes), isEmpty)
                    } else if skipped == nil, !isEmpty {
                        skipped = depth
                    }
                } else if let own {
                    found.open(own, structural(attributes), isEmpty)
                    found.prefixes.insert(String(own.prefix { $0 != ":" }))
                    if !isEmpty { kept = depth }
                } else {
                    for attribute in attributes {
                        guard let own = property(attribute.name) else { continue }
                        found.open(own, "", false)
                        found.content += packet[attribute.value]
                        found.close(own)
                        found.prefixes.insert(String(own.prefix { $0 != ":" }))
                    }
                }
                if !isEmpty { depth += 1 }
            case .close(let name):
                depth -= 1
                if skipped != nil {
                    if skipped == depth { skipped = nil }
                } else if kept == depth, let own = property(name) {
                    found.close(own)
                    kept = nil
                } else if kept != nil, let name = structural(name) {
                    found.close(name)
                }
            }
        }
        return found.prefixes.isEmpty ? nil : found.packet
    }

    private struct Found {
        var content: [UInt8] = []
        var prefixes: Set<String> = []

        mutating func open(_ name: String, _ attributes: String, _ isEmpty: Bool) {
            content += "<\(name)\(attributes)\(isEmpty ? "/" : "")>".utf8
        }

        mutating func close(_ name: String) { content += "</\(name)>".utf8 }

        var packet: [UInt8] {
            let declared = XMPCredit.namespaces.filter { prefixes.contains($0.value) }.sorted { $0.value < $1.value }
                .map { " xmlns:\($0.value)=\"\($0.key)\"" }.joined()
            return Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPCredit.rdf)\">".utf8)
                + Array("<rdf:Description rdf:about=\"\"\(declared)>".utf8) + content
                + Array("</rdf:Description></rdf:RDF></x:xmpmeta>".utf8)
        }
    }

    private func property(_ name: String) -> String? {
        guard let (namespace, local) = split(name), let prefix = Self.namespaces[namespace] else { return nil }
        let own = "\(prefix):\(local)"
        return wanted.contains(own) ? own : nil
    }

    private func structural(_ name: String) -> String? {
        guard let (namespace, local) = split(name), namespace == Self.rdf else { return nil }
        return ["Alt", "Bag", "Seq", "li"].contains(local) ? "rdf:\(local)" : nil
    }

    /// The language of a text, and a value that is a link.
    private func structural(_ attributes: [XMLScanner.Attribute]) -> String {
        attributes.compactMap { attribute -> String? in
            let value = String(decoding: packet[attribute.value], as: UTF8.self)
            guard !value.contains("\"") else { return nil }
            if attribute.name == "xml:lang" { return " xml:lang=\"\(value)\"" }
            guard let (namespace, local) = split(attribute.name), namespace == Self.rdf, local == "resource" else {
                return nil
            }
            return " rdf:resource=\"\(value)\""
        }.joined()
    }

    private func split(_ name: String) -> (namespace: String, local: String)? {
        guard let colon = name.firstIndex(of: ":"), let namespace = prefixes[String(name[..<colon])] else { return nil }
        return (namespace, String(name[name.index(after: colon)...]))
    }
}
