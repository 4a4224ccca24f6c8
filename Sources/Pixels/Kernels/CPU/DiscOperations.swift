#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of a disc blur on 8-bit samples, of one CPU level; see `DiscRows.swift` in `RowKernels`.
struct DiscOperations: Sendable {
    /// As function values, which have no labels.
    private struct Loops: Sendable {
        typealias Slide = @Sendable (WordRows, Int, WordRows, Int, Int, SumTarget) -> Void
        typealias Weigh =
            @Sendable (
                UnsafePointer<UInt32>, Float, WordRows, UnsafePointer<Int32>, UnsafePointer<Float>, Int, Int,
                WordTarget, ByteTarget
            ) -> Void

        let slideByteDiscs: Slide
        let slideWordDiscs: Slide
        let weighByteDiscs: Weigh
        let weighWordDiscs: Weigh
    }

    private let loops: Loops

    static func of(_ level: CPULevel) -> DiscOperations { DiscOperations(loops: loops(of: level)) }

    @inline(__always)
    func slideByteDiscs(
        entering: borrowing RowList<UInt16>, enteringCount: Int, leaving: borrowing RowList<UInt16>, leavingCount: Int,
        count: Int, sums: MutableRow<UInt32>
    ) {
        loops.slideByteDiscs(
            entering.pointers(count: enteringCount), enteringCount, leaving.pointers(count: leavingCount), leavingCount,
            count, sums.pointer)
    }

    @inline(__always)
    func slideWordDiscs(
        entering: borrowing RowList<UInt16>, enteringCount: Int, leaving: borrowing RowList<UInt16>, leavingCount: Int,
        count: Int, sums: MutableRow<UInt32>
    ) {
        loops.slideWordDiscs(
            entering.pointers(count: enteringCount), enteringCount, leaving.pointers(count: leavingCount), leavingCount,
            count, sums.pointer)
    }

    @inline(__always)
    func weighByteDiscs(
        sums: Row<UInt32>, weight: Float, taps: borrowing RowList<UInt16>, counts: [Int32], weights: [Float],
        groups: Int, count: Int, words: MutableRow<UInt16>, bytes: MutableRow<UInt8>
    ) {
        loops.weighByteDiscs(
            sums.pointer, weight, taps.pointers(count: counts.reduce(0) { $0 + Int($1) }), counts, weights, groups,
            count, words.pointer, bytes.pointer)
    }

    @inline(__always)
    func weighWordDiscs(
        sums: Row<UInt32>, weight: Float, taps: borrowing RowList<UInt16>, counts: [Int32], weights: [Float],
        groups: Int, count: Int, words: MutableRow<UInt16>, bytes: MutableRow<UInt8>
    ) {
        loops.weighWordDiscs(
            sums.pointer, weight, taps.pointers(count: counts.reduce(0) { $0 + Int($1) }), counts, weights, groups,
            count, words.pointer, bytes.pointer)
    }

    #if arch(x86_64)
        private static func loops(of level: CPULevel) -> Loops {
            switch level {
            case .v4:
                Loops(
                    slideByteDiscs: RowKernelsV4.slideByteDiscs, slideWordDiscs: RowKernelsV4.slideWordDiscs,
                    weighByteDiscs: RowKernelsV4.weighByteDiscs, weighWordDiscs: RowKernelsV4.weighWordDiscs)
            case .v3:
                Loops(
                    slideByteDiscs: RowKernelsV3.slideByteDiscs, slideWordDiscs: RowKernelsV3.slideWordDiscs,
                    weighByteDiscs: RowKernelsV3.weighByteDiscs, weighWordDiscs: RowKernelsV3.weighWordDiscs)
            default:
                Loops(
                    slideByteDiscs: RowKernelsV2.slideByteDiscs, slideWordDiscs: RowKernelsV2.slideWordDiscs,
                    weighByteDiscs: RowKernelsV2.weighByteDiscs, weighWordDiscs: RowKernelsV2.weighWordDiscs)
            }
        }
    #else
        private static func loops(of _: CPULevel) -> Loops {
            Loops(
                slideByteDiscs: RowKernelsNative.slideByteDiscs, slideWordDiscs: RowKernelsNative.slideWordDiscs,
                weighByteDiscs: RowKernelsNative.weighByteDiscs, weighWordDiscs: RowKernelsNative.weighWordDiscs)
        }
    #endif
}
