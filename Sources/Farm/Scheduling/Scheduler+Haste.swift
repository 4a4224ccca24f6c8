import Geometry
import JobModel
import WorkerProtocol

/// Results that come sooner than they can have been made.
extension Scheduler {
    /// Before a result is accepted: its frame is not published without an audit if it came too soon.
    mutating func flagHaste(_ lease: Lease, at now: Timestamp) {
        let took = now.elapsed - lease.start.elapsed
        guard took < SpeedFloor.longestTime, let megapixels = leastWritten(by: lease),
            let shortest = SpeedFloor.shortestTime(megapixels: megapixels), took < shortest
        else { return }
        directives.append(.flag(lease, ImplausibleSpeed(megapixels: megapixels, took: took)))
        frames[lease.task.frame]?.renderers.insert(lease.worker)
        if case .canvas = lease.task.kind {
            frames[lease.task.frame]?.doubt = .canvas
        } else if frames[lease.task.frame]?.doubt == nil {
            frames[lease.task.frame]?.doubt = .pixels
        }
    }

    /// Megapixels that one thread has to write for a task. What is read may be less than a picture (a crop, a thumbnail),
    /// and several outputs are written at once; so the largest output alone counts.
    private func leastWritten(by lease: Lease) -> Double? {
        guard let frame = frames[lease.task.frame], let probe = frame.probe else { return nil }
        switch lease.task.kind {
        case .frame:
            let wanted = zip(probe.outputs, frame.outputPaths ?? []).filter { $0.1 != nil }
            return wanted.map { Double($0.0.extent.area * $0.0.frames) / 1e6 }.max()
        case .canvas: return probe.source.megapixels
        case .tile(let index): return Double(probe.grid[index].area) / 1e6
        case .stitch: return Double(probe.extent.area) / 1e6
        case .compare, .probe, .audit, .check: return nil
        }
    }
}
