#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#endif

// The inner loops of a disc blur on 8-bit samples; see `DiscRows.swift` in `RowKernels`.

extension RowOperations {
    @inline(__always)
    func slideByteDiscs(
        entering: borrowing RowList<UInt16>, enteringCount: Int, leaving: borrowing RowList<UInt16>, leavingCount: Int,
        count: Int, sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.slideByteDiscs : isV3 ? RowKernelsV3.slideByteDiscs : RowKernelsV2.slideByteDiscs
        loop(
            entering.pointers(count: enteringCount), enteringCount, leaving.pointers(count: leavingCount), leavingCount,
            count, sums.pointer)
    }

    @inline(__always)
    func slideWordDiscs(
        entering: borrowing RowList<UInt16>, enteringCount: Int, leaving: borrowing RowList<UInt16>, leavingCount: Int,
        count: Int, sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.slideWordDiscs : isV3 ? RowKernelsV3.slideWordDiscs : RowKernelsV2.slideWordDiscs
        loop(
            entering.pointers(count: enteringCount), enteringCount, leaving.pointers(count: leavingCount), leavingCount,
            count, sums.pointer)
    }

    @inline(__always)
    func weighByteDiscs(
        sums: Row<UInt32>, weight: Float, taps: borrowing RowList<UInt16>, counts: [Int32], weights: [Float],
        groups: Int, count: Int, words: MutableRow<UInt16>, bytes: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.weighByteDiscs : isV3 ? RowKernelsV3.weighByteDiscs : RowKernelsV2.weighByteDiscs
        loop(
            sums.pointer, weight, taps.pointers(count: counts.reduce(0) { $0 + Int($1) }), counts, weights, groups,
            count, words.pointer, bytes.pointer)
    }

    @inline(__always)
    func weighWordDiscs(
        sums: Row<UInt32>, weight: Float, taps: borrowing RowList<UInt16>, counts: [Int32], weights: [Float],
        groups: Int, count: Int, words: MutableRow<UInt16>, bytes: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.weighWordDiscs : isV3 ? RowKernelsV3.weighWordDiscs : RowKernelsV2.weighWordDiscs
        loop(
            sums.pointer, weight, taps.pointers(count: counts.reduce(0) { $0 + Int($1) }), counts, weights, groups,
            count, words.pointer, bytes.pointer)
    }
}
