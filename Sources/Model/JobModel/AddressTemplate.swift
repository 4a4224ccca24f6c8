/// The address of an output on a site, with fields of its picture: `https://example.org/iiif/{dir}/{stem}`.
package enum AddressTemplate {
    /// The fields that an address may have, by name. Others are known only when the output is rendered, or change from day
    /// to day.
    package static let fields = ["dir", "stem", "ext", "job", "index", "frame"]

    /// Replaces the fields of an address.
    ///
    /// - Parameters:
    ///   - template: as a manifest has it, which was checked.
    ///   - value: the value of a field, by its text without braces: `index:04`.
    package static func filled(_ template: String, _ value: (Substring) -> String) -> String {
        var (text, rest) = ("", template[...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open] + encoded(value(rest[rest.index(after: open)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        return withoutEmptyNames(text + rest)
    }

    /// The text with its special characters as `%20`. A folder keeps its slashes.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += (digits.utf8.count == 1 ? "%0" : "%") + digits
            }
        }
    }

    /// Whether a byte needs no encoding in a path: <https://www.rfc-editor.org/rfc/rfc3986#section-2.3>.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }

    /// `{dir}` is empty for pictures that are in no folder.
    private static func withoutEmptyNames(_ address: String) -> String {
        guard let scheme = address.firstRange(of: "://") else { return address }
        let names = address[scheme.upperBound...].split(separator: "/")
        return address[..<scheme.upperBound] + names.joined(separator: "/")
    }
}
