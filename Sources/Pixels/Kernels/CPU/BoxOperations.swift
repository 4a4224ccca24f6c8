#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of a box blur on whole samples, of one CPU level; see `BoxRows.swift` in `RowKernels`.
struct BoxOperations: Sendable {
    /// As function values, which have no labels.
    private struct Loops: Sendable {
        typealias Slide<Sample> =
            @Sendable (
                UnsafePointer<Sample>, UnsafePointer<Sample>, UnsafePointer<Sample>, UnsafePointer<Sample>, Double,
                Double, Bool, Int, UnsafeMutablePointer<Int32>, WordTarget
            ) -> Void

        let slideByteColumns: Slide<UInt8>
        let slideWordColumns: Slide<UInt16>
        let slideShortColumns:
            @Sendable (
                UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, Int, UInt16,
                UInt16, Int, WordTarget, WordTarget
            ) -> Void
        let slideSampleColumns:
            @Sendable (
                UnsafePointer<UInt16>, UnsafePointer<UInt16>, UnsafePointer<UInt16>, UnsafePointer<UInt16>, Float,
                Float, Int, UnsafeMutablePointer<Int32>, SumTarget
            ) -> Void
        let averageAlong:
            @Sendable (UnsafePointer<UInt16>, Int, Int, Float, Float, Int, ByteTarget?, WordTarget?) -> Void
        let averageWideAlong: @Sendable (UnsafePointer<UInt32>, Int, Int, Float, Float, Int, WordTarget) -> Void
    }

    private let loops: Loops

    static func of(_ level: CPULevel) -> BoxOperations { BoxOperations(loops: loops(of: level)) }

    @inline(__always)
    func slideByteColumns(
        _ rows: SlidingRows<UInt8>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        loops.slideByteColumns(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideWordColumns(
        _ rows: SlidingRows<UInt16>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        loops.slideWordColumns(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideShortColumns(
        _ rows: SlidingRows<UInt8>, shift: Int, weight: UInt16, tail: UInt16, count: Int, sums: MutableRow<UInt16>,
        words: MutableRow<UInt16>
    ) {
        loops.slideShortColumns(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, shift, weight, tail,
            count, sums.pointer, words.pointer)
    }

    @inline(__always)
    func slideSampleColumns(
        _ rows: SlidingRows<UInt16>, weight: Float, tail: Float, count: Int, sums: MutableRow<Int32>,
        means: MutableRow<UInt32>
    ) {
        loops.slideSampleColumns(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, count,
            sums.pointer, means.pointer)
    }

    @inline(__always)
    func averageAlong(
        _ row: Row<UInt16>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        loops.averageAlong(row.pointer, channels, length, weight, tail, count, bytes?.pointer, words?.pointer)
    }

    @inline(__always)
    func averageWideAlong(
        _ row: Row<UInt32>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        words: MutableRow<UInt16>
    ) {
        loops.averageWideAlong(row.pointer, channels, length, weight, tail, count, words.pointer)
    }

    #if arch(x86_64)
        private static func loops(of level: CPULevel) -> Loops {
            switch level {
            case .v4:
                Loops(
                    slideByteColumns: RowKernelsV4.slideByteColumns, slideWordColumns: RowKernelsV4.slideWordColumns,
                    slideShortColumns: RowKernelsV4.slideShortColumns,
                    slideSampleColumns: RowKernelsV4.slideSampleColumns,
                    averageAlong: RowKernelsV4.averageAlong, averageWideAlong: RowKernelsV4.averageWideAlong)
            case .v3:
                Loops(
                    slideByteColumns: RowKernelsV3.slideByteColumns, slideWordColumns: RowKernelsV3.slideWordColumns,
                    slideShortColumns: RowKernelsV3.slideShortColumns,
                    slideSampleColumns: RowKernelsV3.slideSampleColumns,
                    averageAlong: RowKernelsV3.averageAlong, averageWideAlong: RowKernelsV3.averageWideAlong)
            default:
                Loops(
                    slideByteColumns: RowKernelsV2.slideByteColumns, slideWordColumns: RowKernelsV2.slideWordColumns,
                    slideShortColumns: RowKernelsV2.slideShortColumns,
                    slideSampleColumns: RowKernelsV2.slideSampleColumns,
                    averageAlong: RowKernelsV2.averageAlong, averageWideAlong: RowKernelsV2.averageWideAlong)
            }
        }
    #else
        private static func loops(of _: CPULevel) -> Loops {
            Loops(
                slideByteColumns: RowKernelsNative.slideByteColumns,
                slideWordColumns: RowKernelsNative.slideWordColumns,
                slideShortColumns: RowKernelsNative.slideShortColumns,
                slideSampleColumns: RowKernelsNative.slideSampleColumns,
                averageAlong: RowKernelsNative.averageAlong, averageWideAlong: RowKernelsNative.averageWideAlong)
        }
    #endif
}
