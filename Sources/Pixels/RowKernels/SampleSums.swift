import CPairSums

/// Weighted vertical sums of 64 samples, in the order of `penumbra_block_sums`.
struct SampleSums {
    let low: WordVector
    let high: WordVector

    @inline(__always) private init(low: WordVector, high: WordVector) {
        self.low = low
        self.high = high
    }

    @inline(__always) private init(_ sums: penumbra_block_sums) {
        func joined(_ x: penumbra_half_sums) -> WordVector {
            WordVector(lowHalf: SIMD16(lowHalf: x.a, highHalf: x.b), highHalf: SIMD16(lowHalf: x.c, highHalf: x.d))
        }
        low = joined(sums.low)
        high = joined(sums.high)
    }

    /// The samples of row `k` times a weight, plus those of the row below it times another. Weights are at most 127, and a sum is at most
    /// 32767.
    @inline(__always) init(_ rows: ByteRows, _ x: Int, pair k: Int, _ weight: UInt8, _ nextWeight: UInt8) {
        self.init(penumbra_pair_sums(rows[k] + x, weight, rows[k &+ 1] + x, nextWeight))
    }

    /// The samples of row `k`.
    @inline(__always) init(_ rows: ByteRows, _ x: Int, row k: Int) {
        self.init(penumbra_block_samples(rows[k] + x))
    }

    @inline(__always) static func + (a: SampleSums, b: SampleSums) -> SampleSums {
        SampleSums(low: a.low &+ b.low, high: a.high &+ b.high)
    }
}
