import Catalogs
import Digests
import FileAccess
import Geometry
import Glibc
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func audit(_ task: AuditTask) throws -> AuditReceipt {
        switch task.source {
        case .input(let input):
            return try reading(input) { input, _ in
                let inputs = try open(input, task.chain, for: task.outputs.map(\.spec))
                return AuditReceipt(pixels: try inputs.reduce(0) { try $0 + audit(task, $1) })
            }
        case .canvas(let reference):
            let canvas = try CheckedCanvas(reference)
            return try audit(
                task, chain(task.chain, over: canvas, reference), source: canvas, profile: canvas.profile,
                of: reference.stored)
        }
    }

    /// Renders whole pictures again in bands with shifted borders, and compares the audited rows.
    private func audit(_ task: AuditTask, _ input: OpenedInput) throws -> Int {
        let audited = input.branches.indices.filter { !task.outputs[input.branches[$0].index].bands.isEmpty }
        guard !audited.isEmpty else { return 0 }
        let rendering = rendering(
            input, audited, frameMemory: task.frameMemory, tileMemory: task.tileMemory, isShifted: true)
        return try rendering { branch, rows in
            try compare(rows, with: task.outputs[branch.index].bands)
        }.reduce(0, +)
    }

    /// - Returns: The number of compared pixels.
    private func compare(_ rows: OutputRows, with bands: [BandReceipt]) throws -> Int {
        var expected = bands.sorted { $0.rows.lowerBound < $1.rows.lowerBound }[...]
        var pixels = 0
        for top in stride(from: 0, to: rows.extent.height, by: BandReceipt.height) {
            // Reads to the end, because other outputs wait for their rows.
            let range = top..<min(top + BandReceipt.height, rows.extent.height)
            let again = try rows.rows(range)
            guard let band = expected.first, band.rows == range else { continue }
            expected.removeFirst()
            try compare(again.cropped(to: PixelRect(columns: again.rect.columns, rows: range)), band)
            pixels += rows.extent.width * range.count
        }
        if let band = expected.first {
            throw TaskFailure(.mismatch, "rows \(band.rows.lowerBound)–\(band.rows.upperBound - 1) are not there again")
        }
        return pixels
    }

    /// - Parameters:
    ///   - profile: The profile of the source's colours. Nil for sRGB.
    ///   - input: The samples of the input's file. Nil for those of the source.
    private func audit(
        _ task: AuditTask, _ chain: Chain, source: some PixelSource, profile: [UInt8]?, of input: SampleFormat?
    ) throws -> AuditReceipt {
        let plan = chain.plan(input: source.rect, layout: source.layout)
        let output = task.outputs[0]
        let conversion = OutputConversion(
            from: plan.outputLayout, source.format, of: input, to: try output.spec.imageFormat,
            save: output.spec.save,
            color: try colorConversion(from: profile, of: plan.outputLayout, to: output.spec))
        var pixels = 0
        for band in output.bands {
            let rect = PixelRect(
                columns: plan.output.columns,
                rows: plan.output.y + band.rows.lowerBound..<plan.output.y + band.rows.upperBound
            ).intersection(plan.output)
            try compare(conversion.convert(try chain.render(rect, over: task.grid.shiftedByHalf, from: source)), band)
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
        for output in task.outputs { try check(output) }
        return .check
    }

    private func check(_ output: CheckTask.Output) throws {
        if try output.spec.imageFormat.descriptor.isFolder { return try checkFolder(output) }
        guard try Digest(ofFileAt: output.expected.path, openedBy: opener) == output.expected.digest else {
            throw TaskFailure(.mismatch, "the written file does not hold the bytes that were written")
        }
        if let video = try output.spec.imageFormat.video { return try checkVideo(output, video) }
        let frames = output.expected.image.frames
        let decoder: ImageDecoder
        do {
            decoder = try self.decoder(
                InputSpec(path: output.expected.path, maxPixels: .max, color: .keep), .keep, keepsCMYK: true,
                pages: frames > 1 ? .animation : .first)
        } catch {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(error)")
        }
        try compareFacts(decoder, output)
        try comparePixels(decoder, output)
    }

    /// ffmpeg must decode a video to its end: to whole frames of its size, at least one for each of the animation.
    private func checkVideo(_ output: CheckTask.Output, _ format: any VideoFormat) throws {
        let (path, image) = (output.expected.path, output.expected.image)
        let file: FileOpener.Opened
        do {
            file = try opener.open(path, O_RDONLY)
        } catch {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(error)")
        }
        defer { close(file.descriptor) }
        let (bytes, report) = try video(for: format, path) { try $0.decode(file.descriptor) }
        if let failure = report.failure {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(failure)")
        }
        let shape = ImageShape(
            width: image.width, height: image.height, layout: image.layout, sampleFormat: image.format)
        let (width, height) = VideoStream.size(of: shape, in: format)
        let frame = VideoPlanes.byteCount(width: width, height: height)
        guard bytes.isMultiple(of: frame), bytes / frame >= image.frames else {
            throw TaskFailure(
                .mismatch,
                "the written file does not decode to \(image.frames) frames of \(width)×\(height) pixels")
        }
    }

    /// A folder cannot be decoded again, so at least its files must be the written ones.
    private func checkFolder(_ output: CheckTask.Output) throws {
        let found: TreeDigest
        do {
            found = try TreeDigest(ofFolderAt: output.expected.path)
        } catch {
            throw TaskFailure(.mismatch, "the written folder cannot be read back: \(error)")
        }
        guard found.digest == output.expected.digest else {
            throw TaskFailure(.mismatch, "the written folder does not hold the files that were written")
        }
    }

    private func compareFacts(_ decoder: ImageDecoder, _ output: CheckTask.Output) throws {
        let (found, expected) = (decoder.header.facts, output.expected.image)
        let format = try output.spec.imageFormat
        // Encoders of animations may join frames that are alike.
        let isSame =
            format.keepsLayout && expected.frames == 1
            ? found == expected || format.dropsOpaqueAlpha && found == expected.withoutAlpha
            : found.rect == expected.rect && found.fileFormat == expected.fileFormat
        guard isSame else {
            throw TaskFailure(
                .mismatch,
                "the written file reads back as \(found.fileFormat) \(found.width)×\(found.height) \(found.layout) "
                    + "\(found.format), not \(expected.fileFormat) \(expected.width)×\(expected.height) "
                    + "\(expected.layout) \(expected.format)")
        }
    }

    /// A lossy file must at least decode to its end.
    private func comparePixels(_ decoder: ImageDecoder, _ output: CheckTask.Output) throws {
        let format = try output.spec.imageFormat
        let options = FormatOptions(output.spec.save.values, of: format.descriptor)
        var digests = BandDigests()
        do {
            if decoder.header.frames > 1 {
                try decoder.readFrames { digests.append($0) }
            } else {
                try decoder.readRows(bandHeight: BandReceipt.height) { digests.append($0) }
            }
        } catch {
            throw TaskFailure(.mismatch, "the written file cannot be read back: \(error)")
        }
        let found = digests.finish()
        let isLossless =
            output.expected.image.frames == 1 && format.isLossless(output.expected.image.layout, options: options)
        guard !isLossless || found == output.expected.bands.map(\.digest) else {
            throw TaskFailure(.mismatch, "the written file does not decode to the pixels that were rendered")
        }
    }
}

extension ImageFacts {
    fileprivate var withoutAlpha: ImageFacts {
        ImageFacts(
            fileFormat: fileFormat, width: width, height: height, layout: layout.removingAlpha, format: format,
            frames: frames)
    }
}
