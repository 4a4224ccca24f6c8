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
        do throws(XMLScanner.Malformed) {
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

    /// The packet with a further description behind all others. One without RDF tells no reader anything, and gives way.
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

    private static func tokens(of packet: [UInt8]) throws(XMLScanner.Malformed) -> Tokens {
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
    ) throws(XMLScanner.Malformed) -> [UInt8] {
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
                guard open.last == name else { throw XMLScanner.Malformed() }
                if removedDepth == nil { result += packet[range] }
                if removedDepth == open.count { removedDepth = nil }
                open.removeLast()
            }
        }
        guard open.isEmpty else { throw XMLScanner.Malformed() }
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
