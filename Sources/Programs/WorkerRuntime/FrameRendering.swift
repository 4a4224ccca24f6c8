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
    /// The indices, in the input, of the branches that are rendered.
    let branches: [Int]
    /// The bytes for tiles of a picture that is held.
    let tileMemory: Int
    /// Cancelled when an output has failed, so that plugins that work on the others can stop.
    let cancellation: TaskCancellation
    /// Whether the borders of bands and tiles are shifted, for a second rendering.
    let isShifted: Bool
    /// The bands that the common chain renders while rows come in. Nil if the decoded picture is held.
    let trunk: StreamPlan?
    /// For each branch the bands that it renders of the common chain's result. Nil if that result is held.
    let branchStreams: [StreamPlan?]
    let chainPlan: ChainPlan
    /// For each branch the plan from the common chain's result to the output.
    let branchPlans: [ChainPlan]
    /// The facts that the coordinator plans with.
    let facts: FramePassage

    /// - Parameters:
    ///   - frameMemory: The bytes for the rows of one frame that are held at once, and for `pictures`.
    ///   - pictures: The bytes of the pictures of its filters.
    init(
        _ input: OpenedInput, _ branches: [Int], frameMemory: Int, pictures: Int, tileMemory: Int,
        cancellation: TaskCancellation, isShifted: Bool
    ) {
        self.input = input
        self.branches = branches
        self.tileMemory = tileMemory
        self.cancellation = cancellation
        self.isShifted = isShifted
        let header = input.decoder.header
        let samples = header.sampleFormat.bytes
        let plan = input.chain.plan(input: header.rect, layout: header.layout)
        chainPlan = plan
        branchPlans = input.branches.map { $0.own.plan(input: plan.output, layout: plan.outputLayout) }
        var budget = frameMemory - pictures
        func stream(_ chain: Chain, _ plan: ChainPlan, from source: StreamPlan? = nil) -> StreamPlan? {
            func stream(remembers: Bool) -> StreamPlan? {
                StreamPlan(
                    chain, plan, format: header.sampleFormat, remembers: remembers, source: source, memoryBudget: budget
                )
            }
            // State that does not fit is not kept.
            let stream =
                (isShifted ? stream(remembers: false) : nil) ?? stream(remembers: true) ?? stream(remembers: false)
            budget -= stream?.bytes ?? 0
            return stream
        }
        let isAnimation = header.frames > 1
        let trunk = isAnimation ? nil : stream(input.chain, plan)
        self.trunk = trunk
        branchStreams =
            trunk == nil
            ? input.branches.map { _ in nil }
            : zip(input.branches, branchPlans).map { $0.own.isIdentity ? trunk : stream($0.own, $1, from: trunk) }
        let decoded = header.shape.byteCount
        let between = plan.output.area * plan.outputLayout.channels * samples
        let held = trunk == nil ? (isAnimation ? 3 : 1) * decoded : branchStreams.count { $0 == nil } * between
        let whole = input.branches.map { branch in
            branch.whole.wholeBytes(
                branch.whole.plan(input: header.rect, layout: header.layout), header.sampleFormat)
        }
        facts = FramePassage(
            heldBecause: Self.reason(input, plan, branchPlans, trunk, branchStreams),
            bytes: frameMemory - budget + held + (whole.max() ?? 0) + Self.heldByDecoder(header)
                + (input.decoder.clip?.decodingMemory ?? 0)
                + zip(input.branches, branchPlans).reduce(0) {
                    $0 + Self.heldByEncoder($1.0, $1.1, header.sampleFormat)
                })
    }

    private var header: ImageHeader { input.decoder.header }

    /// Calls `body` for each branch with its rows. If the rows stream, it does so for all branches at the same time.
    func callAsFunction<Value>(_ body: @escaping (OpenedInput.Branch, OutputRows) throws -> Value) throws -> [Value] {
        if header.frames > 1 { return try animated(body) }
        if let trunk { return try streamed(trunk, body) }
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
        let frame = StreamedFrame(self, trunk)
        defer { frame.stop() }
        return try BandPipe.together(branches.count) { number in
            let branch = input.branches[branches[number]]
            let plan = branchPlans[branches[number]]
            let conversion = try input.conversion(branch, plan)
            guard branchStreams[branches[number]] != nil else {
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
        let plan = chainPlan
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
    private func tiles(of picture: AnyRaster, _ chain: Chain, _ plan: ChainPlan) -> (Int) throws -> AnyRaster {
        let grid = TilePlan(
            .auto, chain: chain, plan: plan, bytesPerSample: picture.format.bytes, memoryBudget: tileMemory
        ).grid
        return { row in
            try chain.render(grid.rowOfTiles(holding: row), over: isShifted ? grid.shiftedByHalf : grid, from: picture)
        }
    }
}

extension FrameRendering {
    private static func reason(
        _ input: OpenedInput, _ plan: ChainPlan, _ branchPlans: [ChainPlan], _ trunk: StreamPlan?,
        _ branches: [StreamPlan?]
    ) -> String? {
        let header = input.decoder.header
        if header.frames > 1 { return "an animation, frame by frame" }
        if input.branches.contains(where: { $0.whole.frames > 1 }) { return "an animation, frame by frame" }
        if input.branches.contains(where: \.whole.needsWhole) { return "another program filters the whole picture" }
        if !plan.isRowLocal || !branchPlans.allSatisfy(\.isRowLocal) { return "its first rows need its last ones" }
        if trunk == nil || branches.contains(where: { $0 == nil }) {
            return "the rows that its filters read at once exceed the memory budget"
        }
        if header.isHeldWhole { return "its file is decoded as a whole" }
        return header.streams ? nil : "its orientation (tag \(header.orientation)) turns it"
    }

    /// Some formats are encoded as a whole. ffmpeg holds dozens of frames.
    private static func heldByEncoder(
        _ branch: OpenedInput.Branch, _ plan: ChainPlan, _ samples: SampleFormat
    ) -> Int {
        // Whoever opens the input refuses an unknown format.
        guard let format = try? branch.spec.imageFormat else { return 0 }
        let shown = plan.output.first(of: branch.whole.frames)
        if let video = format.video { return video.memory(for: shown) }
        let shape = ImageShape(
            width: shown.width, height: shown.height, layout: plan.outputLayout, sampleFormat: samples)
        return format.encoderMemory(for: shape, frames: branch.frames)
    }

    /// Whether it is turned in memory, or in a scratch file because it is large.
    private static func heldByDecoder(_ header: ImageHeader) -> Int {
        if header.isHeldWhole { return header.heldBytes ?? header.shape.byteCount }
        return header.streams ? 0 : min(header.shape.byteCount, DecodeLimits.heldBytes)
    }
}

extension FrameRendering {
    /// Decodes the frames of an animation one after the other. Every branch renders each of them.
    private func animated<Value>(_ body: @escaping (OpenedInput.Branch, OutputRows) throws -> Value) throws -> [Value] {
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

/// A frame on its way through threads. One thread decodes, one runs the common chain and passes its bands to every
/// branch, and one for each branch runs the rest of its chain. Encoders pull the rows.
///
/// A slow branch delays the others, so that all of them together hold few bands.
struct StreamedFrame {
    private let decoded = BandPipe(capacity: StreamPlan.queued)
    /// The common chain's result for each branch.
    private let trunk: [BandPipe]
    /// The result of each branch. It is the same pipe if the branch changes nothing.
    private let ends: [BandPipe]
    private let outputs: [PixelRect]

    /// Starts the threads. ``stop()`` must be called before the decoder is used or released.
    init(_ rendering: FrameRendering, _ stream: StreamPlan) {
        let (input, branches) = (rendering.input, rendering.branches)
        let (decoder, chain, plan) = (input.decoder, input.chain, rendering.chainPlan)
        let format = decoder.header.sampleFormat
        func shifted(_ stream: StreamPlan) -> StreamPlan { rendering.isShifted ? stream.withOtherBorders : stream }
        let stream = shifted(stream)
        let trunk = branches.map { _ in BandPipe(capacity: StreamPlan.queued) }
        self.trunk = trunk
        decoded.start { pipe in
            try decoder.readRows(bandHeight: stream.arrivingRows) { try pipe.push($0) }
        }
        let decoded = decoded
        BandPipe.start(trunk) {
            let bands = chain.stream(
                plan, format: format, bandHeights: stream.bandHeights, remembers: stream.remembers
            ) { try decoded.pull() }
            while let band = try bands() { for pipe in trunk { try pipe.push(band) } }
            // Damage in rows that no filter needs is damage, too.
            while try decoded.pull() != nil {}
        }
        ends = zip(trunk, branches).map { source, branch in
            let (own, plan) = (input.branches[branch].own, rendering.branchPlans[branch])
            guard let stream = rendering.branchStreams[branch].map(shifted), !own.isIdentity else { return source }
            let end = BandPipe(capacity: StreamPlan.queued)
            end.start { pipe in
                let bands = own.stream(
                    plan, format: format, bandHeights: stream.bandHeights, remembers: stream.remembers
                ) { try source.pull() }
                while let band = try bands() { try pipe.push(band) }
                // The other branches wait until this one has taken all bands.
                while try source.pull() != nil {}
            }
            return end
        }
        outputs = branches.map { rendering.branchStreams[$0] == nil ? plan.output : rendering.branchPlans[$0].output }
    }

    /// The next band of a branch. The last one comes only after the file was read to its end, so that damage in its
    /// last rows is detected before an output is complete.
    func nextBand(_ branch: Int) throws -> AnyRaster {
        guard let band = try ends[branch].pull() else { preconditionFailure("a chain renders all of its rows") }
        if band.rect.bottom == outputs[branch].bottom { while try ends[branch].pull() != nil {} }
        return band
    }

    /// Wakes all threads after a failure. Later calls fail.
    func close() {
        for pipe in [decoded] + trunk + ends { pipe.close() }
    }

    /// Ends all threads and waits for them.
    func stop() {
        close()
        for pipe in ends + trunk + [decoded] { pipe.waitForEnd() }
    }
}
