import JobModel
package import Queueing

/// The body of `POST /preview`: a part of what a job would make of a picture.
///
///     {"manifest": "/srv/a/night.yaml", "x": 400, "y": 1200, "size": 256, "filters": [{"gaussian": {"radius": 14}}]}
package struct PreviewOrder: Hashable, Sendable, Decodable {
    package let source: SubmitRequest.Source
    /// An absolute path. Nil for the job's first picture.
    package let input: String?
    /// The part's first pixel, in the output. Nil for the middle of it.
    package let x: Int?
    package let y: Int?
    /// The middle of the part, in percent of the output's width and height, in place of ``x`` and ``y``: `40%,30%`.
    package let at: String?
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
        case manifest, text, folder, name, input, x, y, at, size, output, filters
        case overrides = "set"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        source = try SubmitRequest.Source(in: values, file: .manifest, text: .text, folder: .folder, name: .name)
        input = try Self.input(in: values, of: source)
        x = try Self.offset(.x, in: values)
        y = try Self.offset(.y, in: values)
        at = try Self.percents(in: values)
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
            // A manifest has to have a filter. This one keeps the whole picture.
            let text = filters.text == "[]" ? "[{crop: {}}]" : filters.text
            overrides.insert("filters=\(text)", at: 0)
        }
        options = try RunOptions(overrides: overrides)
    }

    private static func offset(
        _ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>
    ) throws -> Int? {
        guard let offset = try values.optional(key, as: Int.self) else { return nil }
        guard (0...farthest).contains(offset) else {
            throw values.fault(key, "\(offset) is not a number of pixels from 0 to \(farthest)")
        }
        return offset
    }

    /// Whoever has not seen the picture does not know its size, and so gives parts of it.
    private static func percents(in values: KeyedDecodingContainer<CodingKeys>) throws -> String? {
        guard let text = try values.optional(.at, as: String.self) else { return nil }
        for key in [CodingKeys.x, .y] where values.contains(key) {
            throw values.fault(
                key, "it says where the part begins, and 'at' says where its middle is: send one of them")
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(isPercent) else {
            throw values.fault(
                .at,
                "'\(BodyError.shown(text))' is no place in percent\n   = give two numbers from 0 to 100, as in \"40%,30%\""
            )
        }
        return text
    }

    private static func isPercent(_ text: Substring) -> Bool {
        let digits = text.utf8.dropLast()
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.last == UInt8(ascii: "%"), digits.count <= 10, parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }),
            let number = Double(text.dropLast())
        else { return false }
        return number <= 100
    }

    /// A relative path starts where those of the manifest start.
    private static func input(
        in values: KeyedDecodingContainer<CodingKeys>, of source: SubmitRequest.Source
    ) throws -> String? {
        guard let path = try values.optional(.input, as: String.self) else { return nil }
        guard !path.isEmpty, path.utf8.count < 4096, !path.utf8.contains(0) else {
            throw values.fault(.input, "'\(BodyError.shown(path))' is no path of a picture")
        }
        let folder =
            switch source {
            case .file(let manifest): PathNames.folder(of: manifest) ?? ""
            case .text(_, let folder, _): folder
            }
        return PathNames.isAbsolute(path) ? path : PathNames.joined(folder.isEmpty ? "/" : folder, path)
    }

    /// In pixels, as `penumbra preview` takes them.
    private static let farthest = 10_000_000

    /// `--at` of `penumbra preview`: the middle of the part.
    package var middle: String {
        func place(_ first: Int?) -> String {
            first.map { "\($0 + size / 2)" + (size.isMultiple(of: 2) ? "" : ".5") } ?? "50%"
        }
        return at ?? "\(place(x)),\(place(y))"
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
