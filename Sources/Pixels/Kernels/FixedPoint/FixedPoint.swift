import Catalogs
import Geometry
import Raster

/// The door between rasters and the loops for 8-bit samples.
enum FixedPoint {
    /// Renders into every pixel of an 8-bit destination, or into those that a mask covers.
    ///
    /// - Parameter body: writes all rows.
    static func render(
        _ source: KernelSource, within mask: RoundedRect?, on level: CPULevel, into destination: inout AnyRaster,
        _ body: (ByteSource, ByteRowWriter) -> Void
    ) {
        MaskedRendering.render(source, within: mask, into: &destination) {
            render(source, on: level, into: &$0, body)
        }
    }

    /// Lends the 8-bit samples of a source.
    static func withBytes(of source: KernelSource, columns: Range<Int>, _ body: (ByteSource) -> Void) {
        guard case .u8(let own) = source.raster else { preconditionFailure("8-bit samples") }
        own.samples.withRow { body(ByteSource(source, samples: $0, wanted: columns)) }
    }

    private static func render(
        _ source: KernelSource, on level: CPULevel, into destination: inout AnyRaster,
        _ body: (ByteSource, ByteRowWriter) -> Void
    ) {
        guard case .u8(var target) = destination.take(), case .u8(let own) = source.raster else {
            preconditionFailure("8-bit samples in and out")
        }
        let (layout, rect) = (target.layout, target.rect)
        let operations = RowOperations.of(level)
        // A raster without pixels is lent, too: its tables are transparent everywhere.
        own.samples.withRow { from in
            target.samples.withMutableRow { to in
                guard !rect.isEmpty else { return }
                let writer = ByteRowWriter(to, rect: rect, layout: layout, operations)
                body(ByteSource(source, samples: from, wanted: rect.columns), writer)
                writer.finish()
            }
        }
        destination = .u8(target)
    }
}
