#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of an unsharp mask, of one CPU level; see `SharpenedRows.swift` in `RowKernels`.
struct SharpeningOperations: Sendable {
    typealias Sharpen<Value> =
        @Sendable (
            UnsafePointer<Value>, UnsafePointer<Value>, Float, Float, Int, UnsafeMutablePointer<Value>
        ) -> Void

    let sharpenWords: Sharpen<UInt16>
    let sharpenFloats: Sharpen<Float>
    let sharpenColorFloats:
        @Sendable (
            UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, Float, Float, Int,
            UnsafeMutablePointer<Float>
        ) -> Void
    let sharpenPixels:
        @Sendable (
            UnsafePointer<UInt16>, UnsafePointer<UInt16>, Float, Float, Int, Int, UnsafeMutablePointer<UInt16>
        ) -> Void

    #if arch(x86_64)
        static func of(_ level: CPULevel) -> SharpeningOperations {
            switch level {
            case .v4:
                SharpeningOperations(
                    sharpenWords: RowKernelsV4.sharpenWords, sharpenFloats: RowKernelsV4.sharpenFloats,
                    sharpenColorFloats: RowKernelsV4.sharpenColorFloats,
                    sharpenPixels: RowKernelsV4.sharpenPixels)
            case .v3:
                SharpeningOperations(
                    sharpenWords: RowKernelsV3.sharpenWords, sharpenFloats: RowKernelsV3.sharpenFloats,
                    sharpenColorFloats: RowKernelsV3.sharpenColorFloats,
                    sharpenPixels: RowKernelsV3.sharpenPixels)
            default:
                SharpeningOperations(
                    sharpenWords: RowKernelsV2.sharpenWords, sharpenFloats: RowKernelsV2.sharpenFloats,
                    sharpenColorFloats: RowKernelsV2.sharpenColorFloats,
                    sharpenPixels: RowKernelsV2.sharpenPixels)
            }
        }
    #else
        static func of(_: CPULevel) -> SharpeningOperations {
            SharpeningOperations(
                sharpenWords: RowKernelsNative.sharpenWords, sharpenFloats: RowKernelsNative.sharpenFloats,
                sharpenColorFloats: RowKernelsNative.sharpenColorFloats,
                sharpenPixels: RowKernelsNative.sharpenPixels)
        }
    #endif
}
