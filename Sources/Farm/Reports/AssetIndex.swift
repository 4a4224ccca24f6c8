package import JobModel

/// The index of a job's outputs: a JSON file for programs that use them, such as the generator of a web site.
///
///     {
///       "generator": "penumbra",
///       "schema": 1,
///       "job": "thumbnails",
///       "outputs": {
///         "photos/cat.jpg": [
///           {"path": "cat.webp", "bytes": 4210, "digest": "…", "width": 320, "height": 240, "format": "webp"}
///         ]
///       }
///     }
///
/// Equal contents give equal bytes, because the sources are sorted and the layout is fixed.
package struct AssetIndex: Hashable, Sendable {
    /// An output.
    package struct Output: Hashable, Sendable {
        /// Relative to the index's folder, with forward slashes, not percent-encoded.
        package let path: String
        package let bytes: Int
        package let digest: Digest
        package let width: Int
        package let height: Int
        /// The format's name in the catalog.
        package let format: String

        package init(path: String, bytes: Int, digest: Digest, width: Int, height: Int, format: String) {
            self.path = path
            self.bytes = bytes
            self.digest = digest
            self.width = width
            self.height = height
            self.format = format
        }
    }

    /// A source picture with its outputs.
    package struct Entry: Hashable, Sendable {
        /// Relative to the manifest's folder.
        package let source: String
        /// In the manifest's order.
        package let outputs: [Output]

        package init(source: String, outputs: [Output]) {
            self.source = source
            self.outputs = outputs
        }
    }

    package let job: String
    /// Sorted; each source once.
    package let entries: [Entry]

    /// - Parameter entries: in any order. Entries of one source, such as the pages of a document, become one entry in
    ///   the order in which they are given.
    package init(job: String, entries: [Entry]) {
        self.job = job
        let sorted = entries.enumerated().sorted { a, b in
            Self.precedes(a.element.source, b.element.source) ?? (a.offset < b.offset)
        }
        var merged: [Entry] = []
        merged.reserveCapacity(sorted.count)
        for (_, entry) in sorted {
            if let last = merged.last, Self.precedes(last.source, entry.source) == nil {
                merged[merged.count - 1] = Entry(source: last.source, outputs: last.outputs + entry.outputs)
            } else {
                merged.append(entry)
            }
        }
        self.entries = merged
    }

    /// Nil for the same bytes. For Swift `é` in one and in two code points are equal, but they name different files.
    private static func precedes(_ a: String, _ b: String) -> Bool? {
        if a != b { return a < b }
        return a.utf8.elementsEqual(b.utf8) ? nil : a.utf8.lexicographicallyPrecedes(b.utf8)
    }
}

// MARK: - Text

extension AssetIndex {
    /// The file's bytes: UTF-8, with a newline at the end.
    package var json: [UInt8] {
        var text = JSONText(capacity: 256 * (entries.count + 1))
        text.add("{\n  \"generator\": \"penumbra\",\n  \"schema\": 1,\n  \"job\": ")
        text.add(quoted: job)
        text.add(",\n  \"outputs\": {")
        for (index, entry) in entries.enumerated() {
            text.add(index == 0 ? "\n    " : ",\n    ")
            text.add(quoted: entry.source)
            text.add(": [")
            for (index, output) in entry.outputs.enumerated() {
                text.add(index == 0 ? "\n      " : ",\n      ")
                text.add(output)
            }
            text.add(entry.outputs.isEmpty ? "]" : "\n    ]")
        }
        text.add(entries.isEmpty ? "}\n}\n" : "\n  }\n}\n")
        return VisibleText.json(text.bytes)
    }
}

/// Writes JSON piece by piece: 200,000 outputs take a fraction of a second.
private struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: in bytes. Without it the growing text would be copied a few times.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func add(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: Self.needsEscape) { addEscaped(text) } else { add(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func addEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x10: add("\\u000\(String(byte, radix: 16))")
            case 0x10..<0x20: add("\\u00\(String(byte, radix: 16))")
            default: bytes.append(byte)
            }
        }
    }

    mutating func add(_ output: AssetIndex.Output) {
        add("{\"path\": ")
        add(quoted: output.path)
        add(", \"bytes\": \(output.bytes), \"digest\": \"")
        add(hex: output.digest.high)
        add(hex: output.digest.low)
        add("\", \"width\": \(output.width), \"height\": \(output.height), \"format\": ")
        add(quoted: output.format)
        add("}")
    }

    /// 16 digits, as in the digest's description, but three times as fast.
    private mutating func add(hex word: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(word >> UInt64(shift) & 15)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

// MARK: - Paths

extension AssetIndex {
    /// A path as the index has it.
    ///
    /// - Parameters:
    ///   - path: absolute, without `.` and `..`.
    ///   - folder: absolute, without `.` and `..`.
    package static func path(_ path: String, relativeTo folder: String) -> String {
        let (names, folders) = (path.utf8.split(separator: slash), folder.utf8.split(separator: slash))
        let shared = zip(names, folders).prefix { $0.elementsEqual($1) }.count
        let up = Array(repeating: "..", count: folders.count - shared)
        return (up + names.dropFirst(shared).map { String(Substring($0)) }).joined(separator: "/")
    }

    private static let slash = UInt8(ascii: "/")
}

/// Recognises index files, which a new index may replace.
extension AssetIndex {
    /// The number of bytes that ``isOurs(_:)`` needs.
    package static let recognisedWithin = 256

    /// Whether Penumbra wrote the file as an index, of this or a later schema. Another program may have changed the layout.
    /// Nothing else may be replaced.
    ///
    /// - Parameter firstBytes: the file's first ``recognisedWithin`` bytes, or all if it has fewer.
    package static func isOurs(_ firstBytes: [UInt8]) -> Bool {
        afterHead(of: firstBytes.prefix(recognisedWithin)) != nil
    }

    /// The job whose index the file is; nil if unknown.
    ///
    /// - Parameter firstBytes: the first bytes of the file, with the job's name.
    package static func job(in firstBytes: [UInt8]) -> String? {
        guard let head = afterHead(of: firstBytes[...]), let schema = after(["\"schema\"", ":"], in: head),
            let name = after([",", "\"job\"", ":", "\""], in: schema.drop { isBlank($0) || isDigit($0) })
        else { return nil }
        return unescaped(name)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { "\u{20}\t\r\n".utf8.contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The bytes after the tokens that every index begins with; nil if the file begins with others.
    private static func afterHead(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        after(["{", "\"generator\"", ":", "\"penumbra\"", ","], in: bytes)
    }

    private static func after(_ tokens: [String], in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = bytes
        for token in tokens {
            rest = rest.drop(while: isBlank)
            guard rest.starts(with: token.utf8) else { return nil }
            rest = rest.dropFirst(token.utf8.count)
        }
        return rest
    }

    /// A JSON text up to its closing quote; nil if there is none.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                guard escaped == UInt8(ascii: "u") else {
                    result.append(escaped)
                    continue
                }
                guard let first = unit(of: &rest) else { return nil }
                guard UTF16.isLeadSurrogate(first) else {
                    result += Array(String(decoding: [first], as: UTF16.self).utf8)
                    continue
                }
                // A character beyond U+FFFF has two escapes.
                guard rest.starts(with: "\\u".utf8), case _ = rest.removeFirst(2), let second = unit(of: &rest) else {
                    return nil
                }
                result += Array(String(decoding: [first, second], as: UTF16.self).utf8)
            default: result.append(byte)
            }
        }
        return nil
    }

    /// Takes four hexadecimal digits.
    private static func unit(of text: inout ArraySlice<UInt8>) -> UInt16? {
        defer { text = text.dropFirst(4) }
        return UInt16(String(decoding: text.prefix(4), as: UTF8.self), radix: 16)
    }
}
