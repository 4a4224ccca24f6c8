import Coordination
import Synchronization

/// Keeps how each frame ended, for reports, and tells the next observer.
final class FrameCollector: RunObserver {
    private let next: any RunObserver
    private let kept = Mutex<[FrameReport]>([])

    init(_ next: any RunObserver) { self.next = next }

    /// In the order of their ends.
    var reports: [FrameReport] { kept.withLock { $0 } }

    var isBehind: Bool { next.isBehind }

    func began(frames: Int) { next.began(frames: frames) }
    func progressed(_ progress: RunProgress) { next.progressed(progress) }

    func concluded(_ report: FrameReport) {
        kept.withLock { $0.append(report) }
        next.concluded(report)
    }
}
