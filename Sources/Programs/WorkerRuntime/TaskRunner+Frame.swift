import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func renderFrame(_ task: FrameTask) throws -> OutputReceipt {
        let input = try open(task.input, task.chain, for: task.output)
        let (decoder, chain) = (input.decoder, input.chain)
        let plan = chain.plan(input: decoder.header.rect, layout: decoder.header.layout)
        guard let stream = Passage(decoder.header, chain, plan, memoryBudget: task.frameMemory).stream else {
            return try renderHeld(task, decoder, chain, plan)
        }
        return try renderStreamed(task, decoder, chain, plan, stream)
    }

    private func renderStreamed(
        _ task: FrameTask, _ decoder: ImageDecoder, _ chain: Chain, _ plan: ChainPlan, _ stream: StreamPlan
    ) throws -> OutputReceipt {
        let conversion = try conversion(plan, decoder.header.sampleFormat, task.output)
        let frame = StreamedFrame(decoder, chain, plan, stream)
        defer { frame.stop() }
        let rows = OutputRows(extent: plan.output, conversion: conversion) { _ in try frame.nextBand() }
        return try write(
            rows, size: plan.output, conversion: conversion, output: task.output, metadata: decoder.metadata,
            to: task.temporaryPath)
    }

    private func renderHeld(
        _ task: FrameTask, _ decoder: ImageDecoder, _ chain: Chain, _ plan: ChainPlan
    ) throws -> OutputReceipt {
        let conversion = try conversion(plan, decoder.header.sampleFormat, task.output)
        let picture = try decode(decoder)
        let grid = TilePlan(
            .auto, plan: plan, bytesPerSample: picture.format.bytes, memoryBudget: task.tileMemory
        ).grid
        let tiles = TileRow(chain: chain, source: picture)
        let rows = OutputRows(extent: plan.output, conversion: conversion) { row in
            try tiles.render(grid.rowOfTiles(holding: row), over: grid)
        }
        return try write(
            rows, size: plan.output, conversion: conversion, output: task.output, metadata: decoder.metadata,
            to: task.temporaryPath)
    }

    func conversion(_ plan: ChainPlan, _ format: SampleFormat, _ output: OutputSpec) throws -> OutputConversion {
        OutputConversion(from: plan.outputLayout, format, to: try self.format(output), save: output.save)
    }
}
