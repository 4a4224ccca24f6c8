#if arch(x86_64)
    import RowKernelsV2
    import RowKernelsV3
    import RowKernelsV4
#else
    import RowKernelsNative
#endif

typealias ByteRows = UnsafePointer<UnsafePointer<UInt8>>
typealias WordRows = UnsafePointer<UnsafePointer<UInt16>>
typealias FloatRows = UnsafePointer<UnsafePointer<Float>>
typealias ByteTarget = UnsafeMutablePointer<UInt8>
typealias WordTarget = UnsafeMutablePointer<UInt16>
typealias SumTarget = UnsafeMutablePointer<UInt32>
typealias Positions = UnsafePointer<Int32>
typealias FloatTarget = UnsafeMutablePointer<Float>

/// The functions of `RowKernels` for one CPU level. Function values have no labels: ``RowOperations`` gives them back.
struct RowLoops: Sendable {
    let halveBytes: @Sendable (ByteRows, Int, Int, Int, UInt16, WordTarget, WordTarget) -> Void
    let halveWords: @Sendable (WordRows, Int, Int, Int, UInt16, WordTarget, WordTarget) -> Void
    let doubleWords: @Sendable (WordRows, Int, Int, Bool, Int, WordTarget, WordTarget) -> Void
    let doubleWordsToBytes: @Sendable (WordRows, Int, Int, Int, WordTarget, ByteTarget?, ByteTarget?) -> Void
    let filterWordRows:
        @Sendable (
            WordRows, Int, Int, UnsafePointer<UInt16>, Int, UnsafePointer<UInt16>, Int, Int, WordTarget,
            UnsafePointer<WordTarget>
        ) -> Void
    let filterBytePair:
        @Sendable (
            ByteRows, Int, Int, UnsafePointer<UInt16>, UnsafePointer<UInt16>, Int, WordTarget, ByteTarget, ByteTarget
        ) -> Void
    let filterWordRow:
        @Sendable (
            WordRows, Int, Int, UnsafePointer<UInt16>, UnsafePointer<UInt16>, Int, WordTarget, ByteTarget?, WordTarget?
        ) -> Void
    let filterSparse:
        @Sendable (UnsafePointer<UInt16>, WordRows, Int, UnsafePointer<UInt16>, Int, ByteTarget?, WordTarget?) -> Void
    let averageSparse:
        @Sendable (UnsafePointer<UInt16>, WordRows, Int, Int, UnsafePointer<UInt16>, Int, ByteTarget?, WordTarget?) ->
            Void
    let slideSums: @Sendable (UnsafePointer<UInt16>, UnsafePointer<UInt16>, Int, SumTarget) -> Void
    let addToSums: @Sendable (UnsafePointer<UInt16>, Int, SumTarget) -> Void
    let sumWindows: @Sendable (UnsafePointer<UInt16>, Int, Int, Int, SumTarget) -> Void
    let weighSums: @Sendable (UnsafePointer<UInt32>, Float, WordRows, Float, Float, Int, WordTarget) -> Void
    let roundWords: @Sendable (UnsafePointer<UInt16>, Int, ByteTarget) -> Void
    let loadBytePlane: @Sendable (UnsafePointer<UInt8>, Int, Int?, Int, FloatTarget) -> Void
    let loadWordPlane: @Sendable (UnsafePointer<UInt16>, Int, Int?, Int, FloatTarget) -> Void
    let loadFloatPlane: @Sendable (UnsafePointer<Float>, Int, Int?, Int, FloatTarget) -> Void
    let lookUpBytePlane: @Sendable (UnsafePointer<UInt8>, Int, UnsafePointer<Double>, Int, FloatTarget) -> Void
    let lookUpWordPlane: @Sendable (UnsafePointer<UInt16>, Int, UnsafePointer<Double>, Int, FloatTarget) -> Void
    let storeBytePlane: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>?, Int, Int, ByteTarget) -> Void
    let storeWordPlane: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>?, Int, Int, WordTarget) -> Void
    let storeFloatPlane: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>?, Int, Int, FloatTarget) -> Void
    let roundPlane: @Sendable (FloatTarget, Float, Int) -> Void
    let lookUpBytes: @Sendable (UnsafePointer<Float>, UnsafePointer<UInt8>, Int, Int, ByteTarget) -> Void
    let premultiply: @Sendable (UnsafePointer<UInt8>, Int, Int, WordTarget) -> Void
    let unpremultiply: @Sendable (UnsafePointer<UInt16>, UInt16, Int, Int, ByteTarget) -> Void
    let isOpaque: @Sendable (UnsafePointer<UInt8>, Int, Int) -> Bool
    let storeRow: @Sendable (UnsafePointer<UInt8>, Int, Bool, ByteTarget) -> Void
    let endStreaming: @Sendable () -> Void
    let widenBytes: @Sendable (UnsafePointer<UInt8>, Int, Int, WordTarget) -> Void
    let sumFloatPairs:
        @Sendable (UnsafePointer<Float>?, Float, FloatRows, Int, UnsafePointer<Float>, Int, FloatTarget) -> Void
    let sumFloatRows: @Sendable (FloatRows, Int, UnsafePointer<Float>, Int, FloatTarget) -> Void
    let splitFloats: @Sendable (UnsafePointer<Float>, Int, FloatTarget, FloatTarget) -> Void
    let zipFloats: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>, Int, FloatTarget) -> Void
    let resampleRow:
        @Sendable (
            UnsafePointer<Float>, UnsafePointer<Int32>, UnsafePointer<Int32>, UnsafePointer<Float>, Int, Int,
            FloatTarget
        ) -> Void
    let addFloats: @Sendable (UnsafePointer<Float>, FloatTarget, Int) -> Void
    let scaleFloats: @Sendable (FloatTarget, Float, Int) -> Void
    let bilateralRow:
        @Sendable (FloatRows, UnsafePointer<Float>, Int, UnsafePointer<Float>, Int, Int, Float, Int, FloatTarget, Int)
            -> Void
    let zoomDirectly:
        @Sendable (
            UnsafeRawPointer, Int, Positions, Positions, UnsafePointer<Double>?, UnsafePointer<Int>,
            UnsafePointer<Double>, Int, Int, Int, FloatTarget
        ) -> Void
    let spinDirectly:
        @Sendable (
            UnsafeRawPointer, Int, Positions, Positions, UnsafePointer<Double>?, UnsafePointer<Int>,
            UnsafePointer<Double>, UnsafePointer<Double>, Int, Int, Int, FloatTarget
        ) -> Void
    let sampleRing:
        @Sendable (
            UnsafeRawPointer, Int, Positions, Positions, UnsafePointer<Double>?, UnsafePointer<Int>,
            UnsafePointer<Double>, Double, UnsafePointer<Double>, UnsafePointer<Double>, Int, Int, FloatTarget
        ) -> Void
    let sumRing:
        @Sendable (
            UnsafeRawPointer, Int, Positions, Positions, UnsafePointer<Double>?, UnsafePointer<Int>,
            UnsafePointer<Double>, Double, UnsafePointer<Double>, UnsafePointer<Double>, Int, Int,
            UnsafeMutableRawPointer, SumTarget
        ) -> Void
    let sampleRay:
        @Sendable (
            UnsafeRawPointer, Int, Positions, Positions, UnsafePointer<Double>?, UnsafePointer<Int>,
            UnsafePointer<Double>, Double, Double, Int, Int, FloatTarget
        ) -> Void
    let sumBlocks: @Sendable (UnsafePointer<Float>, Int, Int, Int, FloatTarget, FloatTarget) -> Void
    let slideMeans: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>, Int, Int, Int, FloatTarget) -> Void
    let zoomMeans:
        @Sendable (UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, Int, Double, Int, Int, FloatTarget)
            -> Void
    let interpolateLines:
        @Sendable (UnsafePointer<Float>, Int, Int, Int, UnsafePointer<Double>, UnsafePointer<Double>, Int, FloatTarget)
            -> Void
    let interpolateRings:
        @Sendable (
            UnsafePointer<UInt32>, Int, Int, Int, Int, UnsafePointer<Double>, UnsafePointer<Double>, Int, Float,
            FloatTarget
        ) -> Void
    let packWords: @Sendable (UnsafePointer<Float>, Int, Int, Float, Float, WordTarget) -> Void
    let scatterWords: @Sendable (UnsafePointer<Float>, UnsafePointer<Int32>, Int, Int, Float, Float, WordTarget) -> Void
    let placeInRings:
        @Sendable (
            UnsafePointer<Double>, UnsafePointer<Double>, Int, Double, Double, UnsafeMutablePointer<Double>,
            UnsafeMutablePointer<Double>
        ) -> Void
    let lookUpWeights: @Sendable (UnsafePointer<UInt16>, UnsafePointer<Float>, Int, FloatTarget) -> Void
    let addWeighted: @Sendable (UnsafePointer<Float>, UnsafePointer<Float>, Int, FloatTarget) -> Void

    #if arch(x86_64)
        static func of(_ level: CPULevel) -> RowLoops {
            switch level {
            case .v4: v4
            case .v3: v3
            default: v2
            }
        }
    #else
        static func of(_: CPULevel) -> RowLoops { native }
    #endif
}
