import Catalogs
import Geometry
package import JobModel
package import WorkerProtocol

/// Decides between one task for the whole frame and a canvas with tiles. Both give the same pixels.
package struct ShardPolicy: Hashable, Sendable {
    package let mode: ShardMode
    package let workers: Int
    /// Frames of the whole job.
    package let frames: Int
    /// What one worker may hold of a decoded frame, in bytes.
    package let frameMemory: Int

    package init(mode: ShardMode, workers: Int, frames: Int, frameMemory: Int) {
        self.mode = mode
        self.workers = workers
        self.frames = frames
        self.frameMemory = frameMemory
    }

    /// The choice, and its reason as `plan` prints it.
    package struct Decision: Hashable, Sendable {
        package let tiled: Bool
        package let reason: String
    }

    /// Smaller frames are rendered sooner than they are cut up and stitched.
    package static let leastTiledPixels = 8_000_000

    package func decision(for probe: ProbeReceipt) -> Decision {
        switch mode {
        case .frame: return Decision(tiled: false, reason: "shard: frame")
        case .tile: return Decision(tiled: true, reason: "shard: tile")
        case .auto: return automatic(probe)
        }
    }

    private func automatic(_ probe: ProbeReceipt) -> Decision {
        let pixels = max(probe.source.rect.area, probe.extent.area)
        let decoded = pixels * max(probe.source.layout.channels, probe.layout.channels) * probe.source.format.bytes
        if probe.isIdentity, decoded <= frameMemory {
            return Decision(tiled: false, reason: "no filter changes a pixel")
        }
        if decoded > frameMemory {
            return Decision(
                tiled: true,
                reason: "the frame takes \(decoded / 1_000_000) MB, a worker may take "
                    + "\(frameMemory / 1_000_000) MB")
        }
        if frames < workers, probe.grid.count > 1, probe.extent.area >= Self.leastTiledPixels {
            return Decision(tiled: true, reason: "fewer frames than workers, and a large one")
        }
        return Decision(tiled: false, reason: frames < workers ? "a small frame" : "enough frames for all workers")
    }
}
