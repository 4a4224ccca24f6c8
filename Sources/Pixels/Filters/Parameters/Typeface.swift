package import Geometry
package import Kernels
package import Raster
import Synchronization

/// Words, and how their lines are set.
package struct TextLayout: Hashable, Sendable {
    package enum Alignment: String, Hashable, Sendable {
        case left
        case center
        case right
    }

    /// Line breaks end lines.
    package let text: String
    /// The size of the font (its em) in pixels.
    package let size: Double
    /// Longer lines are wrapped, in pixels. Nil for lines of any length.
    package let width: Int?
    package let alignment: Alignment
    /// The distance of lines, as a multiple of the font's own.
    package let lineSpacing: Double

    package init(
        _ text: String, size: Double, width: Int? = nil, alignment: Alignment = .left, lineSpacing: Double = 1
    ) {
        self.text = text
        self.size = size
        self.width = width
        self.alignment = alignment
        self.lineSpacing = lineSpacing
    }
}

/// The letters of a layout, and the rectangle of its lines, which begins at 0, 0.
package struct SetText: Hashable, Sendable {
    package let letters: Outline
    package let size: PixelRect

    /// - Parameter size: contains the bounds of the letters.
    package init(letters: Outline, size: PixelRect) {
        self.letters = letters
        self.size = size
    }
}

/// The reason why a text cannot be set in a font.
package enum TypesettingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The font lacks these characters, each once.
    case missing([Unicode.Scalar])
    /// The text has too many characters for its size.
    case tooLong
    case failed(String)

    package var description: String {
        switch self {
        case .missing(let characters):
            let names = characters.prefix(5).map { character in
                let number = String(character.value, radix: 16, uppercase: true)
                let zeros = String(repeating: "0", count: max(0, 4 - number.count))
                let isVisible = character.properties.generalCategory != .control && !character.properties.isWhitespace
                return (isVisible ? "'\(character)' " : "") + "U+\(zeros)\(number)"
            }
            return "the font has no glyph for \(names.joined(separator: ", "))\(characters.count > 5 ? ", …" : ""); "
                + "name a font that has it"
        case .tooLong: return "the text is too long for its size; make it shorter, or 'size' smaller"
        case .failed(let reason): return reason
        }
    }
}

/// Sets text in one font. Filters open no fonts themselves.
package protocol Typesetter: Sendable {
    /// - Parameter layout: a text with at least one character, and a size above 0.
    func set(_ layout: TextLayout) throws(TypesettingError) -> SetText
}

/// A font for filters, and the texts that were drawn in it, which are drawn once for all tiles.
package final class Typeface: Sendable {
    private let typesetter: any Typesetter
    /// The latest drawings, the oldest first.
    private let drawn = Mutex<[Drawing]>([])

    private struct Drawing {
        let layout: TextLayout
        let letters: Raster<UInt8>
    }

    /// In pixels of all drawings that are kept, and of one of them.
    private static let (mostKept, mostDrawn) = (32 << 20, 16 << 20)

    private let fontBytes: Int
    /// The memory of the font and of the drawings, in bytes.
    package var bytes: Int { drawn.withLock { $0.reduce(fontBytes) { $0 + $1.letters.rect.area } } }

    /// - Parameter bytes: the memory of the font.
    package init(_ typesetter: any Typesetter, bytes: Int = 0) {
        self.typesetter = typesetter
        fontBytes = bytes
    }

    /// - Throws: ``TypesettingError`` if the font has no glyph for a character of the text.
    package func check(_ text: String) throws(TypesettingError) {
        // The size does not matter, but for long texts, which must be small.
        let count = Double(max(1, text.unicodeScalars.count))
        _ = try typesetter.set(TextLayout(text, size: min(16, 400_000 / count)))
    }

    /// The part of each pixel that the letters cover, 0–255. Its rectangle begins at 0, 0.
    package func drawing(of layout: TextLayout) throws(TypesettingError) -> Raster<UInt8> {
        if let known = drawn.withLock({ drawn in drawn.first { $0.layout == layout }?.letters }) { return known }
        let set = try typesetter.set(layout)
        let size = set.size
        guard size.width <= Self.mostDrawn, size.height <= Self.mostDrawn, size.area <= Self.mostDrawn else {
            throw .failed(
                "the text may have 16 megapixels, and would have \(size.width) × \(size.height) pixels; make it smaller by 'size'"
            )
        }
        let letters = set.letters.coverage(of: size)
        drawn.withLock { drawn in
            drawn.append(Drawing(layout: layout, letters: letters))
            while drawn.count > 1, drawn.reduce(0, { $0 + $1.letters.rect.area }) > Self.mostKept {
                drawn.removeFirst()
            }
        }
        return letters
    }
}
