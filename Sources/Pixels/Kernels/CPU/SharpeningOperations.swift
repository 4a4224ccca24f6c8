#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

/// The inner loops of an unsharp mask, of one CPU level; see `SharpenedRows.swift` in `RowKernels`.
struct SharpeningOperations: Sendable {
    /// As function values, which have no labels.
    private struct Loops: Sendable {
        typealias Sharpen<Value> =
            @Sendable (UnsafePointer<Value>, UnsafePointer<Value>, Float, Float, Int, UnsafeMutablePointer<Value>) ->
            Void

        let sharpenWords: Sharpen<UInt16>
        let sharpenFloats: Sharpen<Float>
        let sharpenColorFloats:
            @Sendable (
                UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, Float, Float,
                Int, UnsafeMutablePointer<Float>
            ) -> Void
        let sharpenPixels:
            @Sendable (
                UnsafePointer<UInt16>, UnsafePointer<UInt16>, Float, Float, Int, Int, UnsafeMutablePointer<UInt16>
            ) -> Void
    }

    private let loops: Loops

    static func of(_ level: CPULevel) -> SharpeningOperations { SharpeningOperations(loops: loops(of: level)) }

    @inline(__always)
    func sharpenWords(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, count: Int,
        out: MutableRow<UInt16>
    ) {
        loops.sharpenWords(
            source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenFloats(
        _ source: Row<Float>, blurred: Row<Float>, amount: Float, threshold: Float, count: Int, out: MutableRow<Float>
    ) {
        loops.sharpenFloats(
            source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenColorFloats(
        _ source: Row<Float>, blurred: Row<Float>, alpha: Row<Float>, blurredAlpha: Row<Float>, amount: Float,
        threshold: Float, count: Int, out: MutableRow<Float>
    ) {
        loops.sharpenColorFloats(
            source.pointer(for: count), blurred.pointer(for: count), alpha.pointer(for: count),
            blurredAlpha.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenPixels(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, colors: Int, pixels: Int,
        out: MutableRow<UInt16>
    ) {
        loops.sharpenPixels(source.pointer, blurred.pointer, amount, threshold, colors, pixels, out.pointer)
    }

    #if arch(x86_64)
        private static func loops(of level: CPULevel) -> Loops {
            switch level {
            case .v4:
                Loops(
                    sharpenWords: RowKernelsV4.sharpenWords, sharpenFloats: RowKernelsV4.sharpenFloats,
                    sharpenColorFloats: RowKernelsV4.sharpenColorFloats,
                    sharpenPixels: RowKernelsV4.sharpenPixels)
            case .v3:
                Loops(
                    sharpenWords: RowKernelsV3.sharpenWords, sharpenFloats: RowKernelsV3.sharpenFloats,
                    sharpenColorFloats: RowKernelsV3.sharpenColorFloats,
                    sharpenPixels: RowKernelsV3.sharpenPixels)
            default:
                Loops(
                    sharpenWords: RowKernelsV2.sharpenWords, sharpenFloats: RowKernelsV2.sharpenFloats,
                    sharpenColorFloats: RowKernelsV2.sharpenColorFloats,
                    sharpenPixels: RowKernelsV2.sharpenPixels)
            }
        }
    #else
        private static func loops(of _: CPULevel) -> Loops {
            Loops(
                sharpenWords: RowKernelsNative.sharpenWords, sharpenFloats: RowKernelsNative.sharpenFloats,
                sharpenColorFloats: RowKernelsNative.sharpenColorFloats,
                sharpenPixels: RowKernelsNative.sharpenPixels)
        }
    #endif
}
