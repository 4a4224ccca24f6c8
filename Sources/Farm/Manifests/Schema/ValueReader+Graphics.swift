package import Catalogs

extension ValueReader where Value == Length {
    /// A length: `12`, `12px` or `10%`.
    package static var length: ValueReader<Length> {
        .scalar("a length") { text, name in
            let parts = DecimalNumber.split(text)
            guard case .success(let number) = DecimalNumber.number(String(parts.number)) else {
                return .failure(ValueFault(.notALength(name: name, text: text)))
            }
            switch parts.suffix {
            case "", "px": return .success(.pixels(number))
            case "%": return .success(.percent(number))
            default: return .failure(ValueFault(.notALength(name: name, text: text)))
            }
        }
    }
}

extension ValueReader where Value == SizeWish {
    /// A size: `320`, `320x`, `x240`, `320x240` or `50%`.
    package static var size: ValueReader<SizeWish> {
        .scalar("a size") { text, name in
            SizeWish(text).map { .success($0) } ?? .failure(ValueFault(.notASize(name: name, text: text)))
        }
    }
}

/// A color with red, green, blue and alpha, each 0–255.
package struct Color: Hashable, Sendable {
    package let red: Int
    package let green: Int
    package let blue: Int
    package let alpha: Int

    static let named = [
        "white": Color(red: 255, green: 255, blue: 255, alpha: 255),
        "black": Color(red: 0, green: 0, blue: 0, alpha: 255),
        "transparent": Color(red: 0, green: 0, blue: 0, alpha: 0),
    ]

    private init(red: Int, green: Int, blue: Int, alpha: Int) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Reads `#rgb`, `#rrggbb` or `#rrggbbaa`.
    init?(hex text: String) {
        guard text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var digits = text.dropFirst().compactMap(\.hexDigitValue)
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }
}

extension ValueReader where Value == Color {
    /// `#rgb`, `#rrggbb`, `#rrggbbaa`, or white, black or transparent.
    package static var color: ValueReader {
        .scalar("a color") { text, name in
            guard let color = Color.named[text.lowercased()] ?? Color(hex: text) else {
                return .failure(ValueFault(.notAColor(name: name, text: text)))
            }
            return .success(color)
        }
    }
}
