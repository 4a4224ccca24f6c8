package import Catalogs

/// The values of a picture's EXIF metadata in a form for people.
extension ImageMetadata {
    /// Nil if the picture does not state it.
    package func value(of field: ExifField) -> String? {
        exif.flatMap { ExifDocument(block: $0.bytes) }?.value(of: field)
    }
}

extension ExifDocument {
    fileprivate func value(of field: ExifField) -> String? {
        switch field {
        case .date: taken.map { String($0.prefix(10).replacing(":", with: "-")) }
        case .time: taken.map { String($0.dropFirst(11).prefix(5)) }
        case .camera: camera
        case .lens: text(of: 0xA434, in: .exif)
        case .focalLength: quotient(of: 0x920A).map { "\(Self.decimal($0, places: 1)) mm" }
        case .exposure: quotient(of: 0x829A).map(Self.exposure)
        case .aperture: quotient(of: 0x829D).map { "f/\(Self.decimal($0, places: $0 < 1 ? 2 : 1))" }
        case .iso: sensitivity.map { "ISO \($0)" }
        }
    }

    /// DateTimeOriginal, or DateTimeDigitized: `2026:11:21 14:05:09`. A camera whose clock is not set writes zeros or spaces.
    private var taken: String? {
        [0x9003, 0x9004].lazy.compactMap { text(of: $0, in: .exif) }.first { text in
            let bytes = Array(text.utf8)
            guard bytes.count >= 19, !text.hasPrefix("0000") else { return false }
            return bytes.prefix(19).enumerated().allSatisfy { index, byte in
                switch index {
                case 4, 7, 13, 16: byte == UInt8(ascii: ":")
                case 10: byte == UInt8(ascii: " ")
                default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                }
            }
        }
    }

    /// `Canon EOS R5`, and not `Canon Canon EOS R5`.
    private var camera: String? {
        let (maker, model) = (text(of: 0x010F, in: .main), text(of: 0x0110, in: .main))
        guard let model else { return maker }
        guard let maker, let name = maker.split(separator: " ").first else { return model }
        return model.lowercased().hasPrefix(name.lowercased()) ? model : Self.cut("\(maker) \(model)")
    }

    private var sensitivity: Int? {
        // A value that is too large for the usual tag is in one of the others.
        let stated = [0x8827, 0x8832, 0x8831, 0x8833].lazy.compactMap { tag in
            integers(of: tag, in: .exif).first { $0 > 0 && ($0 != 65535 || tag != 0x8827) }
        }
        return stated.first
    }

    /// A rational number above 0.
    private func quotient(of tag: UInt16) -> Double? {
        let parts = integers(of: tag, in: .exif)
        guard parts.count >= 2, parts[0] > 0, parts[1] > 0 else { return nil }
        return Double(parts[0]) / Double(parts[1])
    }

    /// `1/250 s`, `0.5 s`
    private static func exposure(_ seconds: Double) -> String {
        seconds < 0.3 ? "1/\(decimal(1 / seconds, places: 0)) s" : "\(decimal(seconds, places: 1)) s"
    }

    /// A number without zeros at its end.
    private static func decimal(_ value: Double, places: Int) -> String {
        let scale = [1, 10, 100][min(places, 2)]
        let scaled = Int(min((value * Double(scale)).rounded(), 1e15))
        let (whole, rest) = (scaled / scale, scaled % scale)
        let digits = String(repeating: "0", count: max(0, places - String(rest).count)) + String(rest)
        return rest == 0 ? "\(whole)" : "\(whole).\(digits.trimmingSuffix("0"))"
    }

    /// The begin of a text that is too long.
    private static func cut(_ text: String) -> String {
        var (kept, bytes) = (String.UnicodeScalarView(), 0)
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= ExifField.longestText else { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    /// On one line. Nil if it is empty.
    private func text(of tag: UInt16, in directory: Directory) -> String? {
        guard let entry = self[directory].first(where: { $0.tag == tag }), [.ascii, .undefined].contains(entry.type)
        else { return nil }
        let bytes = entry.bytes.prefix { $0 != 0 }
        // Old cameras write Latin-1.
        let text =
            String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map(Unicode.Scalar.init)))
        let visible = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        let words = String(String.UnicodeScalarView(visible)).split(separator: " ").joined(separator: " ")
        return words.isEmpty ? nil : Self.cut(words)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ end: Character) -> Substring {
        self[..<(lastIndex { $0 != end }.map { index(after: $0) } ?? startIndex)]
    }
}
