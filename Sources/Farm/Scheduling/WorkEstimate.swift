import Catalogs
import Geometry
package import WorkerProtocol

/// What the shards of a job have to do, by some of its pictures: so that somebody can say how many there shall be before the
/// job is begun.
package struct WorkEstimate: Hashable, Sendable {
    /// Of one core's time, for all frames.
    package let seconds: Double
    /// The longest task, in seconds.
    package let longestTask: Double
    /// More shards than tasks would be empty.
    package let tasks: Int
    /// What a worker holds of a frame at most.
    package let frameBytes: Int

    /// - Parameters:
    ///   - probes: of some frames.
    ///   - frames: how many there are.
    package init(of probes: [ProbeReceipt], frames: Int, policy: ShardPolicy) {
        let works = probes.map { Work($0, tiled: policy.decision(for: $0).tiled) }
        let scale = Double(frames) / Double(max(1, works.count))
        seconds = works.reduce(0) { $0 + $1.seconds } * scale
        longestTask = works.map { $0.seconds / Double($0.tasks) }.max() ?? 0
        let sampled = Double(works.reduce(0) { $0 + $1.tasks }) * scale
        tasks = max(1, frames, sampled < 1e15 ? Int(sampled.rounded()) : .max)
        frameBytes = works.map(\.bytes).max() ?? 0
    }

    /// As many as take `seconds` each.
    ///
    /// - Parameter cores: of a machine that does a shard.
    package func shards(of seconds: Double, cores: Int, most: Int) -> Int {
        let count = (self.seconds / (seconds * Double(cores))).rounded(.up)
        return max(1, min(most, tasks, count < Double(most) ? Int(count) : most))
    }

    /// What shards do of a frame: whole, or its tiles; a canvas is there before them, and stitched it is after them.
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

/// How much of one core's time tasks take, by the cost that a probe has estimated. For engines that gather tasks: an error
/// of some tens of percent costs nothing but a shard that is shorter or longer.
enum TaskEstimate {
    /// Opens a file and reads its header.
    static let headerRead = 0.05
    /// What goes through a file again is read and written at so many samples a second.
    private static let throughput = 5.0e8

    /// - Parameter probe: nil while nobody knows the picture.
    static func seconds(of kind: TaskKind, _ probe: ProbeReceipt?) -> Double {
        guard let probe else { return headerRead }
        switch kind {
        case .compare, .probe: return headerRead
        case .frame: return headerRead + probe.cost.total
        case .canvas: return headerRead + probe.cost.decode + probe.samplesRead / throughput
        case .tile(let index):
            return headerRead + probe.cost.chain * probe.share(ofTile: index)
        case .stitch: return headerRead + probe.cost.encode + probe.samplesWritten / throughput
        // A sample of the picture is rendered, of all of it decoded.
        case .audit: return headerRead + probe.cost.decode + probe.cost.chain / 4
        case .check: return headerRead + probe.cost.encode
        }
    }
}

extension ProbeReceipt {
    fileprivate var samplesRead: Double { Double(source.rect.area) * Double(source.layout.channels) }
    fileprivate var samplesWritten: Double { Double(extent.area) * Double(layout.channels) }

    /// Pixels that a tile reads, of those of the whole picture.
    fileprivate func share(ofTile index: Int) -> Double {
        guard tileSources.indices.contains(index) else { return 0 }
        return tileSources[index].reduce(0.0) { $0 + Double($1.area) } / Double(max(1, source.rect.area))
    }
}
