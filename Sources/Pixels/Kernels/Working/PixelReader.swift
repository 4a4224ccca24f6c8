package import Catalogs
package import Geometry
package import Raster

/// Converts stored pixels into the values that filters compute with, row by row.
///
/// Working values are doubles on the scale of the samples (0…255, 0…65535, 0…1). They are interleaved, in encoded or linear
/// light, with colours premultiplied by alpha. If the working layout has an alpha that the raster lacks, pixels are opaque.
/// Transparent coordinates read as zeros.
package struct PixelReader: Sendable {
    package let source: KernelSource
    /// The raster's own layout, or the same with an alpha.
    package let layout: PixelLayout
    package let light: Light
    /// The conversion of colours to linear light; nil if stored values are used.
    let tones: DecodingTones?

    package init(_ source: KernelSource, layout: PixelLayout, light: Light) {
        let own = source.raster.layout
        precondition(layout == own || layout == own.addingAlpha, "a filter may add alpha, nothing else")
        self.source = source
        self.layout = layout
        self.light = light
        tones = light == .linear ? source.curve.decoding(source.raster.format) : nil
    }

    /// Reads the pixels at `columns` (coordinates) of the raster's row `position` (a row number, not negative).
    ///
    /// - Parameter row: receives `columns.count * layout.channels` values.
    func read(columns: Range<Int>, atPosition position: Int, into row: inout MutableSpan<Double>) {
        precondition(row.count == columns.count * layout.channels, "every pixel has its values")
        switch source.raster {
        case .u8(let raster): read(raster, columns, position, into: &row)
        case .u16(let raster): read(raster, columns, position, into: &row)
        case .f32(let raster): read(raster, columns, position, into: &row)
        }
    }

    private func read<Sample: TransferSample>(
        _ raster: Raster<Sample>, _ columns: Range<Int>, _ position: Int, into row: inout MutableSpan<Double>
    ) {
        let pixel = PixelDecoder(stored: raster.layout, working: layout, tones)
        let samples = raster.samples.span
        let start = position * raster.stride
        for (index, column) in columns.enumerated() {
            let found = source.columns[column]
            if found < 0 {
                for channel in 0..<layout.channels { row[index * layout.channels + channel] = 0 }
            } else {
                pixel.decode(
                    samples, at: start + found * raster.layout.channels, into: &row, at: index * layout.channels)
            }
        }
    }
}

/// Converts one stored pixel into working values; see ``PixelReader``.
struct PixelDecoder {
    private let colors: Int
    private let storesAlpha: Bool
    private let wantsAlpha: Bool
    private let isLinear: Bool
    private let tones: DecodingTones

    init(stored: PixelLayout, working: PixelLayout, _ tones: DecodingTones?) {
        colors = stored.removingAlpha.channels
        storesAlpha = stored.hasAlpha
        wantsAlpha = working.hasAlpha
        isLinear = tones != nil
        self.tones = tones ?? .none
    }

    @inline(__always) func decode<Sample: TransferSample>(
        _ samples: Span<Sample>, at from: Int, into row: inout MutableSpan<Double>, at to: Int
    ) {
        let alpha = storesAlpha ? samples[from + colors].double : Sample.full
        for channel in 0..<colors {
            let sample = samples[from + channel]
            let value = isLinear ? sample.linear(tones, channel) : sample.double
            row[to + channel] = storesAlpha ? value * alpha / Sample.full : value
        }
        if wantsAlpha { row[to + colors] = alpha }
    }
}

extension PixelReader {
    /// The working values of `area` on a scale where 1 is full intensity, as plugins for neighbourhoods receive them.
    ///
    /// - Precondition: the source's tables cover `area`.
    package func floats(in area: PixelRect) -> Raster<Float> {
        let scale = source.raster.format.full
        var samples: [Float] = []
        samples.reserveCapacity(area.area * layout.channels)
        var row = [Double](repeating: 0, count: area.width * layout.channels)
        for y in area.rows {
            readRow(y, columns: area.columns, into: &row)
            for value in row { samples.append(Float(value / scale)) }
        }
        return Raster(rect: area, layout: layout, samples: samples)
    }

    /// The working values at `columns` of the row at the coordinate `y`.
    private func readRow(_ y: Int, columns: Range<Int>, into row: inout [Double]) {
        let position = source.rows[y]
        var target = row.mutableSpan
        if position >= 0 {
            read(columns: columns, atPosition: position, into: &target)
        } else {
            for index in target.indices { target[index] = 0 }
        }
    }

    /// Writes all rows of `area` to a sink.
    ///
    /// - Precondition: the source's tables cover `area`.
    package func write(_ area: PixelRect, to sink: inout some WorkingRowSink) {
        var row = [Double](repeating: 0, count: area.width * layout.channels)
        for y in area.rows {
            readRow(y, columns: area.columns, into: &row)
            sink.write(row.span, x: area.x, y: y)
        }
    }
}

extension Raster<Float> {
    /// Writes all rows to a sink, times `scale`: the inverse of ``PixelReader/floats(in:)``.
    package func write(to sink: inout some WorkingRowSink, scale: Double) {
        var row = [Double](repeating: 0, count: stride)
        for (index, y) in rect.rows.enumerated() {
            for column in row.indices { row[column] = Double(samples[index * stride + column]) * scale }
            sink.write(row.span, x: rect.x, y: y)
        }
    }
}
