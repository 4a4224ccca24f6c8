import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

/// Moves an opened input's pixels to the encoders of its outputs, by any route.
struct FrameRendering {
    let input: OpenedInput
    let route: RenderRoute
    /// The indices, in the input, of the branches that are rendered.
    let branches: [Int]
    /// The bytes for tiles of a picture that is held.
    let tileMemory: Int
    /// Cancelled when an output has failed, so that plugins that work on the others can stop.
    let cancellation: TaskCancellation
    /// Whether the borders of bands and tiles are shifted, for a second rendering.
    var isShifted = false

    private var header: ImageHeader { input.decoder.header }

    /// Calls `body` for each branch with its rows. If the rows stream, it does so for all branches at the same time.
    func callAsFunction<Value>(
        _ body: @escaping (OpenedInput.Branch, OutputRows) throws -> Value
    ) throws -> [Value] {
        if header.frames > 1 { return try animated(body) }
        if let trunk = route.trunk { return try streamed(trunk, body) }
        let picture = try input.decoder.wholePicture()
        return try branches.map { index in
            let branch = input.branches[index]
            let plan = branch.whole.plan(input: picture.rect, layout: picture.layout)
            return try body(branch, held(picture, branch.whole, plan, input.conversion(branch, plan)))
        }
    }

    private func streamed<Value>(
        _ trunk: StreamPlan, _ body: @escaping (OpenedInput.Branch, OutputRows) throws -> Value
    ) throws -> [Value] {
        let frame = StreamedFrame(input, route, trunk, branches: branches, isShifted: isShifted)
        defer { frame.stop() }
        return try BandPipe.together(branches.count) { number in
            let branch = input.branches[branches[number]]
            let plan = route.branchPlans[branches[number]]
            let conversion = try input.conversion(branch, plan)
            guard route.branches[branches[number]] != nil else {
                let picture = try collect(frame, number)
                return try body(branch, held(picture, branch.own, plan, conversion))
            }
            let rows = OutputRows(extent: plan.output, conversion: conversion) { _ in try frame.nextBand(number) }
            return try body(branch, rows)
        } abandon: {
            cancellation.cancel()
            frame.close()
        }
    }

    /// The whole result of the common chain, for a branch that cannot begin before.
    private func collect(_ frame: StreamedFrame, _ branch: Int) throws -> AnyRaster {
        let plan = route.chainPlan
        var picture = AnyRaster(zeroed: plan.output, layout: plan.outputLayout, format: header.sampleFormat)
        var row = plan.output.y
        while row < plan.output.bottom {
            let band = try frame.nextBand(branch)
            picture.paste(band)
            row = band.rect.bottom
        }
        return picture
    }

    private func held(
        _ picture: AnyRaster, _ chain: Chain, _ plan: ChainPlan, _ conversion: OutputConversion
    ) -> OutputRows {
        let tiles = tiles(of: picture, chain, plan)
        return OutputRows(extent: plan.output, conversion: conversion, renderBand: tiles)
    }

    /// Renders the row of tiles that contains a row.
    private func tiles(
        of picture: AnyRaster, _ chain: Chain, _ plan: ChainPlan
    ) -> (Int) throws -> AnyRaster {
        let grid = TilePlan(
            .auto, chain: chain, plan: plan, bytesPerSample: picture.format.bytes, memoryBudget: tileMemory
        ).grid
        return { row in
            try chain.render(
                grid.rowOfTiles(holding: row), over: isShifted ? grid.shiftedByHalf : grid, from: picture)
        }
    }
}

extension FrameRendering {
    /// Decodes the frames of an animation one after the other. Every branch renders each of them.
    private func animated<Value>(
        _ body: @escaping (OpenedInput.Branch, OutputRows) throws -> Value
    ) throws -> [Value] {
        let pipes = branches.map { _ in BandPipe(capacity: 1) }
        BandPipe.start(pipes) {
            try input.decoder.readFrames { frame in for pipe in pipes { try pipe.push(frame) } }
        }
        func close() { for pipe in pipes { pipe.close() } }
        defer {
            close()
            for pipe in pipes { pipe.waitForEnd() }
        }
        return try BandPipe.together(branches.count) { number in
            let branch = input.branches[branches[number]]
            let plan = branch.whole.plan(input: header.rect, layout: header.layout)
            return try body(branch, film(pipes[number], branch.whole, plan, input.conversion(branch, plan)))
        } abandon: {
            close()
        }
    }

    /// The rows of all frames, one below the other.
    private func film(
        _ pipe: BandPipe, _ chain: Chain, _ plan: ChainPlan, _ conversion: OutputConversion
    ) -> OutputRows {
        let (height, frames) = (plan.output.height, header.frames)
        let extent = PixelRect(x: plan.output.x, y: 0, width: plan.output.width, height: height * frames)
        var shown = -1
        var render: (Int) throws -> AnyRaster = { _ in preconditionFailure("the first row asks for the first frame") }
        return OutputRows(extent: extent, conversion: conversion) { row in
            let frame = row / height
            while shown < frame {
                guard let picture = try pipe.pull() else { preconditionFailure("a decoder gives all of its frames") }
                shown += 1
                render = tiles(of: picture, chain.rendering(frame: shown), plan)
            }
            let band = try render(plan.output.y + row % height)
            // Damage in the last rows is detected before the last of them is given out.
            if frame == frames - 1, band.rect.bottom == plan.output.bottom { while try pipe.pull() != nil {} }
            return band.translated(x: 0, y: frame * height - plan.output.y)
        }
    }
}

extension ImageDecoder {
    /// The whole picture in memory.
    func wholePicture() throws -> AnyRaster {
        var picture = AnyRaster(zeroed: header.rect, layout: header.layout, format: header.sampleFormat)
        try readRows(bandHeight: BandReceipt.height) { picture.paste($0) }
        return picture
    }
}
