package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A filter that is one blur. It provides what blurs have in common as filters.
package protocol BlurFilter: AreaFilter {
    associatedtype Kernel: Blur
    var kernel: Kernel { get }
}

extension BlurFilter {
    package var halo: Halo { kernel.halo }

    package func runningForm(
        of output: PixelRect, in input: PixelRect, _ layout: PixelLayout, _ format: SampleFormat
    ) -> RunningForm? {
        guard !input.isEmpty, !output.isEmpty, isRowLocal(in: input), let kernel = kernel as? any RunningBlur else {
            return nil
        }
        // A mirrored border is read from the other side: at the top of the picture, and later at its bottom.
        let mirrored = edge == .mirror ? min(max(halo.top, halo.bottom), input.height) : 0
        let output = RunningOutput(
            rect: output, layout: outputLayout(for: layout), format: format, light: options.light)
        if let mask = options.mask(in: input) {
            return kernel.runningForm(of: output, within: mask, in: input, moreRows: mirrored) {
                part(of: $0, in: input)
            }
        }
        return kernel.runningForm(of: output)?.holding(moreRows: mirrored)
    }

    /// The input of an area that the filter changes.
    private func part(of area: PixelRect, in input: PixelRect) -> RunningPart {
        let map = SourceMap(needed: area.expanded(by: halo), input: input, edge: edge)
        func extent(_ map: AxisMap) -> Range<Int> {
            (map.intervals.first?.lowerBound ?? 0)..<(map.intervals.last?.upperBound ?? 0)
        }
        let extent = PixelRect(columns: extent(map.columns), rows: extent(map.rows))
        return RunningPart(
            area: area, extent: extent, columns: map.columns.table { $0 - extent.x },
            rows: map.rows.table { $0 - extent.y })
    }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) {
        kernel.render(source.pixels, light: options.light, within: options.mask(in: source.extent), into: &destination)
    }
}
