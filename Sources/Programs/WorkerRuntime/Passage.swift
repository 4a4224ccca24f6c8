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
        var stream: StreamPlan?
        var heldBecause: String?
        if !header.streams {
            heldBecause = "its orientation (tag \(header.orientation)) turns it"
        } else if !plan.isRowLocal {
            heldBecause = "its first rows need its last ones"
        } else if let bands = StreamPlan(
            chain, plan, bytesPerSample: header.sampleFormat.bytes, memoryBudget: memoryBudget)
        {
            stream = bands
            if header.isHeldWhole { heldBecause = "its file is decoded as a whole" }
        } else {
            heldBecause = "the rows that its filters read at once exceed the memory budget"
        }
        self.stream = stream
        let whole = heldBecause == nil ? 0 : header.shape.byteCount
        facts = FramePassage(heldBecause: heldBecause, bytes: whole + (stream?.bytes ?? 0))
    }
}
