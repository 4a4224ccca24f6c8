#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#endif

// The inner loops of medians.

extension RowOperations {
    @inline(__always)
    func medianOfBytes(
        _ rows: borrowing RowList<UInt8>, radius: Int, channels: Int, count: Int, scratch: MutableRow<UInt8>,
        first: MutableRow<UInt8>, second: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfBytes : isV3 ? RowKernelsV3.medianOfBytes : RowKernelsV2.medianOfBytes
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func medianOfWords(
        _ rows: borrowing RowList<UInt16>, radius: Int, channels: Int, count: Int, scratch: MutableRow<UInt16>,
        first: MutableRow<UInt16>, second: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfWords : isV3 ? RowKernelsV3.medianOfWords : RowKernelsV2.medianOfWords
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func medianOfRanks(
        _ rows: borrowing RowList<Int32>, radius: Int, channels: Int, count: Int, scratch: MutableRow<Int32>,
        first: MutableRow<Int32>, second: MutableRow<Int32>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfRanks : isV3 ? RowKernelsV3.medianOfRanks : RowKernelsV2.medianOfRanks
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func addToHistograms(_ row: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>) {
        let loop =
            isV4 ? RowKernelsV4.addToHistograms : isV3 ? RowKernelsV3.addToHistograms : RowKernelsV2.addToHistograms
        loop(row.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always)
    func slideHistograms(
        entering: Row<UInt8>, leaving: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideHistograms : isV3 ? RowKernelsV3.slideHistograms : RowKernelsV2.slideHistograms
        loop(entering.pointer(for: count), leaving.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always)
    func medianOfHistograms(
        _ histograms: Row<UInt8>, columns: Int, channel: Int, channels: Int, radius: Int, pixels: Int,
        scratch: MutableRow<UInt64>, out: MutableRow<UInt8>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.medianOfHistograms : isV3 ? RowKernelsV3.medianOfHistograms : RowKernelsV2.medianOfHistograms
        loop(
            histograms.pointer, columns, channel, channels, radius, pixels, UnsafeMutableRawPointer(scratch.pointer),
            out.pointer)
    }

    @inline(__always)
    func rankFloats(_ values: MutableRow<Float>, count: Int) {
        let loop = isV4 ? RowKernelsV4.rankFloats : isV3 ? RowKernelsV3.rankFloats : RowKernelsV2.rankFloats
        loop(values.pointer(for: count), count)
    }

    @inline(__always)
    func unrankFloats(_ ranks: MutableRow<Int32>, count: Int) {
        let loop = isV4 ? RowKernelsV4.unrankFloats : isV3 ? RowKernelsV3.unrankFloats : RowKernelsV2.unrankFloats
        loop(ranks.pointer(for: count), count)
    }

    @inline(__always)
    func sortEntries(_ entries: MutableRow<UInt64>, spare: MutableRow<UInt64>, counts: MutableRow<Int>, count: Int) {
        let loop = isV4 ? RowKernelsV4.sortEntries : isV3 ? RowKernelsV3.sortEntries : RowKernelsV2.sortEntries
        loop(entries.pointer(for: count), spare.pointer(for: count), counts.pointer(for: 256), count)
    }

    @inline(__always)
    func medianOfPlaces(
        _ places: Row<UInt32>, width: Int, height: Int, radius: Int, bits: MutableRow<UInt64>, sorted: Row<UInt64>,
        out: MutableRow<Int32>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfPlaces : isV3 ? RowKernelsV3.medianOfPlaces : RowKernelsV2.medianOfPlaces
        loop(places.pointer, width, height, radius, bits.pointer, sorted.pointer, out.pointer)
    }
}
