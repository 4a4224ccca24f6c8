import Catalogs
import Geometry
import Raster
import WorkerProtocol

/// The panels of a preview, laid out.
struct PreviewSheet {
    /// Frames of one size, one below the other; one frame unless it blinks.
    let film: AnyRaster
    let frames: Int

    /// Milliseconds that each frame of a blinking preview is shown.
    static let blinkTime = 700
    /// Pixels between panels.
    private static let gap = 8

    /// Panels from left to right.
    init(_ panels: [AnyRaster]) {
        film = Self.row(Self.alike(panels))
        frames = 1
    }

    /// - Parameter before: one for each of `after`, of the same size.
    init(before: [AnyRaster], after: [AnyRaster], _ comparison: PreviewTask.Comparison) {
        let panels = Self.alike(before + after)
        let (before, after) = (panels.prefix(before.count), panels.suffix(after.count))
        switch comparison {
        case .split:
            film = Self.row(zip(before, after).map(Self.split))
            frames = 1
        case .side:
            film = Self.row(before.prefix(1) + after)
            frames = 1
        case .blink:
            let shown = before.prefix(1) + after
            let (width, height) = (shown.map(\.rect.width).max() ?? 0, shown.map(\.rect.height).max() ?? 0)
            frames = shown.count
            film = Self.pasted(
                shown.enumerated().map { ($1, 0, $0 * height) }, width: width, height: height * shown.count)
        }
    }

    private static func row(_ panels: some Collection<AnyRaster>) -> AnyRaster {
        var places: [(AnyRaster, Int, Int)] = []
        var x = 0
        for panel in panels {
            places.append((panel, x, 0))
            x += panel.rect.width + gap
        }
        return pasted(places, width: max(1, x - gap), height: max(1, panels.map(\.rect.height).max() ?? 1))
    }

    /// Pictures of one kind on a white ground.
    private static func pasted(_ places: [(AnyRaster, Int, Int)], width: Int, height: Int) -> AnyRaster {
        guard let first = places.first?.0 else { preconditionFailure("a sheet has panels") }
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        var sheet = AnyRaster(rect, layout: first.layout, format: first.format, level: 1)
        for (panel, x, y) in places where !panel.rect.isEmpty {
            sheet.paste(panel.translated(x: x - panel.rect.x, y: y - panel.rect.y))
        }
        return sheet
    }

    /// The left half before, the right half after, and between them a line that is white and black, so that it shows on
    /// every picture.
    private static func split(_ before: AnyRaster, _ after: AnyRaster) -> AnyRaster {
        let (rect, middle) = (after.rect, after.rect.x + after.rect.width / 2)
        guard rect.width >= 4 else { return after }
        var result = after
        result.paste(before.cropped(to: PixelRect(columns: rect.x..<middle, rows: rect.rows)))
        let line = PixelRect(columns: middle - 1..<middle + 1, rows: rect.rows)
        let dark = PixelRect(columns: middle..<middle + 1, rows: rect.rows)
        result.paste(AnyRaster(line, layout: after.layout, format: after.format, level: 1))
        result.paste(AnyRaster(dark, layout: after.layout, format: after.format, level: 0).opaque)
        return result
    }

    /// With alpha if any has it, in colour if any is. (All come from one file, with samples of one format.)
    private static func alike(_ panels: [AnyRaster]) -> [AnyRaster] {
        let isColor = panels.contains { $0.layout.removingAlpha == .rgb }
        let hasAlpha = panels.contains { $0.layout.hasAlpha }
        let layout: PixelLayout = isColor ? (hasAlpha ? .rgba : .rgb) : (hasAlpha ? .grayAlpha : .gray)
        return panels.map { $0.withChannels(of: layout) }
    }
}
