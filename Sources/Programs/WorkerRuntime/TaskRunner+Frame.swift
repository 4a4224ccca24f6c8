import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func renderFrame(_ task: FrameTask) throws -> OutputReceipt {
        let decoder = try decoder(task.input, for: task.output)
        let picture = try decode(decoder)
        let chain = try chain(task.chain)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let conversion = OutputConversion(
            from: plan.outputLayout, picture.format, to: try format(task.output), save: task.output.save)
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
}
