import Catalogs
import Filters
import Geometry

/// How tall the bands of a ``ChainStream`` are, and what they take in memory.
package struct StreamPlan: Hashable, Sendable {
    /// Of each filter's output.
    package let bandHeights: [Int]
    /// An upper bound of the rows that are held between the decoder and the encoder.
    package let bytes: Int

    /// Bands that wait between two threads; one more is being made, and one used.
    package static let queued = 1
    /// Rows that a decoder hands over at once.
    package static let decodedRows = 64
    private static let tallest = 512
    /// Bands of wide pictures are lower than would be best, to stay below this where that costs little.
    private static let comfortableBytes = 128 << 20
    private static let comfortableHeight = 64

    /// Kernels do some work again at a band's borders, so bands are as tall as what is read beyond them, at least 64
    /// rows of input; lower where the picture is wide.
    ///
    /// Nil when not even single rows fit the budget, or the chain is not row-local.
    ///
    /// - Parameter memoryBudget: for one picture, in bytes.
    package init?(_ chain: Chain, _ plan: ChainPlan, bytesPerSample: Int, memoryBudget: Int) {
        guard plan.isRowLocal else { return nil }
        let steps = zip(chain.filters, plan.stages).map { Step(filter: $0, stage: $1) }
        var heights = steps.map(\.wishedHeight)
        var bytes = Self.bytes(steps, heights, plan, bytesPerSample)
        func isGood() -> Bool {
            bytes <= memoryBudget
                && (bytes <= Self.comfortableBytes || heights.allSatisfy { $0 <= Self.comfortableHeight })
        }
        while !isGood() {
            guard heights.contains(where: { $0 > 1 }) else { return nil }
            heights = heights.map { max(1, $0 / 2) }
            bytes = Self.bytes(steps, heights, plan, bytesPerSample)
        }
        bandHeights = heights
        self.bytes = bytes
    }

    private init(bandHeights: [Int], bytes: Int) {
        self.bandHeights = bandHeights
        self.bytes = bytes
    }

    /// Lower bands, whose borders lie elsewhere but for the multiples of both heights: for rendering again.
    package var withOtherBorders: StreamPlan {
        StreamPlan(bandHeights: bandHeights.map { max(1, $0 - $0 / 4 - 1) }, bytes: bytes)
    }

    private struct Step {
        let filter: any Filter
        let stage: ChainPlan.Stage

        /// Rows that are held for a band, away from the picture's borders; where some bands read far more than others,
        /// the most that is. (Where a filter applies to a part of the picture only, later bands may read further up than
        /// this one.)
        func rowsRead(_ height: Int) -> Int {
            let space = max(0, stage.output.height - height)
            guard filter.isEven else {
                return stride(from: 0, through: 8, by: 1).map { rowsRead(height, from: space * $0 / 8) }.max() ?? 0
            }
            let halo = filter.halo(in: stage.input)
            let rows = Int((Double(height) * filter.scale(in: stage.input).y).rounded(.up))
            return max(rowsRead(height, from: space / 2), rows + halo.top + halo.bottom)
        }

        private func rowsRead(_ height: Int, from first: Int) -> Int {
            let top = stage.output.y + first
            let band = PixelRect(columns: stage.output.columns, rows: top..<top + min(height, stage.output.height))
            let needed = filter.needed(for: band, in: stage.input)
            return filter.isEven ? needed.height : needed.rows.clamped(to: stage.input.rows).count
        }

        var wishedHeight: Int {
            let least = rowsRead(1)
            let most = max(decodedRows + least, 2 * least)
            var height = 1
            while 2 * height <= tallest, rowsRead(2 * height) <= most { height *= 2 }
            return height
        }
    }

    private static func bytes(
        _ steps: [Step], _ heights: [Int], _ plan: ChainPlan, _ bytesPerSample: Int
    ) -> Int {
        func rowBytes(_ rect: PixelRect, _ layout: PixelLayout) -> Int {
            rect.width * layout.channels * bytesPerSample
        }
        let decoded = (queued + 2) * decodedRows * rowBytes(plan.input, plan.inputLayout)
        var arriving = decodedRows
        var windows = 0
        for (step, height) in zip(steps, heights) {
            windows += (step.rowsRead(height) + arriving) * rowBytes(step.stage.input, step.stage.inputLayout)
            // A change of size holds the rows of one output row as floating-point numbers, up to twice as many.
            if step.filter.scale(in: step.stage.input).y > 1 {
                windows += 2 * 4 * step.rowsRead(1) * step.stage.input.width * step.stage.inputLayout.channels
            }
            arriving = height
        }
        return decoded + windows + (queued + 2) * arriving * rowBytes(plan.output, plan.outputLayout)
    }
}
