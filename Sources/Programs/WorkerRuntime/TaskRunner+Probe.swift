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
            try refuseClip(task.input, for: task.outputs)
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
        for ((input, branch), plan) in zip(branches, plans) {
            try refuse(plan, branch, input.decoder.header.sampleFormat, input.decoder.clip, task)
        }
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
        if !first.input.measured.isEmpty { receipt.measured = first.input.measured }
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
    private func refuse(
        _ plan: ChainPlan, _ branch: OpenedInput.Branch, _ samples: SampleFormat, _ clip: Clip?, _ task: ProbeTask
    ) throws {
        if let reason = branch.whole.objection(plan) { throw TaskFailure(.value, "\(task.input.path): \(reason)") }
        for stage in plan.stages { try refuse(stage, task) }
        try refuse(plan, branch.whole, samples, task)
        if let misfit = branch.whole.misfit(plan) { throw TaskFailure(misfit, in: task.input.path) }
        let shown = plan.output.first(of: branch.whole.frames)
        guard shown.height * branch.frames <= 10_000_000 else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): \(branch.frames) frames of \(shown.height) rows are more than the 10000000 rows "
                    + "that an animation may have")
        }
        let format = try branch.spec.imageFormat
        try refuse(clip, format, branch, task)
        guard format.video == nil || branch.frames > 1 else {
            throw TaskFailure(
                .value,
                "\(task.input.path): is one picture, and \(format.title) holds frames; write 'animate', or take a format of pictures"
            )
        }
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

    /// Refuses a clip where no output is a video, before ffmpeg decodes it to count its frames.
    func refuseClip(_ input: InputSpec, for outputs: [OutputSpec]) throws {
        let formats = outputs.compactMap { ImageFormats.named($0.format) }
        guard toolbox.video != nil, let first = formats.first, formats.allSatisfy({ $0.video == nil }),
            // A file that cannot be read is reported by whoever opens it next.
            (try? ImageFormats.isClip(input.path, openedBy: opener)) ?? false
        else { return }
        throw TaskFailure(clip: input.path, as: first)
    }

    /// Refuses a video that would lose the sound of a clip, and other formats for clips.
    private func refuse(
        _ clip: Clip?, _ format: any ImageFormat, _ branch: OpenedInput.Branch, _ task: ProbeTask
    ) throws {
        guard let clip else { return }
        guard let video = format.video else { throw TaskFailure(clip: task.input.path, as: format) }
        // 'animate' takes the first frame, without sound.
        guard branch.inputFrames > 1, let objection = clip.soundObjection(to: video, save: branch.spec.save) else {
            return
        }
        throw TaskFailure(.value, "\(task.input.path): \(objection)")
    }

    /// Refuses pixels that a filter cannot work on, and a picture that is too large for a filter that needs all of it at once.
    private func refuse(_ plan: ChainPlan, _ chain: Chain, _ samples: SampleFormat, _ task: ProbeTask) throws {
        if let objection = chain.objection(plan, samples) {
            throw TaskFailure(.value, "\(task.input.path): \(objection)")
        }
        let bytes = chain.wholeBytes(plan, samples)
        guard bytes <= task.frameMemory else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): 'run' needs the whole picture at once, which takes \(bytes / 1_000_000) MB; a worker may "
                    + "take \(task.frameMemory / 1_000_000) MB; raise 'memory', or give fewer --workers")
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
            let dpi: Int?
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
                    pages: task.input.pages, dpi: task.input.dpi, shrinking: shrinking,
                    output: output.mappingPictures(bare)))
            stream.update(Array(recipe).span.bytes)
            return stream.digest()
        }
    }
}

extension TaskFailure {
    /// A clip for an output in a format that is no video.
    init(clip path: String, as format: any ImageFormat) {
        self.init(
            .value,
            "\(path): is a clip, and \(format.title) is no video; take .mp4 or .webm, or take pictures out of it with ffmpeg first"
        )
    }

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
            case .maskOutside:
                "the 'mask' of '\(filter)' lies outside of the picture's \(size)"
            case .turnedMask(let own):
                "the 'mask' of '\(filter)' has \(own.width) × \(own.height) pixels, and the picture \(size); turn the mask"
            case .blackRegion:
                "the 'mask' of '\(filter)' is black all over a region of its 'within'; what is to be changed is white"
            }
        self.init(.value, "\(path): \(reason)")
    }
}
