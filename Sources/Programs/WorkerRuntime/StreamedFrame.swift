import Geometry
import ImageFiles
import Raster
import Rendering

/// A frame on its way through three threads: one decodes, one runs the chain, and the caller's encoder pulls the rows.
struct StreamedFrame {
    private let decoded = BandPipe(capacity: StreamPlan.queued)
    private let rendered = BandPipe(capacity: StreamPlan.queued)
    private let output: PixelRect

    /// Starts the threads. ``stop()`` has to follow before the decoder is used or let go.
    init(_ decoder: ImageDecoder, _ chain: Chain, _ plan: ChainPlan, _ stream: StreamPlan) {
        output = plan.output
        let format = decoder.header.sampleFormat
        decoded.start { pipe in
            try decoder.readRows(bandHeight: StreamPlan.decodedRows) { try pipe.push($0) }
        }
        let decoded = decoded
        rendered.start { pipe in
            let chain = ChainStream(chain, plan, format: format, bandHeights: stream.bandHeights) {
                try decoded.pull()
            }
            while let band = try chain.nextBand() { try pipe.push(band) }
        }
    }

    /// The next band. The last one comes only when the file was read to its end, so that damage in its last rows is
    /// known before an output is complete.
    func nextBand() throws -> AnyRaster {
        guard let band = try rendered.pull() else { preconditionFailure("a chain renders all of its rows") }
        if band.rect.bottom == output.bottom { while try rendered.pull() != nil {} }
        return band
    }

    /// Ends both threads, wherever they are, and waits for them.
    func stop() {
        decoded.close()
        rendered.close()
        rendered.waitForEnd()
        decoded.waitForEnd()
    }
}
