import Catalogs
import Filters
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// Renders what a preview shows and writes its file.
    func preview(_ task: PreviewTask) throws -> PreviewReceipt {
        try reading(task.input) { input, _ in
            var task = task
            task.input = input
            if try !format(named: task.fileFormat).holdsProfile { task.input.color = .srgb }
            return try shown(task)
        }
    }

    private func shown(_ task: PreviewTask) throws -> PreviewReceipt {
        let after = try task.chains.map { try part(of: $0, task) { task.view.part(of: $0) } }
        let before =
            task.comparison == nil
            ? []
            : try zip(task.chains, after).map { chain, after in
                // The same place of the first input, which a filter may have grown around.
                try part(of: geometryAlone(chain), task) { after.wanted.intersection($0) }
            }
        let profile = after.first?.input.decoder.metadata.icc
        var pixels = try pixels(of: after + before, task)
        if let comparison = task.comparison {
            pixels = zip(pixels, (after + after)).map { $0.extended(to: $1.wanted) }
            let sheet = PreviewSheet(
                before: Array(pixels.suffix(before.count)), after: Array(pixels.prefix(after.count)), comparison)
            return PreviewReceipt(panels: after.map(\.panel), image: try write(sheet, profile, task))
        }
        return PreviewReceipt(panels: after.map(\.panel), image: try write(PreviewSheet(pixels), profile, task))
    }

    /// Filters that move pixels: the view of a picture before all others.
    private func geometryAlone(_ chain: [FilterInvocation]) -> [FilterInvocation] {
        chain.filter { toolbox.catalog.filter(named: $0.filter)?.kind == .geometry }
    }

    /// A part of a chain's output, not rendered yet.
    private struct Part {
        let input: OpenedInput
        let plan: ChainPlan
        let conversion: OutputConversion
        /// In the chain's coordinates, which are those of the first input.
        let wanted: PixelRect
        let chain: Chain
        /// In coordinates where the output begins at (0, 0).
        var rect: PixelRect { wanted.translated(x: -plan.output.x, y: -plan.output.y) }
        /// What has to be decoded for it.
        var sources: [PixelRect] { wanted.isEmpty ? [] : chain.regionOfInterest(for: wanted, in: plan) }

        var panel: PreviewReceipt.Panel {
            PreviewReceipt.Panel(part: rect, width: plan.output.width, height: plan.output.height)
        }

        /// - Parameter source: has what ``sources`` names.
        func render(from source: PictureParts) throws -> AnyRaster {
            guard !wanted.isEmpty else {
                return AnyRaster(
                    zeroed: wanted, layout: conversion.outputLayout, format: conversion.outputFormat)
            }
            return conversion.convert(try chain.render(wanted, from: source))
        }
    }

    /// - Parameter choose: from the output's rectangle to the part that is wanted.
    private func part(
        of invocations: [FilterInvocation], _ task: PreviewTask, choose: (PixelRect) -> PixelRect
    ) throws -> Part {
        let output = OutputSpec(chain: invocations, format: task.output.format, save: task.output.save)
        let inputs = try open(task.input, [], for: [output] + task.others)
        guard let input = inputs.first(where: { $0.branches[0].index == 0 }) else {
            preconditionFailure("every output has its way of decoding, and the first output the first one")
        }
        let branch = input.branches[0]
        let header = input.decoder.header
        let plan = branch.whole.plan(input: header.rect, layout: header.layout)
        guard !plan.output.isEmpty else {
            throw TaskFailure(.value, "\(task.input.path): the chain keeps nothing of the picture")
        }
        let wanted = choose(plan.output)
        // What is decoded for it, rendered, made alike and laid out, for each panel.
        let bytes = 6 * wanted.area * 4 * header.sampleFormat.bytes * task.chains.count
        guard bytes <= max(task.memory, 1 << 28) else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): so many panels of this size take \(bytes / 1_000_000) MB; 'memory' in the config "
                    + "allows a preview \(task.memory / 1_000_000) MB")
        }
        return Part(
            input: input, plan: plan, conversion: try conversion(input)(branch, plan), wanted: wanted,
            chain: branch.whole)
    }

    /// Parts of one decoding are decoded together.
    private func pixels(of parts: [Part], _ task: PreviewTask) throws -> [AnyRaster] {
        var result = [AnyRaster?](repeating: nil, count: parts.count)
        for (index, part) in parts.enumerated() where result[index] == nil {
            let header = part.input.decoder.header
            let alike = parts.indices.filter { parts[$0].input.shrinking == part.input.shrinking }
            let sources = alike.flatMap { parts[$0].sources }
            let bytes = sources.reduce(0) { $0 + $1.area } * header.layout.channels * header.sampleFormat.bytes
            if bytes <= task.memory {
                let source = PictureParts(header, try part.input.decoder.readRegions(sources))
                for index in alike { result[index] = try parts[index].render(from: source) }
            } else {
                let (x, y) = (part.plan.output.x, part.plan.output.y)
                result[index] = try streamed(part.rect, part.input, task).translated(x: x, y: y)
            }
        }
        return result.compactMap(\.self)
    }

    /// For parts that need much of a large picture: its bands go by, and the part is kept.
    private func streamed(_ part: PixelRect, _ input: OpenedInput, _ task: PreviewTask) throws -> AnyRaster {
        let rendering = FrameRendering(
            input: input, passage: RenderRoute(input, memoryBudget: task.memory, pictures: pictures.bytes),
            branches: [0],
            tileMemory: task.memory,
            cancellation: toolbox.cancellation)
        return try rendering(conversion: conversion(input)) { _, rows, conversion in
            var kept = AnyRaster(zeroed: part, layout: conversion.outputLayout, format: conversion.outputFormat)
            for top in stride(from: 0, to: part.bottom, by: BandReceipt.height) {
                let range = top..<min(top + BandReceipt.height, rows.extent.height)
                let band = try rows.rows(range)
                let common = PixelRect(columns: part.columns, rows: range).intersection(part)
                if !common.isEmpty { kept.paste(band.cropped(to: common)) }
            }
            return kept
        }[0]
    }

    /// - Parameter profile: of the pixels; nil for sRGB. Without it they would mean other colours.
    private func write(_ sheet: PreviewSheet, _ profile: Blob?, _ task: PreviewTask) throws -> ImageFacts {
        let format = try format(named: task.fileFormat)
        let film = sheet.film
        let save = SaveOptions(metadata: .icc)
        let conversion = OutputConversion(from: film.layout, film.format, to: format, save: save)
        let shape = ImageShape(
            width: film.rect.width, height: film.rect.height / sheet.frames, layout: conversion.outputLayout,
            sampleFormat: conversion.outputFormat)
        let animation = ImageMetadata.Animation(
            delays: Array(repeating: PreviewSheet.blinkTime, count: sheet.frames), repetitions: 0)
        do {
            try ImageEncoder.write(
                to: task.path, format: format, save: save, shape: shape, frames: sheet.frames,
                metadata: ImageMetadata(icc: profile, animation: sheet.frames > 1 ? animation : nil)
            ) { rows in
                conversion.convert(film.cropped(to: PixelRect(columns: film.rect.columns, rows: rows)))
            }
        } catch let error as ImageFileError where ![.place, .process].contains(error.kind) {
            throw TaskFailure(.output, "\(error)")
        }
        return ImageFacts(
            fileFormat: format.descriptor.name, width: shape.width, height: shape.height, layout: shape.layout,
            format: shape.sampleFormat, frames: sheet.frames)
    }
}

extension PreviewTask.View {
    /// The part of an output around the point, moved inwards where it would stick out, and smaller where the output is.
    func part(of whole: PixelRect) -> PixelRect {
        func range(_ place: Length, _ size: Int, _ whole: Int) -> Range<Int> {
            let size = min(size, whole)
            let middle = place.pixels(of: whole)
            let wished = (middle - Double(size) / 2).rounded()
            let start = Int(max(0, min(Double(whole - size), wished)))
            return start..<start + size
        }
        return PixelRect(columns: range(x, width, whole.width), rows: range(y, height, whole.height))
            .translated(x: whole.x, y: whole.y)
    }
}

/// Parts of a picture, each in memory, as a source that has been asked for no others.
private struct PictureParts: PixelSource {
    let rect: PixelRect
    let layout: PixelLayout
    let format: SampleFormat
    private let parts: [AnyRaster]

    init(_ header: ImageHeader, _ parts: [AnyRaster]) {
        rect = header.rect
        layout = header.layout
        format = header.sampleFormat
        self.parts = parts
    }

    func read(_ part: PixelRect) throws -> AnyRaster {
        guard let holder = parts.first(where: { $0.rect.contains(part) }) else {
            preconditionFailure("a chain reads the regions that it named")
        }
        return holder.cropped(to: part)
    }
}
