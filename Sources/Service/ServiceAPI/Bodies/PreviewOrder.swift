package import Queueing

/// The body of `POST /preview`: a part of what a job would make of a picture.
///
///     {"manifest": "/srv/a/night.yaml", "x": "40%", "y": 1200, "size": 256, "filters": [{"gaussian": {"radius": 14}}]}
package struct PreviewOrder: Hashable, Sendable, Decodable {
    package let source: SubmitRequest.Source
    /// An absolute path. Nil for the job's first picture.
    package let input: String?
    /// The middle of the part, each as `penumbra preview` takes it: `40%`, or `1200` for pixels.
    package let x: String
    package let y: String
    /// The longest side of the answer, in pixels.
    package let size: Int
    /// Which of the job's outputs, from 1.
    package let output: Int
    /// The manifest's changes, with other filters as one of them.
    package let options: RunOptions

    package static let largestSize = 512
    private static let mostOutputs = 1000
    /// They become an argument of a command, which the kernel limits to 128 KiB.
    private static let longestFilters = 64 << 10

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case manifest, text, folder, name, input, x, y, size, output, filters
        case overrides = "set"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        source = try SubmitRequest.Source(in: values, file: .manifest, text: .text, folder: .folder, name: .name)
        input = values.contains(.input) ? try values.path(.input) : nil
        x = try values.optional(.x, as: Offset.self)?.text ?? "50%"
        y = try values.optional(.y, as: Offset.self)?.text ?? "50%"
        size = try values.optional(.size) ?? Self.largestSize
        guard (1...Self.largestSize).contains(size) else {
            throw values.fault(.size, "\(size) is not a number of pixels from 1 to \(Self.largestSize)")
        }
        output = try values.optional(.output) ?? 1
        guard (1...Self.mostOutputs).contains(output) else {
            throw values.fault(.output, "\(output) is not a number from 1 to \(Self.mostOutputs)")
        }
        var overrides = try values.texts(.overrides, most: SubmitRequest.mostOverrides)
        // Changes of single values come after it, because they may be changes of these filters.
        if let filters = try values.optional(.filters, as: ManifestText.self) {
            guard filters.text.utf8.count <= Self.longestFilters else {
                throw values.fault(.filters, "they have more than \(Self.longestFilters) bytes")
            }
            overrides.insert("filters=\(filters.text)", at: 0)
        }
        options = try RunOptions(overrides: overrides)
    }

    /// A number of pixels, or a text such as `40%`.
    private struct Offset: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            let word: String
            if let number = try? value.decode(Double.self) {  // a text is tried below
                word = number == number.rounded() && abs(number) < 1e9 ? "\(Int(number))" : "\(number)"
            } else {
                word = try value.decode(String.self)
            }
            // What it means, the command finds out. A comma would begin the other offset, and a sign an option.
            guard (1...20).contains(word.utf8.count), word.utf8.allSatisfy(Self.isPlain) else {
                throw BodyError(
                    .invalid("'\(BodyError.shown(word))' is no place\n   = write 1200 for pixels, or \"40%\""),
                    path: BodyError.path(decoder.codingPath))
            }
            text = word
        }

        private static func isPlain(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "%")
        }
    }
}

/// A value of JSON as a manifest has it on one line: `[{gaussian: {radius: 14}}, "sharpen"]`.
struct ManifestText: Decodable, Hashable, Sendable {
    let text: String

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        if let values = try? decoder.container(keyedBy: Name.self) {  // other kinds are tried below
            text = try Self.mapping(values)
        } else if var items = try? decoder.unkeyedContainer() {  // other kinds are tried below
            var texts: [String] = []
            while !items.isAtEnd { texts.append(try items.decode(ManifestText.self).text) }
            text = "[\(texts.joined(separator: ", "))]"
        } else {
            text = try Self.scalar(decoder)
        }
    }

    /// The same body always has the same text.
    private static func mapping(_ values: KeyedDecodingContainer<Name>) throws -> String {
        let members = try values.allKeys.sorted { $0.stringValue < $1.stringValue }.map { key in
            guard isWord(key.stringValue) else {
                throw values.fault(key, "'\(BodyError.shown(key.stringValue))' is no name of a filter or a parameter")
            }
            return "\(key.stringValue): \(try values.decode(ManifestText.self, forKey: key).text)"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func scalar(_ decoder: any Decoder) throws -> String {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            throw BodyError(.invalid("a null is no value of a manifest"), path: BodyError.path(decoder.codingPath))
        }
        if let truth = try? value.decode(Bool.self) { return "\(truth)" }  // other kinds are tried below
        if let whole = try? value.decode(Int.self) { return "\(whole)" }  // other kinds are tried below
        if let number = try? value.decode(Double.self) { return "\(number)" }  // other kinds are tried below
        return quoted(try value.decode(String.self))
    }

    /// Manifests know the escapes of JSON.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    private static func isWord(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
