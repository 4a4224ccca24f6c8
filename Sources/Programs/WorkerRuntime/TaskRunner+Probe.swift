import Catalogs
import Digests
import FoundationEssentials
import Geometry
import ImageFiles
import JobModel
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// More tiles than this would make messages of many megabytes; larger tiles are asked for instead.
    private static let mostTiles = 65_536

    func probe(_ task: ProbeTask) throws -> ProbeReceipt {
        let input = try open(task.input, task.chain, for: task.output)
        let (header, chain) = (input.decoder.header, input.chain)
        let plan = chain.plan(input: header.rect, layout: header.layout)
        try refuse(plan, task)
        let tiles = TilePlan(
            task.tile, plan: plan, bytesPerSample: header.sampleFormat.bytes, memoryBudget: task.tileMemory)
        guard tiles.grid.count <= Self.mostTiles else {
            throw TaskFailure(
                .data,
                "\(task.input.path): 'tile' cuts it into \(tiles.grid.count) tiles; at most \(Self.mostTiles) are "
                    + "rendered, so take a larger 'tile' or 'tile: auto'")
        }
        return ProbeReceipt(
            source: header.facts, shrinking: input.shrinking, layout: plan.outputLayout, halo: plan.halo,
            grid: tiles.grid,
            tileSources: tiles.grid.tiles.map { chain.regionOfInterest(for: $0, in: plan) },
            readAmplification: tiles.readAmplification, isIdentity: chain.isIdentity,
            passage: Passage(header, chain, plan, memoryBudget: task.frameMemory).facts,
            cost: FrameCost(
                decode: try format(named: header.formatName).cost.decoding(header.shape),
                chain: chain.cost(plan, header.sampleFormat),
                encode: try format(task.output).cost.encoding(plan.output, plan.outputLayout, header.sampleFormat)),
            contentDigest: task.digestsContent ? try contentDigest(task) : nil)
    }

    /// An output that its format cannot hold is refused before its pixels cost anything.
    private func refuse(_ plan: ChainPlan, _ task: ProbeTask) throws {
        for stage in plan.stages { try refuse(stage, task) }
        let format = try format(task.output)
        let (width, height) = (plan.output.width, plan.output.height)
        guard max(width, height) <= format.descriptor.largestSide else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): \(width) × \(height) pixels are more than \(format.title) can hold "
                    + "(\(format.descriptor.largestSide) on a side); TIFF holds them")
        }
    }

    /// What a filter of the chain makes may be neither nothing nor larger than pictures may be.
    private func refuse(_ stage: ChainPlan.Stage, _ task: ProbeTask) throws {
        let (input, output) = (stage.input, stage.output)
        guard !output.isEmpty else {
            throw TaskFailure(
                .data, "\(task.input.path): 'crop' keeps nothing of \(input.width) × \(input.height) pixels")
        }
        guard max(output.width, output.height) <= 10_000_000, output.area <= task.input.maxPixels else {
            throw TaskFailure(
                .limit,
                "\(task.input.path): a filter makes \(output.width) × \(output.height) pixels of it; 'max_pixels' allows "
                    + "\(task.input.maxPixels), and no side may exceed 10000000")
        }
    }

    private func contentDigest(_ task: ProbeTask) throws -> Digest {
        struct Recipe: Encodable {
            let chain: [FilterInvocation]
            let color: ColorPolicy
            let output: OutputSpec
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let recipe = try encoder.encode(Recipe(chain: task.chain, color: task.input.color, output: task.output))
        var stream = DigestStream()
        stream.update(Array("\(try Digest(ofFileAt: task.input.path))".utf8).span.bytes)
        stream.update(Array(recipe).span.bytes)
        return stream.digest()
    }
}
