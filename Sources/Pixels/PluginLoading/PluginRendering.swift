import Catalogs
import Filters
import Geometry
import GuardedMemory
import Kernels
import Raster

/// One rectangle of a plugin's output, with all that the host does around the plugin's call.
struct PluginRendering {
    let call: PluginCall
    let plugin: PluginDescription
    let options: PluginOptions
    let geometry: PluginGeometry
    let source: FilterSource

    /// What one call of a point filter gets: so much goes through the second-level cache with what it becomes. Less would
    /// stay nearer, but calls have a price.
    private static let bandBytes = 256 << 10
    /// At least; filters that work out something for rows around theirs, as a coarse grain, do that for every call again.
    private static let bandRows = 64

    private var isPoint: Bool { options.area == nil }
    private var light: Light { options.area?.light ?? .encoded }

    func render(into destination: inout AnyRaster) throws {
        guard let region = options.within else {
            if takesStoredPixels(of: destination) { return try renderStored(into: &destination) }
            let result = try result(for: destination.rect, like: destination)
            return result.replace(&destination, light: light, curve: source.pixels.curve)
        }
        let mask = RoundedRect(region, in: source.extent)
        let area = mask.bounds(in: destination.rect)
        let original = PixelReader(source.pixels, layout: destination.layout, light: light)
        source.pixels.copyPixels(to: &destination)
        guard !area.isEmpty else { return }
        let result = try result(for: area, like: destination)
        var sink = MaskedWriter(destination.take(), mask: mask, original: original)
        result.write(to: &sink, light: light)
        destination = sink.raster
    }

    /// True when the plugin takes the picture's samples as they are, so that nothing but bytes is copied.
    private func takesStoredPixels(of destination: AnyRaster) -> Bool {
        let layout = source.pixels.raster.layout
        return plugin.formats.contains(destination.format) && destination.layout == layout
            && (isPoint || !layout.hasAlpha && light == .encoded)
    }

    private func renderStored(into destination: inout AnyRaster) throws {
        let (whole, layout, format) = (destination.rect, destination.layout, destination.format)
        let rowBytes = whole.width * layout.channels * format.bytes
        let height = isPoint ? max(Self.bandRows, Self.bandBytes / max(1, rowBytes)) : whole.height
        for top in stride(from: whole.y, to: whole.bottom, by: max(1, height)) {
            let area = PixelRect(columns: whole.columns, rows: top..<min(top + height, whole.bottom))
            let read = try geometry.source(for: area, in: source)
            try call(source: read, area: area, layout: layout, format: format) { rows in
                source.pixels.copyRows(read, to: rows.start, pitch: rows.pitch)
            } collect: { rows in
                destination.setRows(of: area, from: rows, clearsTransparent: isPoint)
            }
        }
    }

    /// Gives the plugin the pixels that its kind gets, converted to a format that it takes.
    private func result(for area: PixelRect, like destination: AnyRaster) throws -> PluginResult {
        let (layout, format) = (destination.layout, destination.format)
        let read = try geometry.source(for: area, in: source)
        if !isPoint, layout.hasAlpha || light == .linear {
            let reader = PixelReader(source.pixels, layout: layout, light: light)
            return .working(try render(.f32(reader.floats(in: read)), area: area), full: format.full)
        }
        var stored = AnyRaster(zeroed: read, layout: layout, format: format)
        source.pixels.copyPixels(to: &stored)
        let taken = plugin.formats.contains(format) ? stored : stored.converted(to: .f32)
        let written = try render(taken, area: area).converted(to: format)
        return .stored(isPoint ? written.clearingTransparent() : written)
    }

    private func render(_ taken: AnyRaster, area: PixelRect) throws -> AnyRaster {
        var result = AnyRaster(zeroed: area, layout: taken.layout, format: taken.format)
        let pixels = KernelSource(taken)
        try call(source: taken.rect, area: area, layout: taken.layout, format: taken.format) { rows in
            pixels.copyRows(taken.rect, to: rows.start, pitch: rows.pitch)
        } collect: { rows in
            result.setRows(of: area, from: rows, clearsTransparent: false)
        }
        return result
    }
}
