#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of a box blur on whole samples, of one CPU level; see `BoxRows.swift` in `RowKernels`.
struct BoxOperations: Sendable {
    typealias Slide<Sample> =
        @Sendable (
            UnsafePointer<Sample>, UnsafePointer<Sample>, UnsafePointer<Sample>, UnsafePointer<Sample>, Double, Double,
            Bool, Int, UnsafeMutablePointer<Int32>, WordTarget
        ) -> Void

    let slideByteColumns: Slide<UInt8>
    let slideWordColumns: Slide<UInt16>
    let slideShortColumns:
        @Sendable (
            UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, Int, UInt16, UInt16,
            Int, WordTarget, WordTarget
        ) -> Void
    let slideSampleColumns:
        @Sendable (
            UnsafePointer<UInt16>, UnsafePointer<UInt16>, UnsafePointer<UInt16>, UnsafePointer<UInt16>, Float, Float,
            Int, UnsafeMutablePointer<Int32>, SumTarget
        ) -> Void
    let averageAlong: @Sendable (UnsafePointer<UInt16>, Int, Int, Float, Float, Int, ByteTarget?, WordTarget?) -> Void
    let averageWideAlong: @Sendable (UnsafePointer<UInt32>, Int, Int, Float, Float, Int, WordTarget) -> Void

    #if arch(x86_64)
        static func of(_ level: CPULevel) -> BoxOperations {
            switch level {
            case .v4:
                BoxOperations(
                    slideByteColumns: RowKernelsV4.slideByteColumns, slideWordColumns: RowKernelsV4.slideWordColumns,
                    slideShortColumns: RowKernelsV4.slideShortColumns,
                    slideSampleColumns: RowKernelsV4.slideSampleColumns,
                    averageAlong: RowKernelsV4.averageAlong, averageWideAlong: RowKernelsV4.averageWideAlong)
            case .v3:
                BoxOperations(
                    slideByteColumns: RowKernelsV3.slideByteColumns, slideWordColumns: RowKernelsV3.slideWordColumns,
                    slideShortColumns: RowKernelsV3.slideShortColumns,
                    slideSampleColumns: RowKernelsV3.slideSampleColumns,
                    averageAlong: RowKernelsV3.averageAlong, averageWideAlong: RowKernelsV3.averageWideAlong)
            default:
                BoxOperations(
                    slideByteColumns: RowKernelsV2.slideByteColumns, slideWordColumns: RowKernelsV2.slideWordColumns,
                    slideShortColumns: RowKernelsV2.slideShortColumns,
                    slideSampleColumns: RowKernelsV2.slideSampleColumns,
                    averageAlong: RowKernelsV2.averageAlong, averageWideAlong: RowKernelsV2.averageWideAlong)
            }
        }
    #else
        static func of(_: CPULevel) -> BoxOperations {
            BoxOperations(
                slideByteColumns: RowKernelsNative.slideByteColumns,
                slideWordColumns: RowKernelsNative.slideWordColumns,
                slideShortColumns: RowKernelsNative.slideShortColumns,
                slideSampleColumns: RowKernelsNative.slideSampleColumns,
                averageAlong: RowKernelsNative.averageAlong, averageWideAlong: RowKernelsNative.averageWideAlong)
        }
    #endif
}
