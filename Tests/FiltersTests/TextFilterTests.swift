import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import Synchronization
import TestSupport
import Testing

/// A font whose letters are boxes of four fifths of the em, and that has no `?`.
private final class BoxFont: Typesetter {
    let asked = Mutex<[TextLayout]>([])

    func set(_ layout: TextLayout) throws(TypesettingError) -> SetText {
        if layout.text.contains("?") { throw .missing(["?"]) }
        asked.withLock { $0.append(layout) }
        let lines = layout.text.split(separator: "\n", omittingEmptySubsequences: false)
        var letters = Outline()
        for (row, line) in lines.enumerated() {
            for column in 0..<line.count {
                let (left, top) = ((Double(column) + 0.1) * layout.size, (Double(row) + 0.2) * layout.size)
                let (right, bottom) = (left + 0.8 * layout.size, top + 0.75 * layout.size)
                letters.append(
                    Outline([
                        .move(.init(left, top)), .line(.init(right, top)), .line(.init(right, bottom)),
                        .line(.init(left, bottom)),
                    ]), scaledBy: (1, 1), at: .init(0, 0))
            }
        }
        let width = Int((Double(lines.map(\.count).max() ?? 0) * layout.size).rounded(.up))
        return SetText(
            letters: letters,
            size: PixelRect(x: 0, y: 0, width: width, height: Int((Double(lines.count) * layout.size).rounded(.up))))
    }
}

/// `text` lays drawn words as `overlay` lays a picture.
struct TextFilterTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 61, height: 47)
    private let font = BoxFont()

    private func filter(
        _ text: [TextTemplate.Piece], _ values: [String: ParameterValue] = [:]
    ) throws -> any Filter {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in throw UnreadableLayer() },
            font: { [font] _, _ in Typeface(font) })
        let own: [String: ParameterValue] = [
            "text": .template(TextTemplate(text)), "font": .picture(PictureReference(path: "/boxes.ttf")),
            "size": .length(.pixels(6.5)),
        ]
        return try FilterRegistry(BuiltInFilters.all, pictures: pictures).make("text", own.merging(values) { $1 })
    }

    private func overlay(_ front: AnyRaster, _ values: [String: ParameterValue]) throws -> any Filter {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(front) })
        return try FilterRegistry(BuiltInFilters.all, pictures: pictures).make(
            "overlay", values.merging(["picture": .picture(PictureReference(path: "/words.png"))]) { $1 })
    }

    /// The letters in a colour, above a box, by definition: source-over in float64, without premultiplied colours.
    private func words(
        _ text: String, size: Double = 6.5, _ color: [Double], box: [Double]? = nil, padding: Int = 0
    ) throws -> AnyRaster {
        let letters = try Typeface(font).drawing(of: TextLayout(text, size: size))
        let rect = PixelRect(
            x: 0, y: 0, width: letters.rect.width + 2 * padding, height: letters.rect.height + 2 * padding)
        let behind = box ?? [0, 0, 0, 0]
        var samples: [UInt8] = []
        for y in rect.rows {
            for x in rect.columns {
                let isInside = letters.rect.contains(x: x - padding, y: y - padding)
                let covered =
                    isInside ? Double(letters.samples[letters.index(x: x - padding, y: y - padding)]) / 255 : 0
                let front = covered * color[3] / 255
                let alpha = front + behind[3] / 255 * (1 - front)
                for channel in 0..<3 {
                    let sum = color[channel] * front + behind[channel] * behind[3] / 255 * (1 - front)
                    samples.append(alpha > 0 ? UInt8((sum / alpha).rounded()) : 0)
                }
                samples.append(UInt8((alpha * 255).rounded()))
            }
        }
        return .u8(Raster(rect: rect, layout: .rgba, samples: samples))
    }

    private static let red: [Double] = [200, 30, 40, 220]
    private static let places: [[String: ParameterValue]] = [
        [:], ["anchor": .word("bottom-right"), "x": .length(.percent(5)), "y": .length(.pixels(2.4))],
        ["anchor": .word("center"), "x": .length(.pixels(-3))],
        ["tiled": .boolean(true), "gap": .length(.percent(30)), "blend": .word("multiply"), "opacity": .number(70)],
        ["shadow": .number(60), "shadow_radius": .number(2), "x": .length(.pixels(7)), "opacity": .number(80)],
    ]

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `words lie as a picture of them does, in every layout and format`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format, seed: 8)
        let front = try words("abc\nde", Self.red)
        let color = ParameterValue.color(red: 200, green: 30, blue: 40, alpha: 220)
        for place in Self.places {
            let filter = try filter([.literal("abc\nde")], place.merging(["color": color]) { $1 })
            let expected = try overlay(front, place)
            #expect(filter.outputLayout(for: layout) == expected.outputLayout(for: layout))
            let result = try filter.render(picture)
            #expect(try result.hasSameBytes(as: expected.render(picture)), "\(place)")
            for tile in [PixelRect(x: 3, y: 8, width: 1, height: 1), PixelRect(x: -5, y: 9, width: 61, height: 7)] {
                #expect(try filter.render(picture, tile: tile).hasSameBytes(as: result.cropped(to: tile)))
            }
        }
    }

    @Test func `a box is as much larger than the words as the padding, in parts of the font's size`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let values: [String: ParameterValue] = [
            "size": .length(.pixels(10)), "color": .color(red: 200, green: 30, blue: 40, alpha: 220),
            "background": .color(red: 10, green: 90, blue: 250, alpha: 130), "padding": .length(.percent(30)),
        ]
        let front = try words("ab", size: 10, Self.red, box: [10, 90, 250, 130], padding: 3)
        #expect(
            try filter([.literal("ab")], values).render(picture).hasSameBytes(as: overlay(front, [:]).render(picture)))
    }

    @Test func `gray words leave a gray picture gray, others give it colours`() throws {
        #expect(try filter([.literal("a")]).outputLayout(for: .gray) == .gray)
        let red = ParameterValue.color(red: 255, green: 0, blue: 0, alpha: 255)
        #expect(try filter([.literal("a")], ["color": red]).outputLayout(for: .gray) == .rgb)
        #expect(try filter([.literal("a")], ["background": red]).outputLayout(for: .grayAlpha) == .rgba)
        #expect(
            try filter([.literal("a")], ["shadow": .number(50), "shadow_color": red]).outputLayout(for: .gray) == .rgb)
    }

    @Test(arguments: [
        (["size": ParameterValue.length(.percent(10))], 4.7, 61, TextLayout.Alignment.left),
        (["size": .length(.percent(0.1))], 1, 61, .left),
        (["x": .length(.pixels(20))], 6.5, 41, .left),
        (["x": .length(.pixels(-20))], 6.5, 61, .left),
        (["anchor": .word("right"), "x": .length(.pixels(20))], 6.5, 41, .right),
        (["anchor": .word("top"), "x": .length(.pixels(-20))], 6.5, 21, .center),
        (["anchor": .word("top"), "align": .word("right")], 6.5, 61, .right),
        (["width": .length(.percent(50))], 6.5, 30, .left),
        (["width": .length(.pixels(500))], 6.5, 500, .left),
        (["tiled": .boolean(true), "x": .length(.pixels(20))], 6.5, 61, .left),
        (["background": .color(red: 0, green: 0, blue: 0, alpha: 9), "padding": .length(.pixels(5))], 6.5, 51, .left),
    ])
    func `lines end at the side of the picture, or at a width`(
        values: [String: ParameterValue], size: Double, width: Int, alignment: TextLayout.Alignment
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        _ = try filter([.literal("a")], values).render(picture)
        let layout = try #require(font.asked.withLock { $0.last })
        #expect(abs(layout.size - size) < 1e-9)
        #expect(layout.width == width)
        #expect(layout.alignment == alignment)
    }

    @Test func `a text is drawn once for all tiles and filters of one size`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let typeface = Typeface(font)
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in throw UnreadableLayer() },
            font: { _, _ in typeface })
        let registry = FilterRegistry(BuiltInFilters.all, pictures: pictures)
        for _ in 0..<3 {
            let filter = try registry.make(
                "text",
                [
                    "text": .template(TextTemplate([.literal("ab")])),
                    "font": .picture(PictureReference(path: "/boxes.ttf")), "size": .length(.percent(10)),
                ])
            _ = try filter.render(picture)
        }
        #expect(font.asked.withLock { $0.count { $0.width != nil } } == 1)
        #expect(typeface.bytes > 0)
    }

    @Test func `a text that cannot be seen, or has no words, changes nothing`() throws {
        #expect(try filter([.literal("a")], ["hidden": .boolean(true)]).isIdentity)
        #expect(try filter([.literal("a")], ["opacity": .number(0)]).isIdentity)
        #expect(try filter([.literal("")]).isIdentity)
        #expect(try !filter([.name(.stem)]).isIdentity)
        #expect(try filter([.literal("by "), .missing(.camera)], ["missing": .word("hide")]).isIdentity)
    }

    private func message(_ text: [TextTemplate.Piece], _ values: [String: ParameterValue] = [:]) -> String? {
        do {
            let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
            _ = try filter(text, values).render(picture)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `values that do not work say so, and what to do`() {
        #expect(message([.literal("a")], ["size": .length(.pixels(0))]) == "text: 'size' must be more than 0")
        #expect(message([.literal("a")], ["width": .length(.percent(0))]) == "text: 'width' must be more than 0")
        #expect(
            message([.literal("a?")])
                == "text: the font has no glyph for '?' U+003F; name a font that has it")
        #expect(
            message([.literal("a "), .missing(.lens)])
                == "text: the picture's metadata have no lens for {exif.lens}; write 'missing: hide' to leave the text out of "
                + "such pictures")
        #expect(message([.name(.stem)]) == "text: the fields of '{stem}' are not known here")
        #expect(
            message([.literal("a")], ["size": .length(.percent(90_000))])
                == "text: the font would have 42300 px, and may have 10000; make 'size' smaller")
        #expect(
            message([.literal(String(repeating: "a", count: 200))], ["size": .length(.pixels(1000))])
                == "text: the text may have 16 megapixels, and would have 200000 × 1000 pixels; make it smaller by 'size'"
        )
        let black = ParameterValue.color(red: 0, green: 0, blue: 0, alpha: 255)
        #expect(
            message([.literal("a")], ["background": black, "padding": .length(.pixels(3000))])
                == "text: the text with its box may have 16 megapixels, and would have 6007 × 6007 pixels; make 'padding' "
                + "smaller")
        #expect(
            message([.literal("a")], ["padding": .length(.pixels(3))]) == "text: 'background' needs a value")
        #expect(
            message([.literal("a")], ["tiled": .boolean(true), "shadow": .number(9)])
                == "text: 'tiled: true' does not go with 'shadow'; leave one of them out")
    }

    @Test(arguments: [
        ([Unicode.Scalar(0x6F22), "a"] as [Unicode.Scalar?], "'漢' U+6F22, 'a' U+0061"),
        (["\u{7}", "\t"], "U+0007, U+0009"),
        (["a", "b", "c", "d", "e", "f"], "'a' U+0061, 'b' U+0062, 'c' U+0063, 'd' U+0064, 'e' U+0065, …"),
        ([Unicode.Scalar(0x1F600)], "'😀' U+1F600"),
    ])
    func `characters that the font lacks are named, those that cannot be seen by their numbers`(
        characters: [Unicode.Scalar?], words: String
    ) {
        let error = TypesettingError.missing(characters.compactMap(\.self))
        #expect("\(error)" == "the font has no glyph for \(words); name a font that has it")
    }

    @Test func `pictures of 1 × 1 pixel, and infinite values, are rendered`() throws {
        let dot = PixelRect(x: 0, y: 0, width: 1, height: 1)
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(dot, .rgba, format)
            #expect(try filter([.literal("ab\nc")], ["size": .length(.percent(4))]).render(picture).rect == dot)
        }
        let infinite = AnyRaster.f32(Raster(rect: Self.rect, layout: .gray, repeating: .infinity))
        let result = try filter([.literal("a")], ["anchor": .word("center")]).render(infinite)
        #expect(result.doubles.first == .infinity)
    }
}
