/// Names that are not UTF-8. File systems take any bytes but `/` and NUL.
package enum NonUTF8Name {
    /// For people and for names of outputs: each byte that is not UTF-8 becomes `%` and two hexadecimal digits.
    static func readable(_ bytes: [UInt8]) -> String {
        decoded(bytes[...]) { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "%0\(digits)" : "%\(digits)"
        }
    }

    /// The bytes that a readable name may stand for. Nil if they are all UTF-8.
    package static func possibleBytes(of text: String) -> [UInt8]? {
        var (bytes, rest, isOdd) = ([UInt8](), Array(text.utf8)[...], false)
        while let first = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if first == UInt8(ascii: "%"), rest.count >= 2, let byte = UInt8(digits, radix: 16), byte >= 0x80 {
                bytes.append(byte)
                rest = rest.dropFirst(2)
                isOdd = true
            } else {
                bytes.append(first)
            }
        }
        return isOdd ? bytes : nil
    }

    /// For patterns: each byte that is not UTF-8 becomes a character of a private plane, which nobody writes.
    package static func text(of bytes: [UInt8]) -> String {
        decoded(bytes[...]) { byte in Unicode.Scalar(firstOfBytes + UInt32(byte)).map(String.init) ?? "" }
    }

    /// The characters of ``text(of:)``.
    static func characters(of bytes: ArraySlice<UInt8>) -> [Character] { Array(text(of: Array(bytes))) }

    /// Whether a character of ``text(of:)`` stands for a byte that is not UTF-8.
    static func isByte(_ character: Character) -> Bool {
        character.unicodeScalars.first.map { (firstOfBytes...firstOfBytes + 0xFF).contains($0.value) } ?? false
    }

    private static let firstOfBytes: UInt32 = 0x10F000

    private static func decoded(_ bytes: ArraySlice<UInt8>, invalid: (UInt8) -> String) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        var rest = bytes
        while let first = rest.first {
            let scalar = rest.prefix(length(ofScalarWith: first))
            if let valid = String(validating: scalar, as: UTF8.self) {
                text += valid
                rest = rest.dropFirst(scalar.count)
            } else {
                text += invalid(first)
                rest = rest.dropFirst()
            }
        }
        return text
    }

    /// The scalar's length in bytes, which its first byte gives.
    private static func length(ofScalarWith first: UInt8) -> Int {
        switch first {
        case 0xC0...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xFF: 4
        default: 1
        }
    }
}
