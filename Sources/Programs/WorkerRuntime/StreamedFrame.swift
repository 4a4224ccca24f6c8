import Geometry
import ImageFiles
import Raster
import Rendering

/// A frame on its way through threads. One thread decodes, one runs the common chain and passes its bands to every
/// branch, and one for each branch runs the rest of its chain. Encoders pull the rows.
///
/// A slow branch delays the others, so that all of them together hold few bands.
struct StreamedFrame {
    private let decoded = BandPipe(capacity: StreamPlan.queued)
    /// The common chain's result for each branch.
    private let trunk: [BandPipe]
    /// The result of each branch. It is the same pipe if the branch changes nothing.
    private let ends: [BandPipe]
    private let outputs: [PixelRect]

    /// One branch's chain.
    struct Branch {
        let chain: Chain
        let plan: ChainPlan
        /// Nil for a branch that takes the common chain's result unchanged.
        let stream: StreamPlan?
    }

    /// Starts the threads. ``stop()`` must be called before the decoder is used or released.
    init(
        _ decoder: ImageDecoder, _ chain: Chain, _ plan: ChainPlan, _ stream: StreamPlan, branches: [Branch]
    ) {
        let format = decoder.header.sampleFormat
        let trunk = branches.map { _ in BandPipe(capacity: StreamPlan.queued) }
        self.trunk = trunk
        decoded.start { pipe in
            try decoder.readRows(bandHeight: StreamPlan.decodedRows) { try pipe.push($0) }
        }
        let decoded = decoded
        BandPipe.start(trunk) {
            let bands = ChainStream(chain, plan, format: format, bandHeights: stream.bandHeights) {
                try decoded.pull()
            }
            while let band = try bands.nextBand() { for pipe in trunk { try pipe.push(band) } }
            // Damage in rows that no filter needs is damage, too.
            while try decoded.pull() != nil {}
        }
        ends = zip(trunk, branches).map { source, branch in
            guard let stream = branch.stream, !branch.chain.isIdentity else { return source }
            let end = BandPipe(capacity: StreamPlan.queued)
            end.start { pipe in
                let bands = ChainStream(branch.chain, branch.plan, format: format, bandHeights: stream.bandHeights) {
                    try source.pull()
                }
                while let band = try bands.nextBand() { try pipe.push(band) }
                // The other branches wait until this one has taken all bands.
                while try source.pull() != nil {}
            }
            return end
        }
        outputs = branches.map { $0.stream == nil ? plan.output : $0.plan.output }
    }

    /// The next band of a branch. The last one comes only after the file was read to its end, so that damage in its
    /// last rows is detected before an output is complete.
    func nextBand(_ branch: Int) throws -> AnyRaster {
        guard let band = try ends[branch].pull() else { preconditionFailure("a chain renders all of its rows") }
        if band.rect.bottom == outputs[branch].bottom { while try ends[branch].pull() != nil {} }
        return band
    }

    /// Wakes all threads after a failure. Later calls fail.
    func close() {
        for pipe in [decoded] + trunk + ends { pipe.close() }
    }

    /// Ends all threads and waits for them.
    func stop() {
        close()
        for pipe in ends + trunk + [decoded] { pipe.waitForEnd() }
    }
}
