import Catalogs
import Filters
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// Renders the contents of a preview and writes its file.
    func preview(_ task: PreviewTask) throws -> PreviewReceipt {
        try reading(task.input) { input, _ in
            var task = task
            task.input = input
            if try !ImageFormats.inTask(task.fileFormat).descriptor.holdsProfile { task.input.color = .srgb }
            return try shown(task)
        }
    }

    /// An output of a preview. It shows the colours in which filters work: not every format that shows pictures has those of the
    /// output.
    private func inColorsOfFilters(_ output: OutputSpec, chain: [FilterInvocation]) -> OutputSpec {
        var save = output.save
        save.color = nil
        return OutputSpec(chain: chain, format: output.format, save: save)
    }

    private func shown(_ task: PreviewTask) throws -> PreviewReceipt {
        let after = try task.chains.map { try part(of: $0, task) { task.view.part(of: $0) } }
        let before =
            task.comparison == nil
            ? []
            : try zip(task.chains, after).map { chain, after in
                // The same part of the first input, around which a filter may have added pixels.
                try part(of: geometryAlone(chain), task) { after.wanted.intersection($0) }
            }
        let profile = after.first?.input.decoder.metadata.icc
        var pixels = try pixels(of: after + before, task)
        let labels = try task.labels.map { try PanelLabels($0.texts, typeface($0.font)) }
        if let comparison = task.comparison {
            pixels = zip(pixels, (after + after)).map { $0.extended(to: $1.wanted) }
            let sheet = try PreviewSheet(
                before: Array(pixels.suffix(before.count)), after: Array(pixels.prefix(after.count)), comparison,
                labels)
            return PreviewReceipt(panels: after.map(\.panel), image: try write(sheet, profile, task))
        }
        return PreviewReceipt(
            panels: after.map(\.panel), image: try write(try PreviewSheet(pixels, labels), profile, task))
    }

    private func typeface(_ font: PictureReference) throws -> Typeface {
        try toolbox.pictures.picture(
            font, for: "the labels", opener, DecodeLimits(maxPixels: .max, scratchFolder: nil))
    }

    /// The filters that move pixels. They give the view of the picture before all others.
    private func geometryAlone(_ chain: [FilterInvocation]) -> [FilterInvocation] {
        chain.filter { toolbox.catalog.filter(named: $0.filter)?.kind == .geometry }
    }

    /// A part of a chain's output that is not rendered yet.
    private struct Part {
        let input: OpenedInput
        let plan: ChainPlan
        let conversion: OutputConversion
        /// In the chain's coordinates, which are those of the first input.
        let wanted: PixelRect
        let chain: Chain
        /// In coordinates that begin with the output at (0, 0).
        var rect: PixelRect { wanted.translated(x: -plan.output.x, y: -plan.output.y) }
        /// The rectangles that must be decoded for it.
        var sources: [PixelRect] { wanted.isEmpty ? [] : chain.regionOfInterest(for: wanted, in: plan) }

        var panel: PreviewReceipt.Panel {
            PreviewReceipt.Panel(part: rect, width: plan.output.width, height: plan.output.height)
        }

        /// - Parameter source: Contains the rectangles of ``sources``.
        func render(from source: PictureParts) throws -> AnyRaster {
            guard !wanted.isEmpty else {
                return AnyRaster(zeroed: wanted, layout: conversion.outputLayout, format: conversion.outputFormat)
            }
            return conversion.convert(try chain.render(wanted, from: source))
        }
    }

    /// - Parameter choose: From the output's rectangle to the part that is needed.
    private func part(
        of invocations: [FilterInvocation], _ task: PreviewTask, choose: (PixelRect) -> PixelRect
    ) throws -> Part {
        let output = inColorsOfFilters(task.output, chain: invocations)
        let others = task.others.map { inColorsOfFilters($0, chain: $0.chain) }
        // The original is shown beside the filtered picture, with its light cut off.
        let mapTones = task.chains.contains(where: \.mapTones) && task.others.map(\.chain).allSatisfy(\.mapTones)
        let inputs = try open(task.input, [], for: [output] + others, mapTones: mapTones)
        guard let input = inputs.first(where: { $0.branches[0].index == 0 }) else {
            preconditionFailure("every output has its way of decoding, and the first output the first one")
        }
        let branch = input.branches[0]
        let header = input.decoder.header
        let plan = branch.whole.plan(input: header.rect, layout: header.layout)
        if let reason = branch.whole.objection(plan) { throw TaskFailure(.value, "\(task.input.path): \(reason)") }
        if let misfit = branch.whole.misfit(plan) { throw TaskFailure(misfit, in: task.input.path) }
        let wanted = choose(plan.output)
        // For each panel: the decoded pixels, the rendered ones, the ones of equal kind, and the sheet.
        let bytes = 6 * wanted.area * 4 * header.sampleFormat.bytes * task.chains.count
        guard bytes <= max(task.memory, 1 << 28) else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): so many panels of this size take \(bytes / 1_000_000) MB; 'memory' in the config "
                    + "allows a preview \(task.memory / 1_000_000) MB")
        }
        return Part(
            input: input, plan: plan, conversion: try input.conversion(branch, plan), wanted: wanted,
            chain: branch.whole)
    }

    /// Decodes parts of the same decoding together.
    private func pixels(of parts: [Part], _ task: PreviewTask) throws -> [AnyRaster] {
        var result = [AnyRaster?](repeating: nil, count: parts.count)
        for (index, part) in parts.enumerated() where result[index] == nil {
            let header = part.input.decoder.header
            // Chains may need other samples of the picture than others do.
            let alike = parts.indices.filter {
                parts[$0].input.shrinking == part.input.shrinking && parts[$0].input.decoder.header == header
            }
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

    /// For parts that need much of a large picture: streams its bands and keeps the part.
    private func streamed(_ part: PixelRect, _ input: OpenedInput, _ task: PreviewTask) throws -> AnyRaster {
        let rendering = rendering(input, [0], frameMemory: task.memory, tileMemory: task.memory)
        return try rendering { _, rows in
            let conversion = rows.conversion
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

    /// - Parameter profile: The profile of the pixels. Nil for sRGB. Without it they would show other colours.
    private func write(_ sheet: PreviewSheet, _ profile: Blob?, _ task: PreviewTask) throws -> ImageFacts {
        let format = try ImageFormats.inTask(task.fileFormat)
        let film = sheet.film
        let save = SaveOptions(metadata: .icc, values: task.fileOptions)
        let conversion = OutputConversion(from: film.layout, film.format, to: format, save: save)
        let shape = ImageShape(
            width: film.rect.width, height: film.rect.height / sheet.frames, layout: conversion.outputLayout,
            sampleFormat: conversion.outputFormat)
        let animation = ImageMetadata.Animation(
            delays: Array(repeating: PreviewSheet.blinkTime, count: sheet.frames), repetitions: 0)
        do {
            try ImageEncoder.write(
                to: task.path, openedBy: opener, format: format, save: save, shape: shape, frames: sheet.frames,
                metadata: ImageMetadata(icc: profile, animation: sheet.frames > 1 ? animation : nil)
            ) { rows in
                conversion.convert(film.cropped(to: PixelRect(columns: film.rect.columns, rows: rows)))
            }
        } catch let error as ImageFileError where ![.storage, .process].contains(error.kind) {
            throw TaskFailure(.output, "\(error)")
        }
        return ImageFacts(
            fileFormat: format.descriptor.name, width: shape.width, height: shape.height, layout: shape.layout,
            format: shape.sampleFormat, frames: sheet.frames)
    }
}

extension PreviewTask.View {
    /// The part of an output around the point. It is moved inwards if it exceeds the output, and cut if the output is
    /// smaller.
    func part(of whole: PixelRect) -> PixelRect {
        func range(_ offset: Length, _ size: Int, _ whole: Int) -> Range<Int> {
            let size = min(size, whole)
            let middle = offset.pixels(of: whole)
            let desired = (middle - Double(size) / 2).rounded()
            let start = Int(max(0, min(Double(whole - size), desired)))
            return start..<start + size
        }
        return PixelRect(columns: range(x, width, whole.width), rows: range(y, height, whole.height))
            .translated(x: whole.x, y: whole.y)
    }
}

/// Parts of a picture in memory, as a source for these parts only.
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

/// The panels of a preview in their final layout.
struct PreviewSheet {
    /// Frames of the same size, one below the other. There is one frame unless the preview blinks.
    let film: AnyRaster
    let frames: Int

    /// The duration of each frame of a blinking preview, in milliseconds.
    static let blinkTime = 700
    /// Pixels between panels.
    private static let gap = 8

    /// Panels from left to right.
    init(_ panels: [AnyRaster], _ labels: PanelLabels? = nil) throws {
        film = Self.row(try labels.above(Self.alike(panels)))
        frames = 1
    }

    /// - Parameter before: One for each of `after`, of the same size.
    init(
        before: [AnyRaster], after: [AnyRaster], _ comparison: PreviewTask.Comparison, _ labels: PanelLabels? = nil
    ) throws {
        let panels = Self.alike(before + after)
        let (before, after) = (panels.prefix(before.count), panels.suffix(after.count))
        switch comparison {
        case .split:
            film = Self.row(try labels.above(zip(before, after).map(Self.split)))
            frames = 1
        case .side:
            film = Self.row(try labels.above(before.prefix(1) + after))
            frames = 1
        case .blink:
            let shown = try labels.above(before.prefix(1) + after)
            let (width, height) = (shown.map(\.rect.width).max() ?? 0, shown.map(\.rect.height).max() ?? 0)
            frames = shown.count
            film = Self.pasted(
                shown.enumerated().map { ($1, 0, $0 * height) }, width: width, height: height * shown.count)
        }
    }

    private static func row(_ panels: some Collection<AnyRaster>) -> AnyRaster {
        var placements: [(AnyRaster, Int, Int)] = []
        var x = 0
        for panel in panels {
            placements.append((panel, x, 0))
            x += panel.rect.width + gap
        }
        return pasted(placements, width: max(1, x - gap), height: max(1, panels.map(\.rect.height).max() ?? 1))
    }

    /// Pastes pictures of one kind on a white ground.
    private static func pasted(_ placements: [(AnyRaster, Int, Int)], width: Int, height: Int) -> AnyRaster {
        guard let first = placements.first?.0 else { preconditionFailure("a sheet has panels") }
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        var sheet = AnyRaster(rect, layout: first.layout, format: first.format, level: 1)
        for (panel, x, y) in placements where !panel.rect.isEmpty {
            sheet.paste(panel.translated(x: x - panel.rect.x, y: y - panel.rect.y))
        }
        return sheet
    }

    /// The left half before, the right half after. A line between them is white and black, so that it shows on every
    /// picture.
    private static func split(_ before: AnyRaster, _ after: AnyRaster) -> AnyRaster {
        let (rect, middle) = (after.rect, after.rect.x + after.rect.width / 2)
        guard rect.width >= 4 else { return after }
        var result = after
        result.paste(before.cropped(to: PixelRect(columns: rect.x..<middle, rows: rect.rows)))
        let line = PixelRect(columns: middle - 1..<middle + 1, rows: rect.rows)
        let dark = PixelRect(columns: middle..<middle + 1, rows: rect.rows)
        result.paste(AnyRaster(line, layout: after.layout, format: after.format, level: 1))
        result.paste(AnyRaster(dark, layout: after.layout, format: after.format, level: 0).opaque)
        return result
    }

    /// Makes panels alike: with alpha if any has it, in colour if any is. All come from one file and have the same
    /// sample format.
    private static func alike(_ panels: [AnyRaster]) -> [AnyRaster] {
        let isColor = panels.contains { $0.layout.removingAlpha == .rgb }
        let hasAlpha = panels.contains { $0.layout.hasAlpha }
        let layout: PixelLayout = isColor ? (hasAlpha ? .rgba : .rgb) : (hasAlpha ? .grayAlpha : .gray)
        return panels.map { $0.withChannels(of: layout) }
    }
}

/// Words above the panels of a preview, so that they cover no pixel.
struct PanelLabels {
    private let texts: [String]
    private let typeface: Typeface

    /// In pixels.
    private static let (size, margin) = (14, 4)

    init(_ texts: [String], _ typeface: Typeface) {
        (self.texts, self.typeface) = (texts, typeface)
    }

    /// The panels, each with its words in black on white above it.
    fileprivate func above(_ panels: [AnyRaster]) throws -> [AnyRaster] {
        let letters = try zip(texts, panels).map { text, panel in
            let width = max(Self.size, panel.rect.width - 2 * Self.margin)
            do throws(TypesettingError) {
                return try typeface.drawing(of: TextLayout(text, size: Double(Self.size), width: width))
            } catch {
                throw TaskFailure(.value, "the labels: \(error)")
            }
        }
        let height = (letters.map(\.rect.height).max() ?? 0) + 2 * Self.margin
        return zip(panels, letters).map { Self.labelled($0, $1, height) }
    }

    private static func labelled(_ panel: AnyRaster, _ letters: Raster<UInt8>, _ height: Int) -> AnyRaster {
        let rect = panel.rect
        guard !rect.isEmpty else { return panel }
        let strip = PixelRect(x: rect.x, y: rect.y - height, width: rect.width, height: height)
        var label = Raster<UInt8>(rect: strip, layout: .gray, repeating: 255)
        let black = Raster<UInt8>(
            rect: PixelRect(
                x: rect.x + margin, y: strip.y + margin, width: letters.rect.width, height: letters.rect.height),
            layout: .gray, samples: letters.samples.map { 255 - $0 })
        label.paste(black.cropped(to: black.rect.intersection(strip)))
        var result = AnyRaster(strip.union(rect), layout: panel.layout, format: panel.format, level: 1)
        result.paste(AnyRaster.u8(label).withChannels(of: panel.layout).converted(to: panel.format))
        result.paste(panel)
        return result
    }
}

extension PanelLabels? {
    /// The panels as they are without labels.
    fileprivate func above(_ panels: some Collection<AnyRaster>) throws -> [AnyRaster] {
        try self?.above(Array(panels)) ?? Array(panels)
    }
}

extension AnyRaster {
    /// All samples, including alpha, at a part of full intensity, 0–1.
    init(_ rect: PixelRect, layout: PixelLayout, format: SampleFormat, level: Double) {
        let count = rect.area * layout.channels
        self =
            switch format {
            case .u8: .u8(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            case .u16: .u16(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            case .f32: .f32(Raster(rect: rect, layout: layout, samples: Self.samples(count, level)))
            }
    }

    private static func samples<Sample: PixelSample>(_ count: Int, _ level: Double) -> [Sample] {
        Array(repeating: Sample(rounding: level * Sample.full), count: count)
    }

    /// The same picture with gray spread over three channels, or with a full alpha channel, if `layout` has them.
    func withChannels(of layout: PixelLayout) -> AnyRaster {
        guard layout != self.layout else { return self }
        return switch self {
        case .u8(let raster): .u8(raster.withChannels(of: layout))
        case .u16(let raster): .u16(raster.withChannels(of: layout))
        case .f32(let raster): .f32(raster.withChannels(of: layout))
        }
    }

    /// The same picture in a larger rectangle. The rest is transparent or white.
    func extended(to rect: PixelRect) -> AnyRaster {
        guard rect != self.rect else { return self }
        var result = AnyRaster(rect, layout: layout, format: format, level: layout.hasAlpha ? 0 : 1)
        if !self.rect.isEmpty { result.paste(self) }
        return result
    }

    /// The same colours without transparency.
    var opaque: AnyRaster { layout.hasAlpha ? withChannels(of: layout.removingAlpha).withChannels(of: layout) : self }
}

extension Raster {
    fileprivate func withChannels(of layout: PixelLayout) -> Raster {
        let (old, new) = (self.layout.channels, layout.channels)
        let colors = self.layout.removingAlpha.channels
        var result: [Sample] = []
        result.reserveCapacity(samples.count / old * new)
        for pixel in Swift.stride(from: 0, to: samples.count, by: old) {
            for channel in 0..<layout.removingAlpha.channels {
                result.append(samples[pixel + min(channel, colors - 1)])
            }
            if layout.hasAlpha {
                result.append(self.layout.hasAlpha ? samples[pixel + old - 1] : Sample(rounding: Sample.full))
            }
        }
        return Raster(rect: rect, layout: layout, samples: result)
    }
}
