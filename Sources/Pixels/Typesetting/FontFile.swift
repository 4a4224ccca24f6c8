import CPango
import FileAccess
package import Filters
import Geometry
import Glibc
import Kernels
import Synchronization

/// A TrueType or OpenType font that Pango sets text in.
///
/// Pango knows no other font then, and nothing of the settings of the machine or the user, so the same file gives the same outlines
/// everywhere. It only chooses and places the glyphs. Penumbra draws them itself, from the numbers in the font.
package final class FontFile: Typesetter {
    private let engine: Mutex<PangoEngine>

    /// - Throws: the reason why the bytes are no font that can be used.
    package init(_ bytes: [UInt8]) throws(TypesettingError) {
        engine = Mutex(try PangoEngine(bytes))
    }

    package func set(_ layout: TextLayout) throws(TypesettingError) -> SetText {
        let result: Result<SetText, TypesettingError> = engine.withLock { engine in
            Result { () throws(TypesettingError) in try engine.set(layout) }
        }
        return try result.get()
    }

    /// The libraries that choose and place glyphs, with their versions.
    package static let versions =
        "Pango \(String(cString: pango_version_string())), HarfBuzz \(String(cString: hb_version_string()))"

    /// Keeps Pango from asking the environment for the user's languages, by which some fonts choose other glyphs. Call it before the
    /// process has threads.
    package static func forgetLanguages() { setenv("PANGO_LANGUAGE", "en", 1) }
}

/// Pango, with one font. One thread at a time may use it.
private final class PangoEngine {
    /// A file in memory. Pango opens fonts by their names.
    private let file: Int32
    private let fonts: OpaquePointer
    private let map: UnsafeMutablePointer<PangoFontMap>
    private let context: OpaquePointer
    private let font: UnsafeMutablePointer<PangoFont>
    private let description: OpaquePointer
    /// The same font, in its own units.
    private let outlines: OpaquePointer
    private let drawing = GlyphDrawing()
    private let metrics: Metrics
    /// The outlines of glyphs, in units of the font; y grows upwards.
    private var glyphs: [UInt32: Outline] = [:]

    /// In parts of the em.
    private struct Metrics {
        let ascent: Double
        /// Above 0.
        let descent: Double
        let gap: Double
        let unitsPerEm: Double

        init(_ font: OpaquePointer) {
            unitsPerEm = Double(max(1, hb_face_get_upem(hb_font_get_face(font))))
            var extents = hb_font_extents_t()
            let isKnown = hb_font_get_h_extents(font, &extents) != 0
            let (top, bottom) = (Double(extents.ascender) / unitsPerEm, -Double(extents.descender) / unitsPerEm)
            let gap = Double(extents.line_gap) / unitsPerEm
            // A broken font may say anything.
            let isPlausible = isKnown && (0.1...10).contains(top + bottom) && abs(top) <= 10
            (ascent, descent) = isPlausible ? (top, bottom) : (0.8, 0.2)
            self.gap = isPlausible && (0...2).contains(gap) ? gap : 0
        }
    }

    private static let noFont = TypesettingError.failed("is no TrueType or OpenType font")
    private static let noMemory = TypesettingError.failed("there is no memory for it")

    init(_ bytes: [UInt8]) throws(TypesettingError) {
        let marks: [[UInt8]] = [[0, 1, 0, 0], Array("true".utf8), Array("OTTO".utf8), Array("ttcf".utf8)]
        guard marks.contains(where: bytes.starts) else { throw Self.noFont }
        let file = MemoryFile.create()
        guard file >= 0 else { throw Self.noMemory }
        // What was made is released if a later step fails.
        var undo: [() -> Void] = [{ close(file) }]
        var isComplete = false
        defer { if !isComplete { undo.reversed().forEach { $0() } } }
        do {
            try FileOpener.write(bytes, to: file, at: 0)
        } catch {
            throw Self.noMemory
        }
        guard let fonts = FcConfigCreate() else { throw Self.noMemory }
        undo.append { FcConfigDestroy(fonts) }
        guard FcConfigAppFontAddFile(fonts, "/proc/self/fd/\(file)") != 0, let pattern = Self.onlyPattern(of: fonts)
        else { throw Self.noFont }
        guard let map = penumbra_font_map(fonts) else { throw Self.noMemory }
        undo.append { penumbra_unref(map) }
        guard let context = pango_font_map_create_context(map) else { throw Self.noMemory }
        undo.append { penumbra_unref(UnsafeMutableRawPointer(context)) }
        pango_context_set_round_glyph_positions(context, 0)
        pango_context_set_language(context, pango_language_from_string("en"))
        guard let description = pango_fc_font_description_from_pattern(pattern, 0) else { throw Self.noMemory }
        undo.append { pango_font_description_free(description) }
        pango_font_description_set_absolute_size(description, Double(16 * PANGO_SCALE))
        guard let font = pango_context_load_font(context, description) else { throw Self.noFont }
        undo.append { penumbra_unref(font) }
        guard let face = hb_font_get_face(pango_font_get_hb_font(font)), let outlines = hb_font_create(face) else {
            throw Self.noFont
        }
        undo.append { hb_font_destroy(outlines) }
        guard Self.hasOutlines(face) else {
            throw .failed("is a font of pictures; name a font with outlines")
        }
        isComplete = true
        metrics = Metrics(outlines)
        (self.file, self.fonts, self.map, self.context, self.font) = (file, fonts, map, context, font)
        (self.description, self.outlines) = (description, outlines)
    }

    deinit {
        hb_font_destroy(outlines)
        penumbra_unref(font)
        pango_font_description_free(description)
        penumbra_unref(UnsafeMutableRawPointer(context))
        penumbra_unref(map)
        FcConfigDestroy(fonts)
        close(file)
    }

    /// The first font of the file, in its usual form. All others are removed: a collection has several fonts, and a variable font has
    /// several forms.
    private static func onlyPattern(of fonts: OpaquePointer) -> OpaquePointer? {
        guard let set = FcConfigGetFonts(fonts, FcSetApplication), set.pointee.nfont > 0,
            let patterns = set.pointee.fonts
        else { return nil }
        for index in 1..<max(1, Int(set.pointee.nfont)) { FcPatternDestroy(patterns[index]) }
        set.pointee.nfont = 1
        return patterns[0]
    }

    private static func hasOutlines(_ face: OpaquePointer) -> Bool {
        ["glyf", "CFF ", "CFF2"].contains { name in
            let tag = name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard let table = hb_face_reference_table(face, tag) else { return false }
            defer { hb_blob_destroy(table) }
            return hb_blob_get_length(table) > 0
        }
    }
}

extension PangoEngine {
    /// Pango counts in 32 bits, 1024 for a pixel.
    private static let longest = 500_000.0
    /// For outlines that no font needs.
    private static let mostSteps = 4_000_000
    private static let mostGlyphs = 5000

    func set(_ text: TextLayout) throws(TypesettingError) -> SetText {
        guard text.size * Double(text.text.unicodeScalars.count) <= Self.longest else { throw .tooLong }
        guard let layout = pango_layout_new(context) else { throw Self.noMemory }
        defer { penumbra_unref(UnsafeMutableRawPointer(layout)) }
        prepare(layout, text)
        let lines = lines(of: layout)
        let unknown = lines.flatMap(\.glyphs).compactMap { Self.character(behind: $0.glyph) }
        guard unknown.isEmpty else { throw .missing(unknown.uniqued) }
        return try placed(lines, text)
    }

    private func prepare(_ layout: OpaquePointer, _ text: TextLayout) {
        pango_font_description_set_absolute_size(description, text.size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, description)
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(attributes, pango_attr_fallback_new(0))
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
        pango_layout_set_attributes(layout, attributes)
        pango_attr_list_unref(attributes)
        if let width = text.width {
            pango_layout_set_width(layout, Int32(min(max(width, 1), 1_000_000)) * PANGO_SCALE)
            pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        }
        pango_layout_set_text(layout, text.text, Int32(text.text.utf8.count))
    }

    private struct Line {
        /// In pixels, from the start of the line.
        var width = 0.0
        var glyphs: [(glyph: UInt32, x: Double, y: Double)] = []
    }

    private func lines(of layout: OpaquePointer) -> [Line] {
        let scale = Double(PANGO_SCALE)
        return (0..<pango_layout_get_line_count(layout)).map { index in
            var line = Line()
            var node = pango_layout_get_line_readonly(layout, index)?.pointee.runs
            while let current = node {
                node = current.pointee.next
                guard let run = current.pointee.data?.assumingMemoryBound(to: PangoGlyphItem.self),
                    let string = run.pointee.glyphs
                else { continue }
                for position in 0..<Int(string.pointee.num_glyphs) {
                    let info = string.pointee.glyphs[position]
                    let (x, y) = (Double(info.geometry.x_offset) / scale, Double(info.geometry.y_offset) / scale)
                    line.glyphs.append((info.glyph, line.width + x, y))
                    line.width += Double(info.geometry.width) / scale
                }
            }
            return line
        }
    }

    /// Nil for a glyph of the font.
    private static func character(behind glyph: UInt32) -> Unicode.Scalar? {
        guard glyph & penumbra_unknown_glyph_flag != 0 else { return nil }
        return Unicode.Scalar(glyph & ~penumbra_unknown_glyph_flag) ?? "\u{FFFD}"
    }

    /// Lines stand on whole pixels, so that all have the same sharpness.
    private func placed(_ lines: [Line], _ text: TextLayout) throws(TypesettingError) -> SetText {
        let ascent = (metrics.ascent * text.size).rounded(.up)
        let descent = (metrics.descent * text.size).rounded(.up)
        let distance = (metrics.ascent + metrics.descent + metrics.gap) * text.size * text.lineSpacing
        let width = lines.map(\.width).max() ?? 0
        let scale = text.size / metrics.unitsPerEm
        var letters = Outline()
        var baseline = ascent
        for (index, line) in lines.enumerated() {
            baseline = ascent + (Double(index) * distance).rounded()
            let indent =
                switch text.alignment {
                case .left: 0.0
                case .center: (width - line.width) / 2
                case .right: width - line.width
                }
            for (glyph, x, y) in line.glyphs where glyph != penumbra_empty_glyph {
                letters.append(
                    try outline(of: glyph), scaledBy: (scale, -scale), at: Outline.Point(indent + x, baseline + y))
            }
            guard letters.steps.count <= Self.mostSteps else { throw .tooLong }
        }
        let box = PixelRect(x: 0, y: 0, width: Int(width.rounded(.up)), height: Int(max(0, baseline + descent)))
        let whole = box.union(letters.bounds)
        return SetText(
            letters: letters.translated(x: -Double(whole.x), y: -Double(whole.y)),
            size: PixelRect(x: 0, y: 0, width: whole.width, height: whole.height))
    }

    /// In ems. No letter is larger.
    private static let farthest = 1e6

    private func outline(of glyph: UInt32) throws(TypesettingError) -> Outline {
        if let known = glyphs[glyph] { return known }
        let outline = drawing.outline(of: glyph, in: outlines)
        guard outline.lies(within: Self.farthest * metrics.unitsPerEm) else {
            throw .failed("the font has a letter without an end; use another font")
        }
        if glyphs.count >= Self.mostGlyphs { glyphs = [:] }
        glyphs[glyph] = outline
        return outline
    }
}

extension [Unicode.Scalar] {
    fileprivate var uniqued: [Unicode.Scalar] {
        var seen: Set<Unicode.Scalar> = []
        return filter { seen.insert($0).inserted }
    }
}

/// Collects the outline of a glyph from HarfBuzz.
private final class GlyphDrawing {
    private let functions = hb_draw_funcs_create()
    private var steps: [Outline.Step] = []

    init() {
        hb_draw_funcs_set_move_to_func(
            functions, { _, context, _, x, y, _ in GlyphDrawing.add(.move(.init(x, y)), to: context) }, nil, nil)
        hb_draw_funcs_set_line_to_func(
            functions, { _, context, _, x, y, _ in GlyphDrawing.add(.line(.init(x, y)), to: context) }, nil, nil)
        hb_draw_funcs_set_quadratic_to_func(
            functions,
            { _, context, _, controlX, controlY, x, y, _ in
                GlyphDrawing.add(.quadratic(.init(controlX, controlY), .init(x, y)), to: context)
            }, nil, nil)
        hb_draw_funcs_set_cubic_to_func(
            functions,
            { _, context, _, firstX, firstY, secondX, secondY, x, y, _ in
                GlyphDrawing.add(
                    .cubic(.init(firstX, firstY), .init(secondX, secondY), .init(x, y)), to: context)
            }, nil, nil)
        hb_draw_funcs_make_immutable(functions)
    }

    deinit { hb_draw_funcs_destroy(functions) }

    func outline(of glyph: UInt32, in font: OpaquePointer) -> Outline {
        steps = []
        guard let functions else { return Outline() }
        penumbra_draw_glyph(font, glyph, functions, Unmanaged.passUnretained(self).toOpaque())
        return Outline(steps)
    }

    private static func add(_ step: Outline.Step, to context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<GlyphDrawing>.fromOpaque(context).takeUnretainedValue().steps.append(step)
    }
}

extension Outline.Point {
    fileprivate init(_ x: Float, _ y: Float) { self.init(Double(x), Double(y)) }
}
