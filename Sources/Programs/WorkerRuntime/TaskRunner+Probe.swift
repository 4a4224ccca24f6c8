import Catalogs
import Digests
import Filters
import FoundationEssentials
import Geometry
import ImageFiles
import JobModel
import Kernels
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// More tiles would make messages of many megabytes, so the message asks for larger tiles.
    private static let mostTiles = 65_536
    /// Each page may become a frame of the run.
    private static let mostPages = 65_536

    func probe(_ task: ProbeTask) throws -> ProbeReceipt {
        try reading(task.input) { input, source in
            var task = task
            task.input = input
            return try receipt(of: task, try open(task.input, task.chain, for: task.outputs), source)
        }
    }

    /// - Parameters:
    ///   - inputs: The task's input, opened for its outputs.
    ///   - source: The same file.
    func receipt(of task: ProbeTask, _ inputs: [OpenedInput], _ source: SourceFile) throws -> ProbeReceipt {
        let branches = inputs.flatMap { input in input.branches.map { (input: input, branch: $0) } }
            .sorted { $0.branch.index < $1.branch.index }
        let plans = branches.map { input, branch in
            branch.whole.plan(input: input.decoder.header.rect, layout: input.decoder.header.layout)
        }
        for ((_, branch), plan) in zip(branches, plans) { try refuse(plan, branch, task) }
        let digests = try contentDigests(task, branches.map(\.input.shrinking))
        let (first, plan) = (branches[0], plans[0])
        let header = first.input.decoder.header
        let pages = first.branch.whole.timeline?.count ?? header.pages
        guard pages <= Self.mostPages else {
            throw TaskFailure(
                .limit, "\(task.input.path): has \(pages) pages or frames; at most \(Self.mostPages) are read")
        }
        let tiles = try tiles(first.branch.whole, plan, header, task)
        let sources = tiles.grid.tiles.map { first.branch.whole.regionOfInterest(for: $0, in: plan) }
        for (_, branch) in branches { try branch.whole.checkGeometry() }
        var receipt = ProbeReceipt(
            source: header.facts, pages: pages,
            outputs: zip(branches, plans).enumerated().map { index, step in
                OutputGeometry(
                    extent: step.1.output.first(of: step.0.branch.whole.frames), frames: step.0.branch.frames,
                    contentDigest: digests?[index])
            },
            shrinking: first.input.shrinking, layout: plan.outputLayout, halo: plan.halo, grid: tiles.grid,
            tileSources: sources,
            readAmplification: tiles.readAmplification, isIdentity: first.branch.whole.isIdentity,
            passage: passage(inputs, task), cost: try cost(inputs, zip(branches.map(\.branch), plans)))
        if !header.losses.isEmpty { receipt.losses = header.losses }
        receipt.stamp = source.trustedStamp
        return receipt
    }

    private func tiles(_ chain: Chain, _ plan: ChainPlan, _ header: ImageHeader, _ task: ProbeTask) throws -> TilePlan {
        let tiles = TilePlan(
            task.tile, chain: chain, plan: plan, bytesPerSample: header.sampleFormat.bytes,
            memoryBudget: task.tileMemory)
        guard tiles.grid.count <= Self.mostTiles else {
            // The tile size is not part of the recipe: another run may use another 'tile'.
            throw TaskFailure(
                .limit,
                "\(task.input.path): 'tile' cuts it into \(tiles.grid.count) tiles; at most \(Self.mostTiles) are "
                    + "rendered, so take a larger 'tile' or 'tile: auto'")
        }
        return tiles
    }

    /// Different ways of decoding come one after the other.
    private func passage(_ inputs: [OpenedInput], _ task: ProbeTask) -> FramePassage {
        let facts = inputs.map { rendering($0, [], frameMemory: task.frameMemory, tileMemory: task.tileMemory).facts }
        return FramePassage(
            heldBecause: facts.lazy.compactMap(\.heldBecause).first, bytes: facts.map(\.bytes).max() ?? 0)
    }

    private func cost(
        _ inputs: [OpenedInput], _ outputs: some Sequence<(OpenedInput.Branch, ChainPlan)>
    ) throws -> FrameCost {
        let header = inputs[0].decoder.header
        let samples = header.sampleFormat
        let decode = try inputs.reduce(0) { sum, input in
            let header = input.decoder.header
            return sum + Double(header.frames)
                * (try ImageFormats.inTask(header.formatName).cost.decoding(header.shape))
        }
        var (chain, encode) = (0.0, 0.0)
        for (branch, plan) in outputs {
            chain += Double(branch.inputFrames) * branch.whole.cost(plan, samples)
            encode +=
                Double(branch.inputFrames)
                * (try branch.spec.imageFormat.cost.encoding(plan.output, plan.outputLayout, samples))
        }
        return FrameCost(decode: decode, chain: chain, encode: encode)
    }

    /// Refuses an output that its format cannot hold before its pixels are rendered.
    private func refuse(_ plan: ChainPlan, _ branch: OpenedInput.Branch, _ task: ProbeTask) throws {
        if let reason = branch.whole.emptiness(plan) { throw TaskFailure(.value, "\(task.input.path): \(reason)") }
        for stage in plan.stages { try refuse(stage, task) }
        if let misfit = branch.whole.misfit(plan) { throw TaskFailure(misfit, in: task.input.path) }
        let shown = plan.output.first(of: branch.whole.frames)
        guard shown.height * branch.frames <= 10_000_000 else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): \(branch.frames) frames of \(shown.height) rows are more than the 10000000 rows "
                    + "that an animation may have")
        }
        let format = try branch.spec.imageFormat
        let depth = branch.spec.save.depth
        if let samples = depth.samples, !format.descriptor.sampleFormats.contains(samples) {
            let known = format.descriptor.depths.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw TaskFailure(
                .value,
                "\(task.input.path): \(format.title) has no samples for 'depth: \(depth.rawValue)'; it has \(known), and TIFF "
                    + "has all")
        }
        guard branch.spec.save.texts == nil || format.descriptor.holdsTexts else {
            throw TaskFailure(
                .value, "\(task.input.path): \(format.title) has no place for the texts of 'set'; take another format")
        }
        let (width, height) = (shown.width, shown.height)
        guard max(width, height) <= format.descriptor.largestSide else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): \(width) × \(height) pixels are more than \(format.title) can hold "
                    + "(\(format.descriptor.largestSide) on a side); TIFF holds them")
        }
    }

    /// Refuses filters whose output is larger than pictures may be.
    private func refuse(_ stage: ChainPlan.Stage, _ task: ProbeTask) throws {
        let output = stage.output
        guard max(output.width, output.height) <= 10_000_000, output.area <= task.input.maxPixels else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): a filter makes \(output.width) × \(output.height) pixels of it; 'max_pixels' allows "
                    + "\(task.input.maxPixels), and no side may exceed 10000000")
        }
    }

    /// One for each output. Empty unless they were asked for.
    private func contentDigests(_ task: ProbeTask, _ shrinkings: [Shrinking?]) throws -> [Digest]? {
        guard task.digestsContent else { return nil }
        struct Recipe: Encodable {
            let chain: [FilterInvocation]
            let color: ColorPolicy
            let pages: PageChoice
            /// The shrinking depends on other outputs, too.
            let shrinking: Shrinking?
            let output: OutputSpec
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let content = Array("\(try Digest(ofFileAt: task.input.path, openedBy: opener))".utf8)
        return try zip(task.outputs, shrinkings).map { output, shrinking in
            // The digest depends on the bytes of pictures that filters read, not on their paths.
            let bare = { (picture: PictureReference) in PictureReference(path: "", digest: picture.digest) }
            var stream = DigestStream()
            stream.update(content.span.bytes)
            let recipe = try encoder.encode(
                Recipe(
                    chain: task.chain.map { $0.mappingPictures(bare) }, color: task.input.color,
                    pages: task.input.pages, shrinking: shrinking,
                    output: output.mappingPictures(bare)))
            stream.update(Array(recipe).span.bytes)
            return stream.digest()
        }
    }
}

extension TaskFailure {
    init(_ misfit: Chain.Misfit, in path: String) {
        let (filter, input) = (misfit.filter, misfit.input)
        let size = "\(input.width) × \(input.height) pixels"
        let reason =
            switch misfit.cause {
            case .regionOutside:
                "the 'within' of '\(filter)' lies outside of the picture's \(size)"
            case .otherShape(let own):
                "the regions of '\(filter)' are of a picture of \(own.width) × \(own.height) pixels, and this one has \(size); "
                    + "find its regions again"
            case .blackMask:
                "the 'mask' of '\(filter)' is black all over the picture's \(size), or lies outside; what is to be changed is white"
            case .blackRegion:
                "the 'mask' of '\(filter)' is black all over a region of its 'within'; what is to be changed is white"
            }
        self.init(.value, "\(path): \(reason)")
    }
}
