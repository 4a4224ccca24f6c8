import Catalogs
import Geometry
import ImageFiles
import Rendering
import WorkerProtocol

/// The route of a whole frame through a worker.
struct RenderRoute {
    /// The bands that the common chain renders while rows come in. Nil if the decoded picture is held.
    let trunk: StreamPlan?
    /// For each branch the bands that it renders of the common chain's result. Nil if that result is held.
    let branches: [StreamPlan?]
    let chainPlan: ChainPlan
    /// For each branch the plan from the common chain's result to the output.
    let branchPlans: [ChainPlan]
    /// The facts that the coordinator plans with.
    let facts: FramePassage

    /// - Parameters:
    ///   - memoryBudget: The bytes for the rows of one frame that are held at once, and for `pictures`.
    ///   - pictures: The bytes of the pictures of its filters.
    init(_ input: OpenedInput, memoryBudget: Int, pictures: Int) {
        let header = input.decoder.header
        let samples = header.sampleFormat.bytes
        let plan = input.chain.plan(input: header.rect, layout: header.layout)
        chainPlan = plan
        branchPlans = input.branches.map { $0.own.plan(input: plan.output, layout: plan.outputLayout) }
        var budget = memoryBudget - pictures
        func stream(_ chain: Chain, _ plan: ChainPlan) -> StreamPlan? {
            let stream = StreamPlan(chain, plan, bytesPerSample: samples, memoryBudget: budget)
            budget -= stream?.bytes ?? 0
            return stream
        }
        let isAnimation = header.frames > 1
        let trunk = isAnimation ? nil : stream(input.chain, plan)
        self.trunk = trunk
        branches =
            trunk == nil
            ? input.branches.map { _ in nil }
            : zip(input.branches, branchPlans).map { $0.own.isIdentity ? trunk : stream($0.own, $1) }
        let decoded = header.shape.byteCount
        let between = plan.output.area * plan.outputLayout.channels * samples
        let held = trunk == nil ? (isAnimation ? 3 : 1) * decoded : branches.count { $0 == nil } * between
        facts = FramePassage(
            heldBecause: Self.reason(input, plan, branchPlans, trunk, branches),
            bytes: memoryBudget - budget + held + Self.heldByDecoder(header)
                + zip(input.branches, branchPlans).reduce(0) { $0 + Self.heldByEncoder($1.0, $1.1, samples) })
    }

    private static func reason(
        _ input: OpenedInput, _ plan: ChainPlan, _ branchPlans: [ChainPlan], _ trunk: StreamPlan?,
        _ branches: [StreamPlan?]
    ) -> String? {
        let header = input.decoder.header
        if header.frames > 1 { return "an animation, frame by frame" }
        if input.branches.contains(where: { $0.whole.frames > 1 }) { return "an animation, frame by frame" }
        if !plan.isRowLocal || !branchPlans.allSatisfy(\.isRowLocal) { return "its first rows need its last ones" }
        if trunk == nil || branches.contains(where: { $0 == nil }) {
            return "the rows that its filters read at once exceed the memory budget"
        }
        if header.isHeldWhole { return "its file is decoded as a whole" }
        return header.streams ? nil : "its orientation (tag \(header.orientation)) turns it"
    }

    /// Formats that are decoded as a whole are also encoded as a whole.
    private static func heldByEncoder(_ branch: OpenedInput.Branch, _ plan: ChainPlan, _ samples: Int) -> Int {
        guard ImageFormats.named(branch.spec.format)?.isDecodedWhole ?? false else { return 0 }
        return branch.inputFrames * plan.output.area * plan.outputLayout.channels * samples
    }

    /// Whether it is turned in memory, or in a scratch file because it is large.
    private static func heldByDecoder(_ header: ImageHeader) -> Int {
        if header.isHeldWhole { return header.shape.byteCount }
        return header.streams ? 0 : min(header.shape.byteCount, DecodeLimits.heldBytes)
    }
}
