package import Catalogs
import Geometry
package import Raster

/// A chain's output in bands from the top down, computed while the rows of its input come in.
///
/// Each filter keeps the rows of its input that its next band reads, and no more: memory does not grow with the picture's
/// height, and no row that passes between two filters is computed twice. The pixels are those of
/// ``Chain/render(_:from:)``.
///
/// Used by one thread at a time.
package final class ChainStream {
    private let last: () throws -> AnyRaster?

    /// - Parameters:
    ///   - plan: the chain's for this input. Its ``ChainPlan/isRowLocal`` is true.
    ///   - format: the input's sample format.
    ///   - bandHeights: of each filter's output.
    ///   - input: gives the input's next rows, any number of them, whole and in order; nil behind the last one. It is
    ///     read to its end, whatever the chain needs of it.
    package init(
        _ chain: Chain, _ plan: ChainPlan, format: SampleFormat, bandHeights: [Int],
        input: @escaping () throws -> AnyRaster?
    ) {
        precondition(plan.isRowLocal, "every band needs only the rows around it")
        precondition(bandHeights.count == plan.stages.count, "every filter has its bands")
        var last = input
        for index in plan.stages.indices {
            let stream = FilterStream(
                chain.filters[index], plan.stages[index], format: format, curve: chain.curve, frame: chain.frame,
                bandHeight: bandHeights[index], input: last)
            last = { try stream.nextBand() }
        }
        self.last = last
    }

    /// The next band; nil behind the last row. Throws what the input or a plugin throws.
    package func nextBand() throws -> AnyRaster? { try last() }
}
