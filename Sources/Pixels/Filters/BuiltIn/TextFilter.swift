package import Catalogs
package import Geometry
import Kernels
package import Raster
import Synchronization

/// `text`: words in front of the input.
package struct TextFilter: Filter {
    private let template: TextTemplate
    private let typeface: Typeface
    private let front: FrontOptions
    private let size: Length
    private let width: Length?
    private let alignment: TextLayout.Alignment
    private let lineSpacing: Double
    private let color: BackgroundColor
    private let background: BackgroundColor?
    private let padding: Length
    /// Whether the words are left out because the picture lacks a value.
    private let isLeftOut: Bool
    package let masking: MaskOptions?
    private let latest = LatestText()

    private init(_ arguments: FilterArguments) throws {
        front = try FrontOptions(arguments, of: "text")
        template = try arguments.template("text")
        size = try Self.positive("size", try arguments.length("size"))
        if case .pixels(let size) = size { try Self.checkSize(size) }
        width = try arguments.optionalLength("width").map { try Self.positive("width", $0) }
        alignment =
            TextLayout.Alignment(rawValue: try arguments.word("align"))
            ?? (front.side == .low ? .left : front.side == .middle ? .center : .right)
        lineSpacing = try arguments.number("line_spacing")
        color = try arguments.color("color")
        background = try arguments.optionalColor("background")
        padding = try arguments.length("padding")
        isLeftOut = try Self.isLeftOut(template, try arguments.word("missing"))
        masking = try MaskOptions(arguments)
        typeface = try arguments.typeface("font")
        let text = template.text
        guard !text.isEmpty, !isLeftOut else { return }
        do throws(TypesettingError) {
            try typeface.check(text)
        } catch {
            throw Self.failure("\(error)")
        }
    }

    package static let entry = FilterEntry(
        FilterDescriptor(
            name: "text", kind: .point, summary: "Writes words in front of the picture", renderingVersion: 2,
            parameters: [
                ParameterDescriptor(
                    "text", .template,
                    summary: "Sets the words. Fields such as {stem}, {date} and {exif.camera} are filled in",
                    requiredLike: "© Ann Example"),
                ParameterDescriptor(
                    "font", .font, summary: "Names a font file, from the folder of the manifest",
                    requiredLike: "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
                ParameterDescriptor(
                    "size", .distance, fallback: .length(.percent(4)),
                    summary: "Sets the size of the font. Percentages refer to the height of the picture"),
                ParameterDescriptor(
                    "color", .color, fallback: .color(red: 255, green: 255, blue: 255, alpha: 255),
                    summary: "Sets the colour of the letters"),
            ] + FrontOptions.places(of: "the text") + [
                ParameterDescriptor(
                    "width", .distance,
                    summary: "Wraps lines at this width. Without it, lines end at the side of the picture"),
                ParameterDescriptor(
                    "align", .choice(["auto", "left", "center", "right"]), fallback: .word("auto"),
                    summary: "Chooses how lines of different lengths are set. 'auto' takes the side of 'anchor'"),
                ParameterDescriptor(
                    "line_spacing", .number(minimum: 0.1, maximum: 10), fallback: .number(1),
                    summary: "Sets the distance of the lines, as a multiple of the font's own distance"),
                ParameterDescriptor(
                    "background", .color, summary: "Sets the colour of a box behind the text. Default: no box"),
                ParameterDescriptor(
                    "padding", .distance, fallback: .length(.percent(30)),
                    summary: "Sets how far the box reaches beyond the text. Percentages refer to the size of the font"),
                ParameterDescriptor(
                    "missing", .choice(["fail", "hide"]), fallback: .word("fail"),
                    summary: "Decides if a picture without a value for a field fails, or if the text is left out"),
            ] + FrontOptions.looks(of: "the text") + MaskOptions.parameters,
            rules: [.belongs(parameter: "padding", to: ["background"])] + MaskOptions.rules(of: MaskOptions.parameters),
            refusesValues: true),
        make: { try TextFilter($0) })

    private static func failure(_ reason: String) -> FilterError {
        FilterError(filter: "text", problem: .failed(reason: reason))
    }

    private static func positive(_ name: String, _ length: Length) throws(FilterError) -> Length {
        guard !length.isZero else { throw failure("'\(name)' must be more than 0") }
        return length
    }

    private static func isLeftOut(_ template: TextTemplate, _ rule: String) throws(FilterError) -> Bool {
        for case .missing(let field) in template.pieces {
            guard rule == "hide" else {
                throw failure(
                    "the picture's metadata have no \(field.noun) for {\(field.rawValue)}; write 'missing: hide' to leave the "
                        + "text out of such pictures")
            }
            return true
        }
        return false
    }

    package var isIdentity: Bool {
        front.isHidden || isLeftOut || template.written.isEmpty
    }

    package var edge: Edge { .clamp }
    package var halo: Halo { .none }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        front.outputLayout(for: layout, under: ownLayout)
    }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { front.cost(layout) }

    /// The layout of the drawn words.
    private var ownLayout: PixelLayout {
        [color, background ?? color].allSatisfy(\.isGray) ? .grayAlpha : .rgba
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let input = source.extent
        let layer = try latest.layer(for: input) { () throws(FilterError) in try self.layer(in: input) }
        let own = layer.raster.rect
        try front.lay(
            layer, of: PictureSize(width: own.width, height: own.height), isSharp: true, over: source.pixels, in: input,
            within: masking?.mask(in: input), into: &destination)
    }

    /// In pixels of the largest font.
    private static let largest = 10_000.0
    /// In pixels of the words with their box.
    private static let mostPixels = 16 << 20

    private static func checkSize(_ size: Double) throws(FilterError) {
        guard size <= largest else {
            throw failure(
                "the font would have \(Int(min(size, 1e9))) px, and may have \(Int(largest)); make 'size' smaller")
        }
    }

    /// The words as a picture.
    private func layer(in input: PixelRect) throws(FilterError) -> Layer {
        guard template.pieces.allSatisfy({ if case .literal = $0 { true } else { false } }) else {
            throw Self.failure("the fields of '\(template.written)' are not known here")
        }
        let size = max(1, size.pixels(of: input.height))
        try Self.checkSize(size)
        let padding = background == nil ? 0 : Int(min(padding.pixels(of: Int(size.rounded())), 1e6).rounded())
        let room = max(1, front.room(in: input) - 2 * padding)
        let wrapped = width.map { Int(min(max($0.pixels(of: input.width), 1), 1e6)) }
        let layout = TextLayout(
            template.text, size: size, width: wrapped ?? room, alignment: alignment, lineSpacing: lineSpacing)
        let letters: Raster<UInt8>
        do throws(TypesettingError) {
            letters = try typeface.drawing(of: layout)
        } catch {
            throw Self.failure("\(error)")
        }
        let (columns, rows) = (letters.rect.width + 2 * padding, letters.rect.height + 2 * padding)
        guard columns * rows <= Self.mostPixels else {
            throw Self.failure(
                "the text with its box may have 16 megapixels, and would have \(columns) × \(rows) pixels; make 'padding' smaller"
            )
        }
        return Layer(painted(letters, padding))
    }

    /// The letters in their colour, in front of the box.
    private func painted(_ letters: Raster<UInt8>, _ padding: Int) -> AnyRaster {
        let rect = PixelRect(
            x: 0, y: 0, width: max(1, letters.rect.width + 2 * padding),
            height: max(1, letters.rect.height + 2 * padding))
        let layout = ownLayout
        // One of 256 parts of a pixel that letters can cover looks the same everywhere.
        let colors = (0...255).flatMap { paint(Double($0) / 255, layout) }
        let channels = layout.channels
        var samples = [UInt8](repeating: 0, count: rect.area * channels)
        for y in 0..<rect.height {
            for x in 0..<rect.width {
                let isLetter = letters.rect.contains(x: x - padding, y: y - padding)
                let covered =
                    isLetter ? Int(letters.samples[(y - padding) * letters.rect.width + x - padding]) : 0
                let start = (y * rect.width + x) * channels
                for channel in 0..<channels { samples[start + channel] = colors[covered * channels + channel] }
            }
        }
        return .u8(Raster(rect: rect, layout: layout, samples: samples))
    }

    /// A pixel that letters cover in part.
    private func paint(_ covered: Double, _ layout: PixelLayout) -> [UInt8] {
        let front = covered * Double(color.alpha) / 255
        let behind = Double(background?.alpha ?? 0) / 255 * (1 - front)
        let alpha = front + behind
        guard alpha > 0 else { return [UInt8](repeating: 0, count: layout.channels) }
        func mixed(_ channel: (BackgroundColor) -> Int) -> UInt8 {
            UInt8(rounding: (Double(channel(color)) * front + Double(background.map(channel) ?? 0) * behind) / alpha)
        }
        let colors = layout == .grayAlpha ? [mixed(\.red)] : [mixed(\.red), mixed(\.green), mixed(\.blue)]
        return colors + [UInt8(rounding: alpha * 255)]
    }
}

/// The words of the latest input's size. All bands of a picture need the same.
private final class LatestText: Sendable {
    private let layer = Mutex<(input: PixelRect, layer: Layer)?>(nil)

    func layer(for input: PixelRect, _ make: () throws(FilterError) -> Layer) throws(FilterError) -> Layer {
        let result: Result<Layer, FilterError> = layer.withLock { latest in
            if let latest, latest.input == input { return .success(latest.layer) }
            return Result { () throws(FilterError) in
                let layer = try make()
                latest = (input, layer)
                return layer
            }
        }
        return try result.get()
    }
}

extension BackgroundColor {
    fileprivate var isGray: Bool { red == green && green == blue }
}

extension ExifField {
    fileprivate var noun: String {
        switch self {
        case .date: "date taken"
        case .time: "time taken"
        case .camera: "camera"
        case .lens: "lens"
        case .focalLength: "focal length"
        case .exposure: "exposure time"
        case .aperture: "aperture"
        case .iso: "ISO value"
        }
    }
}
