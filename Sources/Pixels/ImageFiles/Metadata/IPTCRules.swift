import JobModel

/// The IPTC records (IIM 4.2) of an output: no picture, and with some policies only the requested kinds.
enum IPTCRules {
    /// - Parameter kinds: the requested kinds; nil for all.
    static func apply(to records: [UInt8], kinds: Set<MetadataKind>?) -> [UInt8]? {
        guard !records.holdsJPEG else { return nil }
        guard let kinds else { return records }
        let wanted = Set(kinds.flatMap { numbers[$0] ?? [] })
        let all = datasets(of: records)
        let kept = all.filter { $0.record == 2 && wanted.contains($0.number) }
        guard !kept.isEmpty else { return nil }
        // The character set of the texts, and the version of the standard.
        let frame = all.filter { $0.record == 1 && $0.number == 90 || $0.record == 2 && $0.number == 0 }
        return (frame + kept).flatMap(\.bytes)
    }

    /// The records with these texts, in place of others with the same meaning. Texts longer than the standard allows are cut.
    ///
    /// If a text is not ASCII, all texts become UTF-8, and are marked so.
    static func setting(_ texts: MetadataTexts, in records: [UInt8]) -> [UInt8] {
        let all = datasets(of: records)
        let replaced = Set(texts.fields.map(\.dataset.number)).union(texts.fields.flatMap(\.furtherDatasets))
        let wasUTF8 = isUTF8(all)
        let isUTF8 = wasUTF8 || !texts.fields.allSatisfy { texts[$0].allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } } }
        var result = isUTF8 ? dataset(1, 90, utf8Mark) : []
        for dataset in all where dataset.record == 1 && !(dataset.number == 90 && isUTF8) { result += dataset.bytes }
        if !all.contains(where: { $0.record == 2 && $0.number == 0 }) { result += dataset(2, 0, [0, 4]) }
        for old in all where old.record == 2 && !replaced.contains(old.number) {
            let isText = isUTF8 && !wasUTF8 && !old.isExtended && !binary.contains(old.number)
            result +=
                isText
                ? dataset(2, old.number, cut(string(old.content, isUTF8: false), to: longest)) : Array(old.bytes)
        }
        for field in texts.fields {
            let (number, limit) = field.dataset
            for text in texts[field] { result += dataset(2, number, cut(text, to: limit)) }
        }
        for dataset in all where ![1, 2].contains(dataset.record) { result += dataset.bytes }
        return result
    }

    /// Datasets of the record 2 that are no texts.
    private static let binary: Set<UInt8> = [0, 125, 200, 201, 202]
    private static let utf8Mark: [UInt8] = [0x1B, 0x25, 0x47]

    private static func isUTF8(_ datasets: [Dataset]) -> Bool {
        datasets.contains { $0.record == 1 && $0.number == 90 && $0.content.elementsEqual(utf8Mark) }
    }

    private static func dataset(_ record: UInt8, _ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0x1C, record, number] + .number(content.count, length: 2, littleEndian: false) + content
    }

    /// The most bytes of a dataset that is not extended.
    private static let longest = 0x7FFF

    /// The longest beginning of so many bytes that ends with a whole character.
    private static func cut(_ text: String, to limit: Int) -> [UInt8] {
        var rest = text[...]
        while rest.utf8.count > limit { rest.removeLast() }
        return Array(rest.utf8)
    }

    private static let numbers: [MetadataKind: Set<UInt8>] = [
        .copyright: [116], .creator: [80, 85, 110, 115], .description: [5, 105, 120], .dates: [55, 62],
        .gps: [90, 92, 95, 100, 101], .keywords: [25],
    ]

    /// The records as XMP properties, with the mapping of IPTC's own standard.
    /// <https://www.iptc.org/std/photometadata/specification/IPTC-PhotoMetadata>
    static func properties(of records: [UInt8]) -> [XMPProperty] {
        let all = datasets(of: records)
        // Without the mark for UTF-8, most writers use Latin-1, and some UTF-8.
        let isUTF8 = isUTF8(all)
        return names.compactMap { number, name, kind in
            let texts = all.filter { $0.record == 2 && $0.number == number }.map { text($0.content, isUTF8: isUTF8) }
                .filter { !$0.isEmpty }
            guard let first = texts.first else { return nil }
            switch kind {
            case "": return XMPProperty(name, .text(number == 55 ? date(first) : first))
            case "Alt":
                return XMPProperty(
                    name, .list(kind: kind, [.init(language: Array("x-default".utf8), value: .text(first))]))
            default:
                return XMPProperty(name, .list(kind: kind, texts.map { .init(language: nil, value: .text($0)) }))
            }
        }
    }

    /// The number of a dataset, the corresponding property, and the kind of list of its value.
    private static let names: [(UInt8, String, String)] = [
        (80, "dc:creator", "Seq"), (85, "photoshop:AuthorsPosition", ""), (110, "photoshop:Credit", ""),
        (115, "photoshop:Source", ""), (116, "dc:rights", "Alt"), (5, "dc:title", "Alt"),
        (105, "photoshop:Headline", ""), (120, "dc:description", "Alt"), (55, "photoshop:DateCreated", ""),
        (92, "Iptc4xmpCore:Location", ""), (90, "photoshop:City", ""), (95, "photoshop:State", ""),
        (100, "Iptc4xmpCore:CountryCode", ""), (101, "photoshop:Country", ""), (25, "dc:subject", "Bag"),
    ]

    /// A text escaped for XML, without characters that XML cannot contain.
    private static func text(_ content: ArraySlice<UInt8>, isUTF8: Bool) -> [UInt8] {
        XMPProperty.escaped(string(content, isUTF8: isUTF8))
    }

    private static func string(_ content: ArraySlice<UInt8>, isUTF8: Bool) -> String {
        let latin = String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
        return isUTF8 ? String(decoding: content, as: UTF8.self) : String(validating: content, as: UTF8.self) ?? latin
    }

    /// A date such as `2026-11-24` from `20261124`. Other texts stay as they are: a cut within a letter would damage them.
    private static func date(_ text: [UInt8]) -> [UInt8] {
        guard text.count == 8, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return text
        }
        return Array(text[..<4] + [UInt8(ascii: "-")] + text[4..<6] + [UInt8(ascii: "-")] + text[6...])
    }

    private struct Dataset {
        let record: UInt8
        let number: UInt8
        let bytes: ArraySlice<UInt8>
        /// Whether it may be longer than 32767 bytes. Texts are shorter.
        let isExtended: Bool
        /// Empty if it is extended.
        var content: ArraySlice<UInt8> { isExtended ? [] : bytes.dropFirst(5) }
    }

    /// The datasets up to the first that is malformed.
    private static func datasets(of records: [UInt8]) -> [Dataset] {
        var (rest, result) = (records[...], [Dataset]())
        while rest.count >= 5, rest[rest.startIndex] == 0x1C {
            let start = rest.startIndex
            var (header, length) = (5, Int(rest[start + 3]) << 8 | Int(rest[start + 4]))
            let isExtended = length >= 0x8000
            if isExtended {
                // The length has a length.
                let digits = length & 0x7FFF
                guard digits <= 4, rest.count >= 5 + digits else { break }
                header += digits
                length = rest[(start + 5)..<(start + header)].reduce(0) { $0 << 8 | Int($1) }
            }
            guard length <= rest.count - header else { break }
            result.append(
                Dataset(
                    record: rest[start + 1], number: rest[start + 2], bytes: rest.prefix(header + length),
                    isExtended: isExtended))
            rest = rest.dropFirst(header + length)
        }
        return result
    }
}

/// Photoshop's image resources (`8BIM`). JPEG and TIFF files store IPTC records in them, with previews and other data that
/// outputs do not keep.
enum PhotoshopResources {
    private static let signature = Array("8BIM".utf8)
    private static let iptcRecords: UInt16 = 0x0404

    /// The IPTC records in a block of resources. Nil if there are none, or if the block is malformed before them.
    ///
    /// - Parameter block: the resources, with or without the `Photoshop 3.0` mark of a JPEG; or bare IPTC records, as in some
    ///   TIFF files.
    static func iptc(in block: [UInt8]) -> Blob? {
        let mark = Array("Photoshop 3.0\0".utf8)
        var rest = block.starts(with: mark) ? block[mark.count...] : block[...]
        if rest.first == 0x1C { return Blob(Array(rest)) }
        while let (identifier, data) = takeResource(from: &rest) {
            if identifier == iptcRecords { return data.isEmpty ? nil : Blob(Array(data)) }
        }
        return nil
    }

    /// Reads one resource: a signature, an identifier, a name and the data. Name and data are padded to an even length.
    private static func takeResource(from bytes: inout ArraySlice<UInt8>) -> (UInt16, ArraySlice<UInt8>)? {
        guard bytes.starts(with: signature), bytes.count >= 12 else { return nil }
        let start = bytes.startIndex
        let identifier = UInt16(bytes[start + 4]) << 8 | UInt16(bytes[start + 5])
        let nameLength = Int(bytes[start + 6])
        bytes = bytes.dropFirst(6 + (nameLength + 2) / 2 * 2)
        guard bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(4)
        guard bytes.count >= length else { return nil }
        let data = bytes.prefix(length)
        bytes = bytes.dropFirst((length + 1) / 2 * 2)
        return (identifier, data)
    }

    /// The records as a block with one resource.
    static func wrapping(_ iptc: Blob) -> Blob {
        let emptyName: [UInt8] = [0, 0]
        return Blob(
            signature + .number(Int(iptcRecords), length: 2, littleEndian: false) + emptyName
                + .number(iptc.bytes.count, length: 4, littleEndian: false) + iptc.bytes.paddedToEven)
    }
}
