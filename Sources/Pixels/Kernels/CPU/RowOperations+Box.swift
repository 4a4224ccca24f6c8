#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#endif

// The inner loops of a box blur on whole samples; see `BoxRows.swift` in `RowKernels`.

extension RowOperations {
    @inline(__always)
    func slideByteColumns(
        _ rows: SlidingRows<UInt8>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideByteColumns : isV3 ? RowKernelsV3.slideByteColumns : RowKernelsV2.slideByteColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideWordColumns(
        _ rows: SlidingRows<UInt16>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideWordColumns : isV3 ? RowKernelsV3.slideWordColumns : RowKernelsV2.slideWordColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideShortColumns(
        _ rows: SlidingRows<UInt8>, shift: Int, weight: UInt16, tail: UInt16, count: Int, sums: MutableRow<UInt16>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.slideShortColumns : isV3 ? RowKernelsV3.slideShortColumns : RowKernelsV2.slideShortColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, shift, weight, tail,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideSampleColumns(
        _ rows: SlidingRows<UInt16>, weight: Float, tail: Float, count: Int, sums: MutableRow<Int32>,
        means: MutableRow<UInt32>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.slideSampleColumns : isV3 ? RowKernelsV3.slideSampleColumns : RowKernelsV2.slideSampleColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, count,
            sums.pointer, means.pointer)
    }

    @inline(__always)
    func averageAlong(
        _ row: Row<UInt16>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.averageAlong : isV3 ? RowKernelsV3.averageAlong : RowKernelsV2.averageAlong
        loop(row.pointer, channels, length, weight, tail, count, bytes?.pointer, words?.pointer)
    }

    @inline(__always)
    func averageWideAlong(
        _ row: Row<UInt32>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.averageWideAlong : isV3 ? RowKernelsV3.averageWideAlong : RowKernelsV2.averageWideAlong
        loop(row.pointer, channels, length, weight, tail, count, words.pointer)
    }
}
