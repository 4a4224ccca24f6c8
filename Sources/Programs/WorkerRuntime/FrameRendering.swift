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
    let passage: RenderRoute
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
    ///
    /// - Parameter conversion: From a chain's plan to the samples of a branch's file.
    func callAsFunction<Value>(
        conversion: @escaping (OpenedInput.Branch, ChainPlan) throws -> OutputConversion,
        _ body: @escaping (OpenedInput.Branch, OutputRows, OutputConversion) throws -> Value
    ) throws -> [Value] {
        if header.frames > 1 { return try animated(conversion, body) }
        if let trunk = passage.trunk { return try streamed(trunk, conversion, body) }
        let picture = try input.decoder.wholePicture()
        return try branches.map { index in
            let branch = input.branches[index]
            let plan = branch.whole.plan(input: picture.rect, layout: picture.layout)
            let conversion = try conversion(branch, plan)
            return try body(branch, held(picture, branch.whole, plan, conversion), conversion)
        }
    }

    private func streamed<Value>(
        _ trunk: StreamPlan, _ conversion: @escaping (OpenedInput.Branch, ChainPlan) throws -> OutputConversion,
        _ body: @escaping (OpenedInput.Branch, OutputRows, OutputConversion) throws -> Value
    ) throws -> [Value] {
        func shifted(_ stream: StreamPlan?) -> StreamPlan? { isShifted ? stream?.withOtherBorders : stream }
        let frame = StreamedFrame(
            input.decoder, input.chain, passage.chainPlan, shifted(trunk) ?? trunk,
            branches: branches.map { index in
                StreamedFrame.Branch(
                    chain: input.branches[index].own, plan: passage.branchPlans[index],
                    stream: shifted(passage.branches[index]))
            })
        defer { frame.stop() }
        return try BandPipe.together(branches.count) { number in
            let branch = input.branches[branches[number]]
            let plan = passage.branchPlans[branches[number]]
            let conversion = try conversion(branch, plan)
            guard passage.branches[branches[number]] != nil else {
                let picture = try collect(frame, number)
                return try body(branch, held(picture, branch.own, plan, conversion), conversion)
            }
            let rows = OutputRows(extent: plan.output, conversion: conversion) { _ in try frame.nextBand(number) }
            return try body(branch, rows, conversion)
        } abandon: {
            cancellation.cancel()
            frame.close()
        }
    }

    /// The whole result of the common chain, for a branch that cannot begin before.
    private func collect(_ frame: StreamedFrame, _ branch: Int) throws -> AnyRaster {
        let plan = passage.chainPlan
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
        let tiles = TileRow(chain: chain, source: picture)
        return { row in
            try tiles.render(grid.rowOfTiles(holding: row), over: isShifted ? grid.shiftedByHalf : grid)
        }
    }
}

extension FrameRendering {
    /// Decodes the frames of an animation one after the other. Every branch renders each of them.
    private func animated<Value>(
        _ conversion: @escaping (OpenedInput.Branch, ChainPlan) throws -> OutputConversion,
        _ body: @escaping (OpenedInput.Branch, OutputRows, OutputConversion) throws -> Value
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
            let conversion = try conversion(branch, plan)
            return try body(branch, film(pipes[number], branch.whole, plan, conversion), conversion)
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
