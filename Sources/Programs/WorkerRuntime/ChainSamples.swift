import Catalogs
import Geometry
import ImageFiles
import JobModel
import Rendering
import WorkerProtocol

/// The choice of the samples that the filters of an output give each other.
enum ChainSamples {
    /// `precision: auto` lets a picture take this much longer.
    private static let allowedExcess = 0.15

    /// The choice depends on the picture's header, the output and its chain only. So all tasks of a frame make the same one.
    ///
    /// - Parameters:
    ///   - stored: the samples of the input's file.
    ///   - held: the samples that the output's file can have.
    static func choice(
        _ save: SaveOptions, stored: SampleFormat, held: [SampleFormat], _ work: FrameWork
    ) -> SampleFormat {
        guard work.computingFilters > 0 else { return stored }
        if let samples = save.precision.samples { return samples }
        let coarsest = held.min { $0.bytes < $1.bytes } ?? .u8
        let needed =
            [stored, save.dither ? .u16 : .u8, save.depth.samples ?? .u8, coarsest].max { $0.bytes < $1.bytes }
            ?? stored
        guard save.precision == .auto, needed == .u8, work.computingFilters >= 2 else { return needed }
        return work.seconds(.u16) <= (1 + allowedExcess) * work.seconds(.u8) ? .u16 : needed
    }
}

/// The work for one output of a frame, by the formats' and filters' estimates.
struct FrameWork {
    private let chain: Chain
    private let plan: ChainPlan
    private let decoding: Double
    private let encoding: Double

    init(_ header: ImageHeader, _ chain: Chain, _ plan: ChainPlan, to format: any ImageFormat) throws(TaskFailure) {
        self.chain = chain
        self.plan = plan
        decoding = try ImageFormats.inTask(header.formatName).cost.decoding(header.shape)
        encoding = format.cost.encoding(plan.output, plan.outputLayout, header.sampleFormat)
    }

    /// The number of filters whose samples are not all samples of their input.
    var computingFilters: Int { chain.computingFilters }

    /// The seconds of one core, if filters give each other these samples and the files have 8 bits.
    func seconds(_ samples: SampleFormat) -> Double {
        let converted = plan.input.area * plan.inputLayout.channels + plan.output.area * plan.outputLayout.channels
        let conversion = samples == .u8 ? 0 : Self.secondsOfConversion * Double(converted)
        return decoding + chain.cost(plan, samples) + conversion + encoding
    }

    /// For one sample from 8 to 16 bits, or back.
    private static let secondsOfConversion = 0.5e-9
}
