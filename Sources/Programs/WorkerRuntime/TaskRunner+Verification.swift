import Digests
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func audit(_ task: AuditTask) throws -> AuditReceipt {
        switch task.source {
        case .input(let input):
            let opened = try open(input, task.chain, for: task.output)
            let header = opened.decoder.header
            let plan = opened.chain.plan(input: header.rect, layout: header.layout)
            let passage = Passage(header, opened.chain, plan, memoryBudget: task.frameMemory)
            guard let stream = passage.stream else {
                return try audit(task, opened.chain, source: decode(opened.decoder))
            }
            return try audit(task, opened, plan, stream)
        case .canvas(let reference):
            return try audit(
                task, chain(task.chain).after(reference.shrinking), source: Canvas(opening: reference))
        }
    }

    /// Renders the whole picture again in bands whose borders lie elsewhere, and compares the audited ones.
    private func audit(
        _ task: AuditTask, _ input: OpenedInput, _ plan: ChainPlan, _ stream: StreamPlan
    ) throws -> AuditReceipt {
        let frame = StreamedFrame(input.decoder, input.chain, plan, stream.withOtherBorders)
        defer { frame.stop() }
        let rows = OutputRows(
            extent: plan.output, conversion: try conversion(plan, input.decoder.header.sampleFormat, task.output)
        ) { _ in try frame.nextBand() }
        var expected = task.bands.sorted { $0.rows.lowerBound < $1.rows.lowerBound }[...]
        var pixels = 0
        for top in stride(from: 0, to: plan.output.height, by: BandReceipt.height) where !expected.isEmpty {
            let range = top..<min(top + BandReceipt.height, plan.output.height)
            let again = try rows.rows(range)
            guard let band = expected.first, band.rows == range else { continue }
            expected.removeFirst()
            try compare(again.cropped(to: PixelRect(columns: again.rect.columns, rows: range)), band)
            pixels += plan.output.width * range.count
        }
        if let band = expected.first {
            throw TaskFailure(.mismatch, "rows \(band.rows.lowerBound)–\(band.rows.upperBound - 1) are not there again")
        }
        return AuditReceipt(pixels: pixels)
    }

    private func audit(_ task: AuditTask, _ chain: Chain, source: some PixelSource) throws -> AuditReceipt {
        let plan = chain.plan(input: source.rect, layout: source.layout)
        let conversion = try conversion(plan, source.format, task.output)
        let tiles = TileRow(chain: chain, source: source)
        var pixels = 0
        for band in task.bands {
            let rect = PixelRect(
                columns: plan.output.columns,
                rows: plan.output.y + band.rows.lowerBound..<plan.output.y + band.rows.upperBound
            ).intersection(plan.output)
            try compare(conversion.convert(try tiles.render(rect, over: task.grid.shiftedByHalf)), band)
            pixels += rect.area
        }
        return AuditReceipt(pixels: pixels)
    }

    private func compare(_ again: AnyRaster, _ band: BandReceipt) throws {
        guard again.withBytes({ Digest(of: $0) }) == band.digest else {
            throw TaskFailure(
                .mismatch,
                "rows \(band.rows.lowerBound)–\(band.rows.upperBound - 1) came out different when they were "
                    + "rendered again")
        }
    }

    func check(_ task: CheckTask) throws -> TaskReceipt {
        let decoder: ImageDecoder
        do {
            decoder = try self.decoder(InputSpec(path: task.path, maxPixels: .max, color: .keep), .keep)
        } catch {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(error)")
        }
        try compareFacts(decoder, task)
        try comparePixels(decoder, task)
        return .check
    }

    private func compareFacts(_ decoder: ImageDecoder, _ task: CheckTask) throws {
        let (found, expected) = (decoder.header.facts, task.expected.image)
        guard found == expected else {
            throw TaskFailure(
                .mismatch,
                "the written file reads back as \(found.fileFormat) \(found.width)×\(found.height) \(found.layout) "
                    + "\(found.format), not \(expected.fileFormat) \(expected.width)×\(expected.height) "
                    + "\(expected.layout) \(expected.format)")
        }
    }

    /// A format that loses pixels must still decode to its end.
    private func comparePixels(_ decoder: ImageDecoder, _ task: CheckTask) throws {
        let format = try format(task.output)
        let options = FormatOptions(task.output.save.values, of: format.descriptor)
        let isLossless = format.isLossless(task.expected.image.layout, options: options)
        var digests = BandDigests()
        do {
            try decoder.readRows(bandHeight: BandReceipt.height) { digests.append($0) }
        } catch {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(error)")
        }
        let found = digests.finish()
        guard !isLossless || found == task.expected.bands.map(\.digest) else {
            throw TaskFailure(.mismatch, "the written file does not decode to the pixels that were rendered")
        }
    }
}
