import Catalogs
import Geometry
package import JobModel
package import WorkerProtocol

/// Decides between one task for the whole frame and a canvas with tiles. Both give the same pixels.
package struct ShardPolicy: Hashable, Sendable {
    package let mode: ShardMode
    package let workers: Int
    /// The number of frames of the whole job.
    package let frames: Int
    /// The bytes that one worker may hold of a decoded frame.
    package let frameMemory: Int

    package init(mode: ShardMode, workers: Int, frames: Int, frameMemory: Int) {
        self.mode = mode
        self.workers = workers
        self.frames = frames
        self.frameMemory = frameMemory
    }

    /// A small picture that takes at most so many seconds is rendered by the task that probes it. Nil if none is.
    ///
    /// If there are fewer frames than workers, tiles might be faster, but not if the frame takes hardly longer than a few tasks.
    var mostSecondsInOneTask: Double? {
        switch mode {
        case .tile: nil
        case .frame: 0.5
        case .auto: frames >= workers ? 0.5 : 0.02
        }
    }

    /// The choice, and its reason as `plan` prints it.
    package struct Decision: Hashable, Sendable {
        package let tiled: Bool
        package let reason: String
    }

    package func decision(for probe: ProbeReceipt) -> Decision {
        if probe.source.frames > 1 { return Decision(tiled: false, reason: "an animation is rendered frame by frame") }
        if probe.outputs.count > 1 {
            return Decision(tiled: false, reason: "decoded once for \(probe.outputs.count) outputs")
        }
        let frames = probe.outputs[0].frames
        if frames > 1, mode != .frame {
            return Decision(tiled: true, reason: "one task for each of the animation's \(frames) frames")
        }
        switch mode {
        case .frame: return Decision(tiled: false, reason: "shard: frame")
        case .tile: return Decision(tiled: true, reason: "shard: tile")
        case .auto: return automatic(probe)
        }
    }

    /// Memory decides first. Then enough frames for all workers decide. Then time decides, see ``ShardCost``.
    private func automatic(_ probe: ProbeReceipt) -> Decision {
        if !probe.passage.streams, probe.passage.bytes > frameMemory {
            return Decision(
                tiled: true,
                reason: "the frame takes \(probe.passage.bytes / 1_000_000) MB, a worker may take "
                    + "\(frameMemory / 1_000_000) MB")
        }
        if probe.isIdentity { return Decision(tiled: false, reason: "no filter changes a pixel") }
        if frames >= workers { return Decision(tiled: false, reason: "enough frames for all workers") }
        let cost = ShardCost(probe, coresPerFrame: Double(workers) / Double(max(1, frames)))
        let (whole, tiles) = (Self.seconds(cost.asFrame), Self.seconds(cost.asTiles))
        return cost.asTiles < cost.asFrame
            ? Decision(tiled: true, reason: "tiles take about \(tiles) s, the frame \(whole) s")
            : Decision(tiled: false, reason: "the frame takes about \(whole) s, tiles \(tiles) s")
    }

    private static func seconds(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
    }
}

/// The time that a frame takes as a whole and in tiles, if there are more cores than frames.
///
/// A whole frame that streams takes as long as the slowest of decoding, chain and encoding, or as all of them on its
/// cores. A frame that is held is decoded first, and filtered row by row while it is encoded. In tiles, decoding and
/// encoding are single tasks and the chain is spread over the cores. Decoded samples pass through files four times,
/// because a canvas and the tiles are written and read.
package struct ShardCost: Hashable, Sendable {
    package let asFrame: Double
    package let asTiles: Double

    /// Bytes a second through files in the page cache.
    private static let throughput = 1.0e9
    /// The time that a task takes to reach a worker and return, with its file.
    private static let secondsPerTask = 0.003

    package init(_ probe: ProbeReceipt, coresPerFrame cores: Double) {
        let cost = probe.cost
        asFrame =
            probe.passage.streams
            ? max(cost.decode, cost.chain, cost.encode, cost.total / min(cores, 3)) : cost.total
        let source = probe.source
        let input = Double(source.rect.area) * Double(source.layout.channels * source.format.bytes)
        let output = Double(probe.extent.area) * Double(probe.layout.channels * source.format.bytes)
        let chain = cost.chain * probe.readAmplification / min(cores, Double(max(1, probe.grid.count)))
        asTiles =
            cost.decode + chain + cost.encode + (2 * input + 2 * output) / Self.throughput
            + Self.secondsPerTask * Double(probe.grid.count + 2)
    }
}
