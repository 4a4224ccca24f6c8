import Filters
import ImageFiles
import JobModel
import Raster
import WorkerProtocol

/// Answers what only a worker can tell of chains: it has their filters, and reads pictures.
struct ChainExaminer {
    let toolbox: Toolbox

    /// Reads the question from standard input. Who waits for the answer ends this process when a plugin hangs.
    static func answer(_ toolbox: Toolbox, on channel: Channel) throws {
        var bytes: [UInt8] = []
        while let more = channel.receive() { bytes += more }
        let question = try FrameCodec.decode(ExaminedChains.self, from: bytes)
        try channel.send(bytes: FrameCodec.json(ChainExaminer(toolbox: toolbox).examination(of: question)))
    }

    private func examination(of question: ExaminedChains) -> Examination {
        let registry = toolbox.registryWithoutPictures
        return Examination(
            filters: question.filters.map { examination(of: $0, registry) },
            pictures: question.pictures.map { picture in
                PictureCache.trouble(with: picture.path, DecodeLimits(maxPixels: picture.maxPixels, scratchFolder: nil))
            })
    }

    private func examination(of invocation: FilterInvocation, _ registry: FilterRegistry) -> Examination.Filter {
        do {
            return try registry.makeFilter(invocation).isIdentity ? .changesNothing : .works
        } catch let error as FilterError {
            return .impossible(error.reason)
        } catch {
            return .impossible("\(error)")
        }
    }
}
