import Catalogs
import Geometry
import ImageFiles
import Rendering
import WorkerProtocol

/// How a whole frame goes through a worker.
struct Passage {
    /// The bands that the chain renders while rows come in; nil when it starts with the whole picture.
    let stream: StreamPlan?
    /// What the coordinator plans with.
    let facts: FramePassage

    /// - Parameter memoryBudget: for the rows of one frame that are held at once, in bytes.
    init(_ header: ImageHeader, _ chain: Chain, _ plan: ChainPlan, memoryBudget: Int) {
        let stream = StreamPlan(chain, plan, bytesPerSample: header.sampleFormat.bytes, memoryBudget: memoryBudget)
        self.stream = stream
        let whole = header.shape.byteCount
        let bands = stream?.bytes ?? 0
        if !plan.isRowLocal {
            facts = FramePassage(heldBecause: "its first rows need its last ones", bytes: whole)
        } else if stream == nil {
            facts = FramePassage(
                heldBecause: "the rows that its filters read at once exceed the memory budget", bytes: whole)
        } else if header.isHeldWhole {
            facts = FramePassage(heldBecause: "its file is decoded as a whole", bytes: whole + bands)
        } else if !header.streams {
            // Turned in memory, or in a scratch file when it is large.
            facts = FramePassage(
                heldBecause: "its orientation (tag \(header.orientation)) turns it",
                bytes: min(whole, DecodeLimits.heldBytes) + bands)
        } else {
            facts = FramePassage(heldBecause: nil, bytes: bands)
        }
    }
}
