import Filters
import Foundation
import Geometry
import Kernels
import Raster
import Testing
import Typesetting

/// Text in a font file, set by Pango.
struct FontFileTests {
    private static let folder = "/usr/share/fonts/truetype/dejavu"

    private static func bytes(_ name: String = "DejaVuSans.ttf") throws -> [UInt8] {
        // Scripts/setup installs it.
        [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
    }

    private static func font(_ name: String = "DejaVuSans.ttf") throws -> FontFile { try FontFile(bytes(name)) }

    private func drawn(_ layout: TextLayout, _ font: FontFile) throws -> Raster<UInt8> {
        let set = try font.set(layout)
        return set.letters.coverage(of: set.size)
    }

    @Test func `letters have the size of the font, whatever it is`() throws {
        let font = try Self.font()
        for size in [0.7, 12, 24.5, 300, 4000] {
            let set = try font.set(TextLayout("H", size: size))
            let points = set.letters.steps.compactMap { step -> Double? in
                if case .line(let end) = step { end.y } else { nil }
            }
            // The capitals of this font have 1493 of 2048 units.
            let height = (points.max() ?? 0) - (points.min() ?? 0)
            #expect(abs(height - size * 1493 / 2048) < 1e-6 * size)
            #expect(set.size.contains(set.letters.bounds))
        }
    }

    @Test func `the same file gives the same letters in another order, and after other fonts`() throws {
        let layout = TextLayout("Wörter, AVA fi\nund mehr", size: 21.3, width: 150)
        let first = try Self.font().set(layout)
        let (sans, serif) = (try Self.font(), try Self.font("DejaVuSerif.ttf"))
        for text in ["other", "words", "fifth"] { _ = try sans.set(TextLayout(text, size: 40)) }
        #expect(try serif.set(layout) != first)
        #expect(try sans.set(layout) == first)
    }

    @Test func `markup is shown as it stands`() throws {
        let font = try Self.font()
        let plain = try font.set(TextLayout("<b>&amp;</b>", size: 20))
        #expect(plain.size.width > 100)
        #expect(try font.set(TextLayout("&", size: 20)) != plain)
    }

    @Test func `lines wrap between words, within long words, and where the text says so`() throws {
        let font = try Self.font()
        let one = try font.set(TextLayout("word", size: 20)).size
        let wrapped = try font.set(TextLayout("word word word", size: 20, width: one.width + 5)).size
        #expect(wrapped.width == one.width)
        #expect(wrapped.height > 2 * one.height)
        #expect(try font.set(TextLayout("word\nword\nword", size: 20)).size == wrapped)
        let long = try font.set(TextLayout(String(repeating: "w", count: 40), size: 20, width: 100)).size
        #expect(long.width <= 100 && long.height > 4 * one.height)
        #expect(try font.set(TextLayout("a\n\n\nb", size: 20)).size.height > 3 * one.height)
    }

    @Test func `lines are as far apart as their spacing says`() throws {
        let font = try Self.font()
        func height(_ lines: Int, _ spacing: Double) throws -> Int {
            let text = [String](repeating: "x", count: lines).joined(separator: "\n")
            return try font.set(TextLayout(text, size: 100, lineSpacing: spacing)).size.height
        }
        let (single, usual, wide) = (try height(1, 1), try height(2, 1), try height(2, 2))
        #expect(wide - single == 2 * (usual - single) || abs(wide - single - 2 * (usual - single)) == 1)
        #expect(try height(3, 2) - wide == wide - single || abs(try height(3, 2) - 2 * wide + single) == 1)
    }

    /// The mean column of what a row of the drawing covers.
    private func middle(_ raster: Raster<UInt8>, _ rows: Range<Int>) -> Double {
        var (sum, weight) = (0.0, 0.0)
        for y in rows {
            for x in 0..<raster.rect.width {
                let covered = Double(raster.samples[y * raster.rect.width + x])
                sum += covered * Double(x)
                weight += covered
            }
        }
        return sum / weight
    }

    @Test func `short lines stand at a side, or in the middle`() throws {
        let font = try Self.font()
        func place(_ alignment: TextLayout.Alignment) throws -> Double {
            let raster = try drawn(TextLayout("a long line\no", size: 40, alignment: alignment), font)
            let place = middle(raster, raster.rect.height / 2 + 5..<raster.rect.height)
            return place / Double(raster.rect.width)
        }
        let (left, center, right) = (try place(.left), try place(.center), try place(.right))
        #expect(left < 0.1 && abs(center - 0.5) < 0.02 && right > 0.9)
    }

    @Test func `text from right to left is set from right to left, with joined letters`() throws {
        let font = try Self.font()
        // The alef comes first, so it is at the right; a full stop at the end is at the left.
        let hebrew = try drawn(TextLayout("\u{5D0}\u{5D0}\u{5D0}.", size: 40), font)
        let latin = try drawn(TextLayout("XXX.", size: 40), font)
        #expect(middle(hebrew, 30..<41) > Double(hebrew.rect.width) * 0.5)
        #expect(middle(latin, 30..<41) < Double(latin.rect.width) * 0.6)
        func firstColumns(_ raster: Raster<UInt8>) -> Int {
            (0..<8).reduce(0) { sum, x in
                sum + raster.rect.rows.count { raster.samples[$0 * raster.rect.width + x] > 128 }
            }
        }
        #expect(firstColumns(hebrew) < firstColumns(latin))
        // Joined letters are narrower than the same letters alone.
        let joined = try font.set(TextLayout("\u{628}\u{628}\u{628}", size: 40)).size.width
        let single = try font.set(TextLayout("\u{628}", size: 40)).size.width
        #expect(joined < 3 * single - 10)
    }

    @Test func `a character that the font lacks is no letter of another font`() throws {
        let font = try Self.font()
        #expect(throws: TypesettingError.missing(["漢", "字"])) { try font.set(TextLayout("漢字 漢 ok", size: 20)) }
        #expect(throws: TypesettingError.missing(["\u{1F9FF}"])) { try font.set(TextLayout("\u{1F9FF}", size: 20)) }
        #expect(throws: TypesettingError.missing(["\u{1}"])) { try font.set(TextLayout("a\u{1}", size: 20)) }
    }

    @Test func `what cannot be seen needs no glyph`() throws {
        let font = try Self.font()
        let plain = try font.set(TextLayout("office", size: 20)).letters
        // A soft hyphen, a joiner that forbids ligatures, marks of direction.
        for text in ["of\u{AD}fice", "\u{200E}office", "office\u{200F}"] {
            #expect(try font.set(TextLayout(text, size: 20)).size.width > 0, "\(text.unicodeScalars.map(\.value))")
        }
        #expect(!plain.steps.isEmpty)
        #expect(try font.set(TextLayout("   ", size: 20)).letters.steps.isEmpty)
    }

    @Test func `what is no font is refused, and so is a font that is cut`() throws {
        let whole = try Self.bytes()
        let notFont = TypesettingError.failed("is no TrueType or OpenType font")
        #expect(throws: notFont) { try FontFile([]) }
        #expect(throws: notFont) { try FontFile(Array("<svg/>".utf8)) }
        #expect(throws: notFont) { try FontFile([0, 1, 0, 0]) }
        #expect(throws: notFont) { try FontFile(Array("wOFF".utf8) + whole) }
        for count in [12, 100, 3000, whole.count / 2, whole.count - 1] {
            // It is refused, or its letters that are left can be set; it harms nothing.
            guard let font = try? FontFile(Array(whole.prefix(count))) else { continue }
            _ = try? font.set(TextLayout("Any text", size: 30))
        }
    }

    @Test func `a damaged font harms nothing`() throws {
        let whole = try Self.bytes("DejaVuSansMono.ttf")
        var state: UInt64 = 17
        func random(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for _ in 0..<40 {
            var damaged = whole
            for _ in 0..<20 { damaged[4 + random(below: damaged.count - 4)] = UInt8(random(below: 256)) }
            guard let font = try? FontFile(damaged), let set = try? font.set(TextLayout("Ab gf", size: 20)) else {
                continue
            }
            if set.size.area < 1 << 22 { _ = set.letters.coverage(of: set.size) }
        }
    }

    @Test func `a text that Pango cannot count is refused`() throws {
        let font = try Self.font()
        #expect(throws: TypesettingError.tooLong) {
            try font.set(TextLayout(String(repeating: "a", count: 51), size: 10_000))
        }
        #expect(throws: TypesettingError.tooLong) {
            try font.set(TextLayout(String(repeating: "a", count: 50_001), size: 10))
        }
        #expect(try font.set(TextLayout(String(repeating: "a ", count: 2000), size: 10, width: 300)).size.width <= 300)
    }

    @Test func `several threads set text in one font`() async throws {
        let font = try Self.font()
        let layout = TextLayout("The same words, على كل حال", size: 23)
        let expected = try font.set(layout)
        try await withThrowingTaskGroup(of: SetText.self) { group in
            for _ in 0..<8 { group.addTask { try font.set(layout) } }
            for try await set in group { #expect(set == expected) }
        }
    }

    @Test func `the libraries have versions`() {
        #expect(FontFile.versions.wholeMatch(of: /Pango [0-9.]+, HarfBuzz [0-9.]+/) != nil)
    }
}
