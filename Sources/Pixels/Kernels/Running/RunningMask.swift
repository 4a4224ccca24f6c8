import Catalogs
package import Geometry
import Raster

/// A part of the output that a mask may change, and the input that it is computed from.
package struct RunningPart {
    let area: PixelRect
    /// The input that is read, in coordinates of the picture.
    let extent: PixelRect
    /// The positions in ``extent`` of all columns that are read.
    let columns: AxisTable
    let rows: AxisTable

    package init(area: PixelRect, extent: PixelRect, columns: AxisTable, rows: AxisTable) {
        (self.area, self.extent, self.columns, self.rows) = (area, extent, columns, rows)
    }
}

extension RunningBlur {
    /// The form of a blur that a mask limits. Each part that the mask may change has a kernel of its own, which lives while its rows are
    /// written. Everywhere else, rows are copied. The pixels are those of ``Blur/render(_:light:within:into:)``.
    ///
    /// - Parameters:
    ///   - output: a part of the input.
    ///   - input: the extent of the input.
    ///   - moreRows: see ``RunningForm/holding(moreRows:)``.
    ///   - part: returns the input of an area of the output.
    /// - Returns: nil if there is no running form for these samples.
    package func runningForm(
        of output: RunningOutput, within mask: Mask, in input: PixelRect, moreRows: Int,
        part: (PixelRect) -> RunningPart
    ) -> RunningForm? {
        var parts: [MaskedPart] = []
        for area in mask.parts(in: output.rect) {
            guard let form = runningForm(of: output.part(area)) else { return nil }
            parts.append(MaskedPart(part(area), form.holding(moreRows: moreRows)))
        }
        // The parts whose kernels live at the same time: those of one band, and those that began above it.
        let lives = parts.map { one in
            let first = one.part.area.y - RunningForm.tallestBand + 1
            return parts.filter { $0.part.area.y <= one.part.area.y && $0.part.area.bottom > first }
        }
        let rows = lives.map { $0.reduce(0) { $0 + $1.form.rows * $1.part.extent.width } }.max() ?? 0
        let arrived = lives.map { $0.reduce(0) { $0 + $1.form.copies * $1.part.extent.width } }.max() ?? 0
        let kernels = lives.map { $0.reduce(0) { $0 + $1.bytes(mask) } }.max() ?? 0
        let tables = parts.reduce(0) { $0 + $1.tableBytes }
        // The originals of a band, and the blurred pixels of a part in it.
        let bands = 2 * RunningForm.tallestBand * output.rowBytes
        let width = max(1, input.width)
        // The rows of the output's band wait, and all that the blur reads below it and above the next part.
        let shared = RunningForm.tallestBand + halo.top + halo.bottom + (parts.map(\.form.rowsAhead).max() ?? 0)
        return RunningForm(
            rows: shared + (rows + width - 1) / width, copies: 2 + (arrived + width - 1) / width,
            bytes: kernels + tables + bands
        ) { [parts] in RunningMask($0, output, mask, parts) }
    }
}

extension RunningForm {
    /// The most rows of the output that a stream asks for at once, if a filter keeps its state.
    fileprivate static let tallestBand = 64
}

extension RunningOutput {
    fileprivate var rowBytes: Int { rect.width * layout.channels * format.bytes }

    fileprivate func part(_ area: PixelRect) -> RunningOutput {
        RunningOutput(rect: area, layout: layout, format: format, light: light)
    }
}

/// A part that a mask may change, and the kernel for it.
private struct MaskedPart {
    let part: RunningPart
    let form: RunningForm

    init(_ part: RunningPart, _ form: RunningForm) { (self.part, self.form) = (part, form) }

    /// The memory of the kernel and of the mask's coverage.
    func bytes(_ mask: Mask) -> Int { form.bytes + RunningCoverage.bytes(mask, part.area) }

    /// The memory of the tables, which exist from the first row of the picture on.
    var tableBytes: Int { 16 * (part.columns.range.count + part.rows.range.count) }
}

/// A blur that a mask limits, from the top down.
private final class RunningMask: RunningKernel {
    private let input: ArrivingInput
    private let output: RunningOutput
    private let mask: Mask
    private let shared: SharedRows
    /// The parts with rows that are not written yet.
    private var parts: [Part]

    private final class Part {
        let masked: MaskedPart
        /// The first row of the input that its kernel has not read.
        var next: Int
        var running: (kernel: any RunningKernel, coverage: RunningCoverage)?

        init(_ masked: MaskedPart) {
            self.masked = masked
            next = masked.part.extent.y
        }
    }

    init(_ input: ArrivingInput, _ output: RunningOutput, _ mask: Mask, _ parts: [MaskedPart]) {
        (self.input, self.output, self.mask) = (input, output, mask)
        shared = SharedRows(input)
        self.parts = parts.map(Part.init)
    }

    /// The rows that are shared, and those of the kernels at that time.
    private(set) var heldRows = 0

    func render(into destination: inout AnyRaster) throws {
        let rect = destination.rect
        guard !rect.isEmpty else { return }
        let originals = try shared.copy(rect)
        let source = KernelSource(originals, curve: input.curve)
        if output.layout == originals.layout { destination = originals } else { source.copyPixels(to: &destination) }
        for part in parts {
            let area = part.masked.part.area.intersection(rect)
            if !area.isEmpty { try render(part, area, source, into: &destination) }
        }
        let values = parts.reduce(0) { $0 + ($1.running?.kernel.heldRows ?? 0) * $1.masked.part.extent.width }
        heldRows = max(heldRows, shared.mostRows + values / max(1, input.extent.width))
        parts.removeAll { $0.masked.part.area.bottom <= rect.bottom }
        shared.drop(before: parts.reduce(rect.bottom) { min($0, $1.next) })
    }

    private func render(_ part: Part, _ area: PixelRect, _ originals: KernelSource, into destination: inout AnyRaster)
        throws
    {
        let (kernel, coverages) = part.running ?? start(part)
        part.running = (kernel, coverages)
        let coverage = coverages.coverage(of: area.rows)
        func writer(_ light: Light, _ destination: inout AnyRaster) -> MaskedWriter {
            let original = PixelReader(originals, layout: output.layout, light: light)
            return MaskedWriter(destination.take(), coverage, original: original)
        }
        if let kernel = kernel as? RunningFloats {
            var sink = writer(output.light, &destination)
            try kernel.write(area.rows, to: &sink)
            destination = sink.raster
            return
        }
        var filtered = AnyRaster(unwritten: area, layout: output.layout, format: output.format)
        try kernel.render(into: &filtered)
        if output.layout.hasAlpha {
            var sink = writer(.encoded, &destination)
            PixelReader(KernelSource(filtered), layout: output.layout, light: .encoded).write(area, to: &sink)
            destination = sink.raster
        } else {
            filtered.blend(into: &destination, coverage)
        }
    }

    private func start(_ part: Part) -> (kernel: any RunningKernel, coverage: RunningCoverage) {
        let masked = part.masked
        let extent = masked.part.extent
        let kernel = masked.form.make(
            ArrivingInput(
                extent: extent, layout: input.layout, columns: masked.part.columns, rows: masked.part.rows,
                curve: input.curve, heldRows: masked.form.rows
            ) { [shared, unowned part] in
                guard part.next < extent.bottom else { return nil }
                let band = try shared.band(at: part.next)
                let rows = part.next..<min(band.rect.bottom, extent.bottom)
                part.next = rows.upperBound
                return band.cropped(to: PixelRect(columns: extent.columns, rows: rows))
            })
        return (kernel, RunningCoverage(mask, masked.part.area))
    }
}

/// The rows of a picture that several kernels read, each at its own pace.
private final class SharedRows {
    private let input: ArrivingInput
    /// The bands that have arrived and may still be needed, from the top down.
    private var bands: [AnyRaster] = []
    /// The first row that may still be needed.
    private var first: Int
    /// The most rows that were held when others arrived.
    private(set) var mostRows = 0

    init(_ input: ArrivingInput) {
        self.input = input
        first = input.extent.y
    }

    /// The band that contains the row `y` of the picture.
    func band(at y: Int) throws -> AnyRaster {
        while y >= bands.last?.rect.bottom ?? input.extent.y {
            guard let band = try input.next() else { preconditionFailure("an input has all of its rows") }
            precondition(
                band.rect.y == bands.last?.rect.bottom ?? band.rect.y && band.rect.columns == input.extent.columns,
                "rows come from the top down")
            mostRows = max(mostRows, band.rect.y - first)
            bands.append(band)
        }
        guard let band = bands.first(where: { $0.rect.rows.contains(y) }) else {
            preconditionFailure("a row is read before it is dropped")
        }
        return band
    }

    /// The pixels of a part of the picture.
    func copy(_ rect: PixelRect) throws -> AnyRaster {
        let first = try band(at: rect.y)
        if first.rect.contains(rect) { return first.cropped(to: rect) }
        var copy = AnyRaster(unwritten: rect, layout: first.layout, format: first.format)
        var y = rect.y
        while y < rect.bottom {
            let band = try band(at: y)
            let rows = y..<min(band.rect.bottom, rect.bottom)
            copy.paste(band.cropped(to: PixelRect(columns: rect.columns, rows: rows)))
            y = rows.upperBound
        }
        return copy
    }

    /// Drops the bands above a row. One band stays, so that the next one is known.
    func drop(before y: Int) {
        first = max(first, y)
        let end = bands.firstIndex { $0.rect.bottom > y } ?? max(0, bands.count - 1)
        bands.removeFirst(end)
    }
}

/// The coverage of a mask, from the top down.
private final class RunningCoverage {
    private let area: PixelRect
    /// Nil for the coverage of the whole area.
    private let softening: (any RunningKernel)?
    private let sharp: MaskCoverage

    /// - Parameter area: the columns, and all rows that will be asked for.
    init(_ mask: Mask, _ area: PixelRect) {
        self.area = area
        guard let softening = mask.softening else {
            self.softening = nil
            sharp = mask.sharpCoverage(of: area)
            return
        }
        let wide = area.expanded(by: softening.halo)
        let sharp = mask.sharpCoverage(of: wide)
        self.sharp = sharp
        var y = wide.y
        let input = ArrivingInput(
            extent: wide, layout: .gray, columns: AxisTable(range: wide.columns), rows: AxisTable(range: wide.rows),
            curve: .sRGB
        ) {
            guard y < wide.bottom else { return nil }
            let rows = y..<min(y + Self.bandHeight, wide.bottom)
            y = rows.upperBound
            return .u16(sharp.raster(of: rows))
        }
        guard let form = softening.runningForm(of: Self.output(area)) else {
            preconditionFailure("a Gaussian of words keeps its state")
        }
        self.softening = form.make(input)
    }

    private static let bandHeight = 16

    private static func output(_ area: PixelRect) -> RunningOutput {
        RunningOutput(rect: area, layout: .gray, format: .u16, light: .encoded)
    }

    /// An upper bound for the bytes of a coverage of this area.
    static func bytes(_ mask: Mask, _ area: PixelRect) -> Int {
        guard let softening = mask.softening else { return 64 * area.width }
        let (wide, form) = (area.expanded(by: softening.halo), softening.runningForm(of: output(area)))
        return 64 * wide.width + (form?.bytes ?? 0) + ((form?.rows ?? 0) + 2 * bandHeight) * 2 * wide.width
    }

    /// The coverage of the next rows.
    func coverage(of rows: Range<Int>) -> MaskCoverage {
        guard let softening else { return sharp }
        var soft = AnyRaster(unwritten: PixelRect(columns: area.columns, rows: rows), layout: .gray, format: .u16)
        do {
            try softening.render(into: &soft)
        } catch {
            preconditionFailure("the rows of a mask arrive without an error")
        }
        return MaskCoverage(soft)
    }
}
