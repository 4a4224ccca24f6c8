#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of a disc blur on 8-bit samples, of one CPU level; see `DiscRows.swift` in `RowKernels`.
struct DiscOperations: Sendable {
    typealias Slide = @Sendable (WordRows, Int, WordRows, Int, Int, SumTarget) -> Void
    typealias Weigh =
        @Sendable (
            UnsafePointer<UInt32>, Float, WordRows, UnsafePointer<Int32>, UnsafePointer<Float>, Int, Int, WordTarget,
            ByteTarget
        ) -> Void

    let slideByteDiscs: Slide
    let slideWordDiscs: Slide
    let weighByteDiscs: Weigh
    let weighWordDiscs: Weigh

    #if arch(x86_64)
        static func of(_ level: CPULevel) -> DiscOperations {
            switch level {
            case .v4:
                DiscOperations(
                    slideByteDiscs: RowKernelsV4.slideByteDiscs, slideWordDiscs: RowKernelsV4.slideWordDiscs,
                    weighByteDiscs: RowKernelsV4.weighByteDiscs, weighWordDiscs: RowKernelsV4.weighWordDiscs)
            case .v3:
                DiscOperations(
                    slideByteDiscs: RowKernelsV3.slideByteDiscs, slideWordDiscs: RowKernelsV3.slideWordDiscs,
                    weighByteDiscs: RowKernelsV3.weighByteDiscs, weighWordDiscs: RowKernelsV3.weighWordDiscs)
            default:
                DiscOperations(
                    slideByteDiscs: RowKernelsV2.slideByteDiscs, slideWordDiscs: RowKernelsV2.slideWordDiscs,
                    weighByteDiscs: RowKernelsV2.weighByteDiscs, weighWordDiscs: RowKernelsV2.weighWordDiscs)
            }
        }
    #else
        static func of(_: CPULevel) -> DiscOperations {
            DiscOperations(
                slideByteDiscs: RowKernelsNative.slideByteDiscs, slideWordDiscs: RowKernelsNative.slideWordDiscs,
                weighByteDiscs: RowKernelsNative.weighByteDiscs, weighWordDiscs: RowKernelsNative.weighWordDiscs)
        }
    #endif
}
