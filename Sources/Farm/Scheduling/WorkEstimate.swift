import Catalogs
import Geometry
package import WorkerProtocol

/// The work of a job's shards, estimated from some of its pictures. It allows choosing the number of shards before the
/// job begins.
package struct WorkEstimate: Hashable, Sendable {
    /// Seconds of one core's time for all frames.
    package let seconds: Double
    /// The longest task, in seconds.
    package let longestTask: Double
    /// The number of tasks. More shards than tasks would be empty.
    package let tasks: Int
    /// The largest number of bytes that a worker holds of a frame.
    package let frameBytes: Int

    /// - Parameters:
    ///   - probes: The probes of some frames.
    ///   - frames: The number of all frames.
    package init(of probes: [ProbeReceipt], frames: Int, policy: ShardPolicy) {
        let works = probes.map { Work($0, tiled: policy.decision(for: $0).tiled) }
        let scale = Double(frames) / Double(max(1, works.count))
        seconds = works.reduce(0) { $0 + $1.seconds } * scale
        longestTask = works.map { $0.seconds / Double($0.tasks) }.max() ?? 0
        let sampled = Double(works.reduce(0) { $0 + $1.tasks }) * scale
        tasks = max(1, frames, sampled < 1e15 ? Int(sampled.rounded()) : .max)
        frameBytes = works.map(\.bytes).max() ?? 0
    }

    /// The number of shards that take `seconds` each.
    ///
    /// - Parameter cores: The cores of a machine that does a shard.
    package func shards(of seconds: Double, cores: Int, most: Int) -> Int {
        let count = (self.seconds / (seconds * Double(cores))).rounded(.up)
        return max(1, min(most, tasks, count < Double(most) ? Int(count) : most))
    }

    /// The work of shards for a frame: the whole frame, or its tiles. The canvas is filled before, and stitched after
    /// them.
    private struct Work {
        let seconds: Double
        let tasks: Int
        let bytes: Int

        init(_ probe: ProbeReceipt, tiled: Bool) {
            tasks = tiled ? max(1, probe.grid.count, probe.outputs.map(\.frames).max() ?? 1) : 1
            let work = tiled ? probe.cost.chain * probe.readAmplification : probe.cost.total
            seconds = TaskEstimate.headerRead * Double(tasks) + work
            bytes = tiled ? 0 : probe.passage.bytes
        }
    }
}

/// Estimates of one core's time for tasks, from the cost that a probe has estimated. For engines that group tasks: an
/// error of some tens of percent only makes a shard shorter or longer.
enum TaskEstimate {
    /// The time for opening a file and reading its header.
    static let headerRead = 0.05
    /// Samples a second that pass through a file between two tasks.
    private static let throughput = 5.0e8

    /// - Parameter probe: Nil before the picture was probed.
    static func seconds(of kind: TaskKind, _ probe: ProbeReceipt?) -> Double {
        guard let probe else { return headerRead }
        switch kind {
        case .compare, .probe: return headerRead
        case .frame: return headerRead + probe.cost.total
        case .canvas: return headerRead + probe.cost.decode + probe.samplesRead / throughput
        case .tile(let index):
            return headerRead + probe.cost.chain * probe.share(ofTile: index)
        case .stitch: return headerRead + probe.cost.encode + probe.samplesWritten / throughput
        // A part of the picture is rendered, but all of it is decoded.
        case .audit: return headerRead + probe.cost.decode + probe.cost.chain / 4
        case .check: return headerRead + probe.cost.encode
        }
    }
}

extension ProbeReceipt {
    fileprivate var samplesRead: Double { Double(source.rect.area) * Double(source.layout.channels) }
    fileprivate var samplesWritten: Double { Double(extent.area) * Double(layout.channels) }

    /// The share of the picture's pixels that a tile reads.
    fileprivate func share(ofTile index: Int) -> Double {
        guard tileSources.indices.contains(index) else { return 0 }
        return tileSources[index].reduce(0.0) { $0 + Double($1.area) } / Double(max(1, source.rect.area))
    }
}
