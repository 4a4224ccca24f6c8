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
            return try audit(task, opened.chain, source: decode(opened.decoder))
        case .canvas(let reference):
            return try audit(
                task, chain(task.chain).after(reference.shrinking), source: Canvas(opening: reference))
        }
    }

    private func audit(_ task: AuditTask, _ chain: Chain, source: some PixelSource) throws -> AuditReceipt {
        let plan = chain.plan(input: source.rect, layout: source.layout)
        let conversion = OutputConversion(
            from: plan.outputLayout, source.format, to: try format(task.output), save: task.output.save)
        let tiles = TileRow(chain: chain, source: source)
        var pixels = 0
        for band in task.bands {
            let rect = PixelRect(
                columns: plan.output.columns,
                rows: plan.output.y + band.rows.lowerBound..<plan.output.y + band.rows.upperBound
            ).intersection(plan.output)
            let again = conversion.convert(try tiles.render(rect, over: task.grid.shiftedByHalf))
            guard again.withBytes({ Digest(of: $0) }) == band.digest else {
                throw TaskFailure(
                    .mismatch,
                    "rows \(band.rows.lowerBound)–\(band.rows.upperBound - 1) came out different when they were "
                        + "rendered again")
            }
            pixels += rect.area
        }
        return AuditReceipt(pixels: pixels)
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
