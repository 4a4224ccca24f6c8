#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#endif

// The inner loops of an unsharp mask; see `SharpenedRows.swift` in `RowKernels`.

extension RowOperations {
    @inline(__always)
    func sharpenWords(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, count: Int,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenWords : isV3 ? RowKernelsV3.sharpenWords : RowKernelsV2.sharpenWords
        loop(source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenFloats(
        _ source: Row<Float>, blurred: Row<Float>, amount: Float, threshold: Float, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenFloats : isV3 ? RowKernelsV3.sharpenFloats : RowKernelsV2.sharpenFloats
        loop(source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenColorFloats(
        _ source: Row<Float>, blurred: Row<Float>, alpha: Row<Float>, blurredAlpha: Row<Float>, amount: Float,
        threshold: Float, count: Int, out: MutableRow<Float>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.sharpenColorFloats : isV3 ? RowKernelsV3.sharpenColorFloats : RowKernelsV2.sharpenColorFloats
        loop(
            source.pointer(for: count), blurred.pointer(for: count), alpha.pointer(for: count),
            blurredAlpha.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always)
    func sharpenPixels(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, colors: Int, pixels: Int,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenPixels : isV3 ? RowKernelsV3.sharpenPixels : RowKernelsV2.sharpenPixels
        loop(source.pointer, blurred.pointer, amount, threshold, colors, pixels, out.pointer)
    }
}
