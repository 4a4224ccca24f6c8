import Catalogs
import Geometry
import WorkerProtocol

/// How much of one core's time tasks take, by the cost that a probe has estimated. For engines that gather tasks: an error
/// of some tens of percent costs nothing but a shard that is shorter or longer.
enum TaskEstimate {
    /// Opens a file and reads its header.
    static let look = 0.05
    /// What goes through a file again is read and written at so many samples a second.
    private static let throughput = 5.0e8

    /// - Parameter probe: nil while nobody knows the picture.
    static func seconds(of kind: TaskKind, _ probe: ProbeReceipt?) -> Double {
        guard let probe else { return look }
        switch kind {
        case .compare, .probe: return look
        case .frame: return look + probe.cost.total
        case .canvas: return look + probe.cost.decode + probe.samplesRead / throughput
        case .tile(let index):
            return look + probe.cost.chain * probe.share(ofTile: index)
        case .stitch: return look + probe.cost.encode + probe.samplesWritten / throughput
        // A sample of the picture is rendered, of all of it decoded.
        case .audit: return look + probe.cost.decode + probe.cost.chain / 4
        case .check: return look + probe.cost.encode
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
