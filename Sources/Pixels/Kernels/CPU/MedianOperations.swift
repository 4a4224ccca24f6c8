#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of medians, of one CPU level; `RowKernels` says what they take.
struct MedianOperations: Sendable {
    /// As function values, which have no labels.
    private struct Loops: Sendable {
        typealias RankRows = UnsafePointer<UnsafePointer<Int32>>
        typealias RankTarget = UnsafeMutablePointer<Int32>
        typealias EntryTarget = UnsafeMutablePointer<UInt64>

        let medianOfBytes: @Sendable (ByteRows, Int, Int, Int, ByteTarget, ByteTarget, ByteTarget) -> Void
        let medianOfWords: @Sendable (WordRows, Int, Int, Int, WordTarget, WordTarget, WordTarget) -> Void
        let medianOfRanks: @Sendable (RankRows, Int, Int, Int, RankTarget, RankTarget, RankTarget) -> Void
        let addToHistograms: @Sendable (UnsafePointer<UInt8>, UnsafePointer<UInt8>, Int, ByteTarget) -> Void
        let slideHistograms:
            @Sendable (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, Int, ByteTarget) -> Void
        let medianOfHistograms:
            @Sendable (UnsafePointer<UInt8>, Int, Int, Int, Int, Int, UnsafeMutableRawPointer, ByteTarget) -> Void
        let rankFloats: @Sendable (FloatTarget, Int) -> Void
        let unrankFloats: @Sendable (RankTarget, Int) -> Void
        let sortEntries: @Sendable (EntryTarget, EntryTarget, UnsafeMutablePointer<Int>, Int) -> Void
        let medianOfPlaces:
            @Sendable (UnsafePointer<UInt32>, Int, Int, Int, EntryTarget, UnsafePointer<UInt64>, RankTarget) -> Void
    }

    private let loops: Loops

    static func of(_ level: CPULevel) -> MedianOperations { MedianOperations(loops: loops(of: level)) }

    @inline(__always)
    func medianOfBytes(
        _ rows: borrowing RowList<UInt8>, radius: Int, channels: Int, count: Int, scratch: MutableRow<UInt8>,
        first: MutableRow<UInt8>, second: MutableRow<UInt8>
    ) {
        loops.medianOfBytes(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func medianOfWords(
        _ rows: borrowing RowList<UInt16>, radius: Int, channels: Int, count: Int, scratch: MutableRow<UInt16>,
        first: MutableRow<UInt16>, second: MutableRow<UInt16>
    ) {
        loops.medianOfWords(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func medianOfRanks(
        _ rows: borrowing RowList<Int32>, radius: Int, channels: Int, count: Int, scratch: MutableRow<Int32>,
        first: MutableRow<Int32>, second: MutableRow<Int32>
    ) {
        loops.medianOfRanks(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always)
    func addToHistograms(_ row: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>) {
        loops.addToHistograms(row.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always)
    func slideHistograms(
        entering: Row<UInt8>, leaving: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>
    ) {
        loops.slideHistograms(
            entering.pointer(for: count), leaving.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always)
    func medianOfHistograms(
        _ histograms: Row<UInt8>, columns: Int, channel: Int, channels: Int, radius: Int, pixels: Int,
        scratch: MutableRow<UInt64>, out: MutableRow<UInt8>
    ) {
        loops.medianOfHistograms(
            histograms.pointer, columns, channel, channels, radius, pixels, UnsafeMutableRawPointer(scratch.pointer),
            out.pointer)
    }

    @inline(__always)
    func rankFloats(_ values: MutableRow<Float>, count: Int) {
        loops.rankFloats(values.pointer(for: count), count)
    }

    @inline(__always)
    func unrankFloats(_ ranks: MutableRow<Int32>, count: Int) {
        loops.unrankFloats(ranks.pointer(for: count), count)
    }

    @inline(__always)
    func sortEntries(_ entries: MutableRow<UInt64>, spare: MutableRow<UInt64>, counts: MutableRow<Int>, count: Int) {
        loops.sortEntries(entries.pointer(for: count), spare.pointer(for: count), counts.pointer(for: 256), count)
    }

    @inline(__always)
    func medianOfPlaces(
        _ places: Row<UInt32>, width: Int, height: Int, radius: Int, bits: MutableRow<UInt64>, sorted: Row<UInt64>,
        out: MutableRow<Int32>
    ) {
        loops.medianOfPlaces(places.pointer, width, height, radius, bits.pointer, sorted.pointer, out.pointer)
    }

    #if arch(x86_64)
        private static func loops(of level: CPULevel) -> Loops {
            switch level {
            case .v4: v4
            case .v3: v3
            default: v2
            }
        }
    #else
        private static func loops(of _: CPULevel) -> Loops { native }
    #endif
}

#if arch(x86_64)
    extension MedianOperations {
        private static let v2 = Loops(
            medianOfBytes: RowKernelsV2.medianOfBytes,
            medianOfWords: RowKernelsV2.medianOfWords,
            medianOfRanks: RowKernelsV2.medianOfRanks,
            addToHistograms: RowKernelsV2.addToHistograms,
            slideHistograms: RowKernelsV2.slideHistograms,
            medianOfHistograms: RowKernelsV2.medianOfHistograms,
            rankFloats: RowKernelsV2.rankFloats,
            unrankFloats: RowKernelsV2.unrankFloats,
            sortEntries: RowKernelsV2.sortEntries,
            medianOfPlaces: RowKernelsV2.medianOfPlaces)
    }

    extension MedianOperations {
        private static let v3 = Loops(
            medianOfBytes: RowKernelsV3.medianOfBytes,
            medianOfWords: RowKernelsV3.medianOfWords,
            medianOfRanks: RowKernelsV3.medianOfRanks,
            addToHistograms: RowKernelsV3.addToHistograms,
            slideHistograms: RowKernelsV3.slideHistograms,
            medianOfHistograms: RowKernelsV3.medianOfHistograms,
            rankFloats: RowKernelsV3.rankFloats,
            unrankFloats: RowKernelsV3.unrankFloats,
            sortEntries: RowKernelsV3.sortEntries,
            medianOfPlaces: RowKernelsV3.medianOfPlaces)
    }

    extension MedianOperations {
        private static let v4 = Loops(
            medianOfBytes: RowKernelsV4.medianOfBytes,
            medianOfWords: RowKernelsV4.medianOfWords,
            medianOfRanks: RowKernelsV4.medianOfRanks,
            addToHistograms: RowKernelsV4.addToHistograms,
            slideHistograms: RowKernelsV4.slideHistograms,
            medianOfHistograms: RowKernelsV4.medianOfHistograms,
            rankFloats: RowKernelsV4.rankFloats,
            unrankFloats: RowKernelsV4.unrankFloats,
            sortEntries: RowKernelsV4.sortEntries,
            medianOfPlaces: RowKernelsV4.medianOfPlaces)
    }
#else
    extension MedianOperations {
        private static let native = Loops(
            medianOfBytes: RowKernelsNative.medianOfBytes,
            medianOfWords: RowKernelsNative.medianOfWords,
            medianOfRanks: RowKernelsNative.medianOfRanks,
            addToHistograms: RowKernelsNative.addToHistograms,
            slideHistograms: RowKernelsNative.slideHistograms,
            medianOfHistograms: RowKernelsNative.medianOfHistograms,
            rankFloats: RowKernelsNative.rankFloats,
            unrankFloats: RowKernelsNative.unrankFloats,
            sortEntries: RowKernelsNative.sortEntries,
            medianOfPlaces: RowKernelsNative.medianOfPlaces)
    }
#endif
