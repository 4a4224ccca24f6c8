import Catalogs
package import Geometry
package import Raster

extension PixelReader {
    /// The working values of `area` on a scale where 1 is full intensity: what a plugin for neighbourhoods gets.
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

    /// Hands all rows of `area` to a sink.
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
    /// Hands all rows to a sink, times `scale`: the reverse of ``PixelReader/floats(in:)``.
    package func write(to sink: inout some WorkingRowSink, scale: Double) {
        var row = [Double](repeating: 0, count: stride)
        for (index, y) in rect.rows.enumerated() {
            for column in row.indices { row[column] = Double(samples[index * stride + column]) * scale }
            sink.write(row.span, x: rect.x, y: y)
        }
    }
}
