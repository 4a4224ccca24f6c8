#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of medians, of one CPU level; `RowKernels` says what they take.
struct MedianOperations: Sendable {
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

    #if arch(x86_64)
        static func of(_ level: CPULevel) -> MedianOperations {
            switch level {
            case .v4: v4
            case .v3: v3
            default: v2
            }
        }
    #else
        static func of(_: CPULevel) -> MedianOperations { native }
    #endif
}

#if arch(x86_64)
    extension MedianOperations {
        fileprivate static let v2 = MedianOperations(
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
        fileprivate static let v3 = MedianOperations(
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
        fileprivate static let v4 = MedianOperations(
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
        fileprivate static let native = MedianOperations(
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
