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

    /// Starts the threads. ``stop()`` must be called before the decoder is used or released.
    ///
    /// - Parameters:
    ///   - branches: The indices, in the input, of the branches that are rendered.
    ///   - isShifted: Whether the borders of bands are shifted.
    init(
        _ input: OpenedInput, _ route: RenderRoute, _ stream: StreamPlan, branches: [Int], isShifted: Bool
    ) {
        let (decoder, chain, plan) = (input.decoder, input.chain, route.chainPlan)
        let format = decoder.header.sampleFormat
        func heights(_ stream: StreamPlan) -> [Int] { (isShifted ? stream.withOtherBorders : stream).bandHeights }
        let bandHeights = heights(stream)
        let trunk = branches.map { _ in BandPipe(capacity: StreamPlan.queued) }
        self.trunk = trunk
        decoded.start { pipe in
            try decoder.readRows(bandHeight: StreamPlan.decodedRows) { try pipe.push($0) }
        }
        let decoded = decoded
        BandPipe.start(trunk) {
            let bands = chain.stream(plan, format: format, bandHeights: bandHeights) { try decoded.pull() }
            while let band = try bands() { for pipe in trunk { try pipe.push(band) } }
            // Damage in rows that no filter needs is damage, too.
            while try decoded.pull() != nil {}
        }
        ends = zip(trunk, branches).map { source, branch in
            let (own, plan) = (input.branches[branch].own, route.branchPlans[branch])
            guard let bandHeights = route.branches[branch].map(heights), !own.isIdentity else { return source }
            let end = BandPipe(capacity: StreamPlan.queued)
            end.start { pipe in
                let bands = own.stream(plan, format: format, bandHeights: bandHeights) { try source.pull() }
                while let band = try bands() { try pipe.push(band) }
                // The other branches wait until this one has taken all bands.
                while try source.pull() != nil {}
            }
            return end
        }
        outputs = branches.map { route.branches[$0] == nil ? plan.output : route.branchPlans[$0].output }
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
