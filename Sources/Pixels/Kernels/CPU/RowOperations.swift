import RowKernelsV2
import RowKernelsV3
import RowKernelsV4

/// The inner loops of one CPU level. `RowKernels` documents their parameters.
///
/// Each loop is selected by its name from the modules of all levels, with the same argument labels.
struct RowOperations: Sendable {
    let isV4: Bool
    let isV3: Bool

    /// Other architectures have only one level, which uses the name of the first.
    static func of(_ level: CPULevel) -> RowOperations { RowOperations(isV4: level == .v4, isV3: level == .v3) }

    @inline(__always) func halveBytes(
        _ rows: borrowing RowList<UInt8>, channels: Int, taps: Int, count: Int, bias: UInt16,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.halveBytes : isV3 ? RowKernelsV3.halveBytes : RowKernelsV2.halveBytes
        loop(rows.pointers(count: taps), channels, taps, count, bias, scratch.pointer, out.pointer)
    }

    @inline(__always) func halveWords(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, count: Int, bias: UInt16,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.halveWords : isV3 ? RowKernelsV3.halveWords : RowKernelsV2.halveWords
        loop(rows.pointers(count: taps), channels, taps, count, bias, scratch.pointer, out.pointer)
    }

    @inline(__always) func quarterBytes(
        _ rows: borrowing RowList<UInt8>, channels: Int, count: Int, scratch: MutableRow<UInt16>,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.quarterBytes : isV3 ? RowKernelsV3.quarterBytes : RowKernelsV2.quarterBytes
        loop(rows.pointers(count: 7), channels, count, scratch.pointer, out.pointer)
    }

    @inline(__always) func doubleWords(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, isOdd: Bool, count: Int,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.doubleWords : isV3 ? RowKernelsV3.doubleWords : RowKernelsV2.doubleWords
        loop(rows.pointers(count: 5), channels, taps, isOdd, count, scratch.pointer, out.pointer)
    }

    @inline(__always) func spreadWords(
        _ row: Row<UInt16>, channels: Int, count: Int, out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.spreadWords : isV3 ? RowKernelsV3.spreadWords : RowKernelsV2.spreadWords
        loop(row.pointer, channels, count, out.pointer)
    }

    @inline(__always) func interpolateToBytes(
        near: Row<UInt16>, far: Row<UInt16>, count: Int, stride: Int, out: MutableRow<UInt8>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.interpolateToBytes : isV3 ? RowKernelsV3.interpolateToBytes : RowKernelsV2.interpolateToBytes
        loop(near.pointer, far.pointer, count, stride, out.pointer)
    }

    @inline(__always) func interpolateWords(
        near: Row<UInt16>, far: Row<UInt16>, place: Int, count: Int, out: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.interpolateWords : isV3 ? RowKernelsV3.interpolateWords : RowKernelsV2.interpolateWords
        loop(near.pointer, far.pointer, place, count, out.pointer)
    }

    @inline(__always) func doubleWordsToBytes(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, count: Int, scratch: MutableRow<UInt16>,
        even: MutableRow<UInt8>?, odd: MutableRow<UInt8>?
    ) {
        let loop =
            isV4
            ? RowKernelsV4.doubleWordsToBytes : isV3 ? RowKernelsV3.doubleWordsToBytes : RowKernelsV2.doubleWordsToBytes
        loop(rows.pointers(count: 5), channels, taps, count, scratch.pointer, even?.pointer, odd?.pointer)
    }

    @inline(__always) func filterWordRows(
        _ rows: borrowing RowList<UInt16>, rowCount: Int, channels: Int, vertical: [UInt16], verticalRadius: Int,
        horizontal: [UInt16], horizontalRadius: Int, count: Int, scratch: MutableRow<UInt16>,
        into out: borrowing MutableRowList<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.filterWordRows : isV3 ? RowKernelsV3.filterWordRows : RowKernelsV2.filterWordRows
        loop(
            rows.pointers(count: rowCount + 2 * verticalRadius), rowCount, channels, vertical, verticalRadius,
            horizontal, horizontalRadius, count, scratch.pointer, out.pointers(count: rowCount))
    }

    @inline(__always) func filterBytePair(
        _ rows: borrowing RowList<UInt8>, channels: Int, radius: Int, vertical: [UInt16], horizontal: [UInt16],
        count: Int, streams: Bool, scratch: MutableRow<UInt16>, first: MutableRow<UInt8>, second: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.filterBytePair : isV3 ? RowKernelsV3.filterBytePair : RowKernelsV2.filterBytePair
        loop(
            rows.pointers(count: 2 * radius + 2), channels, radius, vertical, horizontal, count, streams,
            scratch.pointer, first.pointer, second.pointer)
    }

    @inline(__always) func filterWordRow(
        _ rows: borrowing RowList<UInt16>, from first: Int = 0, channels: Int, radius: Int, vertical: [UInt16],
        horizontal: [UInt16], count: Int, scratch: MutableRow<UInt16>, bytes: MutableRow<UInt8>?,
        words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.filterWordRow : isV3 ? RowKernelsV3.filterWordRow : RowKernelsV2.filterWordRow
        loop(
            rows.pointers(from: first, count: 2 * radius + 1), channels, radius, vertical, horizontal, count,
            scratch.pointer, bytes?.pointer, words?.pointer)
    }

    @inline(__always) func filterSparse(
        center: Row<UInt16>, pairs: borrowing RowList<UInt16>, pairCount: Int, weights: [UInt16], count: Int,
        bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.filterSparse : isV3 ? RowKernelsV3.filterSparse : RowKernelsV2.filterSparse
        loop(
            center.pointer, pairs.pointers(count: 2 * pairCount), pairCount, weights, count, bytes?.pointer(for: count),
            words?.pointer(for: count))
    }

    @inline(__always) func averageSparse(
        center: Row<UInt16>, pairs: borrowing RowList<UInt16>, pairCount: Int, shift: Int, weights: [UInt16],
        count: Int, bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.averageSparse : isV3 ? RowKernelsV3.averageSparse : RowKernelsV2.averageSparse
        loop(
            center.pointer, pairs.pointers(count: 2 * pairCount), pairCount, shift, weights, count,
            bytes?.pointer(for: count), words?.pointer(for: count))
    }

    @inline(__always) func slideSums(entering: Row<UInt16>, leaving: Row<UInt16>, count: Int, sums: MutableRow<UInt32>)
    {
        let loop = isV4 ? RowKernelsV4.slideSums : isV3 ? RowKernelsV3.slideSums : RowKernelsV2.slideSums
        loop(entering.pointer(for: count), leaving.pointer(for: count), count, sums.pointer(for: count))
    }

    @inline(__always) func addToSums(_ entering: Row<UInt16>, count: Int, sums: MutableRow<UInt32>) {
        let loop = isV4 ? RowKernelsV4.addToSums : isV3 ? RowKernelsV3.addToSums : RowKernelsV2.addToSums
        loop(entering.pointer(for: count), count, sums.pointer(for: count))
    }

    @inline(__always) func sumWindows(
        _ row: Row<UInt16>, channels: Int, length: Int, count: Int, sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.sumWindows : isV3 ? RowKernelsV3.sumWindows : RowKernelsV2.sumWindows
        loop(row.pointer, channels, length, count, sums.pointer)
    }

    @inline(__always) func weighSums(
        _ sums: Row<UInt32>, weight: Float, pairs: borrowing RowList<UInt16>, first: Float, second: Float, count: Int,
        words: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.weighSums : isV3 ? RowKernelsV3.weighSums : RowKernelsV2.weighSums
        loop(sums.pointer, weight, pairs.pointers(count: 4), first, second, count, words.pointer)
    }

    @inline(__always) func addLines(
        entering: Row<UInt16>, enteringWeights: Row<UInt16>, taps: Int, stride: Int, count: Int,
        sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.addLines : isV3 ? RowKernelsV3.addLines : RowKernelsV2.addLines
        loop(
            entering.pointer(for: count + taps * stride), enteringWeights.pointer(for: taps), taps, stride, count,
            sums.pointer(for: count))
    }

    @inline(__always) func slideLines(
        entering: Row<UInt16>, enteringWeights: Row<UInt16>, leaving: Row<UInt16>, leavingWeights: Row<UInt16>,
        taps: Int, stride: Int, count: Int, sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.slideLines : isV3 ? RowKernelsV3.slideLines : RowKernelsV2.slideLines
        loop(
            entering.pointer(for: count + taps * stride), enteringWeights.pointer(for: taps),
            leaving.pointer(for: count + taps * stride), leavingWeights.pointer(for: taps), taps, stride, count,
            sums.pointer(for: count))
    }

    @inline(__always) func weighLines(
        _ sums: borrowing RowList<UInt32>, sumWeights: [Float], bias: Float, most: Float,
        pairs: borrowing RowList<UInt16>, weights: [UInt16], count: Int, bytes: MutableRow<UInt8>?,
        words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.weighLines : isV3 ? RowKernelsV3.weighLines : RowKernelsV2.weighLines
        loop(
            sums.pointers(count: sumWeights.count), sumWeights, sumWeights.count, bias, most,
            pairs.pointers(count: 2 * weights.count), weights.count, weights, count, bytes?.pointer(for: count),
            words?.pointer(for: count))
    }

    @inline(__always) func roundWords(_ words: Row<UInt16>, count: Int, bytes: MutableRow<UInt8>) {
        let loop = isV4 ? RowKernelsV4.roundWords : isV3 ? RowKernelsV3.roundWords : RowKernelsV2.roundWords
        loop(words.pointer(for: count), count, bytes.pointer(for: count))
    }

    @inline(__always) func loadBytePlanes(
        _ source: Row<UInt8>, channels: Int, multiplies: Bool, count: Int, planes: MutableRow<Float>, planeStride: Int
    ) {
        let loop =
            isV4 ? RowKernelsV4.loadBytePlanes : isV3 ? RowKernelsV3.loadBytePlanes : RowKernelsV2.loadBytePlanes
        loop(
            source.pointer(for: count * channels), channels, multiplies, count,
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride)
    }

    @inline(__always) func loadWordPlanes(
        _ source: Row<UInt16>, channels: Int, multiplies: Bool, count: Int, planes: MutableRow<Float>, planeStride: Int
    ) {
        let loop =
            isV4 ? RowKernelsV4.loadWordPlanes : isV3 ? RowKernelsV3.loadWordPlanes : RowKernelsV2.loadWordPlanes
        loop(
            source.pointer(for: count * channels), channels, multiplies, count,
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride)
    }

    @inline(__always) func loadFloatPlanes(
        _ source: Row<Float>, channels: Int, multiplies: Bool, count: Int, planes: MutableRow<Float>, planeStride: Int
    ) {
        let loop =
            isV4 ? RowKernelsV4.loadFloatPlanes : isV3 ? RowKernelsV3.loadFloatPlanes : RowKernelsV2.loadFloatPlanes
        loop(
            source.pointer(for: count * channels), channels, multiplies, count,
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride)
    }

    @inline(__always) func lookUpBytePlane(
        _ source: Row<UInt8>, channels: Int, table: [Double], from position: Int, count: Int, plane: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.lookUpBytePlane : isV3 ? RowKernelsV3.lookUpBytePlane : RowKernelsV2.lookUpBytePlane
        table.withRow { loop(source.pointer, channels, ($0 + position).pointer, count, plane.pointer(for: count)) }
    }

    @inline(__always) func lookUpWordPlane(
        _ source: Row<UInt16>, channels: Int, table: [Double], from position: Int, count: Int, plane: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.lookUpWordPlane : isV3 ? RowKernelsV3.lookUpWordPlane : RowKernelsV2.lookUpWordPlane
        table.withRow { loop(source.pointer, channels, ($0 + position).pointer, count, plane.pointer(for: count)) }
    }

    @inline(__always) func storeBytePlanes(
        _ planes: Row<Float>, planeStride: Int, channels: Int, count: Int, out: MutableRow<UInt8>
    ) {
        let loop =
            isV4 ? RowKernelsV4.storeBytePlanes : isV3 ? RowKernelsV3.storeBytePlanes : RowKernelsV2.storeBytePlanes
        loop(
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride, channels, count,
            out.pointer(for: count * channels))
    }

    @inline(__always) func storeWordPlanes(
        _ planes: Row<Float>, planeStride: Int, channels: Int, count: Int, out: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.storeWordPlanes : isV3 ? RowKernelsV3.storeWordPlanes : RowKernelsV2.storeWordPlanes
        loop(
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride, channels, count,
            out.pointer(for: count * channels))
    }

    @inline(__always) func storeFloatPlanes(
        _ planes: Row<Float>, planeStride: Int, channels: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.storeFloatPlanes : isV3 ? RowKernelsV3.storeFloatPlanes : RowKernelsV2.storeFloatPlanes
        loop(
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride, channels, count,
            out.pointer(for: count * channels))
    }

    @inline(__always) func roundPlane(_ plane: MutableRow<Float>, full: Float, count: Int) {
        let loop = isV4 ? RowKernelsV4.roundPlane : isV3 ? RowKernelsV3.roundPlane : RowKernelsV2.roundPlane
        loop(plane.pointer(for: count), full, count)
    }

    @inline(__always) func lookUpBytes(
        _ plane: Row<Float>, table: [UInt8], channels: Int, count: Int, out: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.lookUpBytes : isV3 ? RowKernelsV3.lookUpBytes : RowKernelsV2.lookUpBytes
        loop(plane.pointer(for: count), table, channels, count, out.pointer)
    }

    @inline(__always) func premultiply(_ source: Row<UInt8>, colors: Int, pixels: Int, out: MutableRow<UInt16>) {
        let loop = isV4 ? RowKernelsV4.premultiply : isV3 ? RowKernelsV3.premultiply : RowKernelsV2.premultiply
        loop(source.pointer, colors, pixels, out.pointer)
    }

    @inline(__always) func unpremultiply(
        _ source: Row<UInt16>, zero: UInt16, colors: Int, pixels: Int, out: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.unpremultiply : isV3 ? RowKernelsV3.unpremultiply : RowKernelsV2.unpremultiply
        loop(source.pointer, zero, colors, pixels, out.pointer)
    }

    @inline(__always) func isOpaque(_ source: Row<UInt8>, channels: Int, pixels: Int) -> Bool {
        let loop = isV4 ? RowKernelsV4.isOpaque : isV3 ? RowKernelsV3.isOpaque : RowKernelsV2.isOpaque
        return loop(source.pointer(for: channels * pixels), channels, pixels)
    }

    /// Copies `count` values of any trivial type.
    @inline(__always) func storeRow<Value: BitwiseCopyable>(
        _ source: Row<Value>, count: Int, streams: Bool, out: MutableRow<Value>
    ) {
        let loop = isV4 ? RowKernelsV4.storeRow : isV3 ? RowKernelsV3.storeRow : RowKernelsV2.storeRow
        loop(
            UnsafeRawPointer(source.pointer(for: count)).assumingMemoryBound(to: UInt8.self),
            count * MemoryLayout<Value>.stride, streams,
            UnsafeMutableRawPointer(out.pointer(for: count)).assumingMemoryBound(to: UInt8.self))
    }

    @inline(__always) func endStreaming() {
        let loop = isV4 ? RowKernelsV4.endStreaming : isV3 ? RowKernelsV3.endStreaming : RowKernelsV2.endStreaming
        loop()
    }

    @inline(__always) func widenBytes(_ source: Row<UInt8>, count: Int, shift: Int, out: MutableRow<UInt16>) {
        let loop = isV4 ? RowKernelsV4.widenBytes : isV3 ? RowKernelsV3.widenBytes : RowKernelsV2.widenBytes
        loop(source.pointer(for: count), count, shift, out.pointer(for: count))
    }

    @inline(__always) func sumFloatPairs(
        center: Row<Float>?, centerWeight: Float, pairs: borrowing RowList<Float>, pairCount: Int, weights: [Float],
        count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sumFloatPairs : isV3 ? RowKernelsV3.sumFloatPairs : RowKernelsV2.sumFloatPairs
        loop(
            center?.pointer, centerWeight, pairs.pointers(count: 2 * pairCount), pairCount, weights, count,
            out.pointer(for: count))
    }

    @inline(__always) func sumFloatRows(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: [Float], count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sumFloatRows : isV3 ? RowKernelsV3.sumFloatRows : RowKernelsV2.sumFloatRows
        loop(rows.pointers(count: rowCount), rowCount, weights, count, out.pointer(for: count))
    }

    @inline(__always) func addFloatRows(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: [Float], count: Int, to target: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.addFloatRows : isV3 ? RowKernelsV3.addFloatRows : RowKernelsV2.addFloatRows
        loop(rows.pointers(count: rowCount), rowCount, weights, count, target.pointer(for: count))
    }

    /// The same with weights in memory.
    @inline(__always) func addFloatRows(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: Row<Float>, count: Int, to target: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.addFloatRows : isV3 ? RowKernelsV3.addFloatRows : RowKernelsV2.addFloatRows
        loop(
            rows.pointers(count: rowCount), rowCount, weights.pointer(for: rowCount), count, target.pointer(for: count))
    }

    @inline(__always) func splitFloats(_ row: Row<Float>, count: Int, even: MutableRow<Float>, odd: MutableRow<Float>) {
        let loop = isV4 ? RowKernelsV4.splitFloats : isV3 ? RowKernelsV3.splitFloats : RowKernelsV2.splitFloats
        loop(row.pointer(for: 2 * count), count, even.pointer(for: count), odd.pointer(for: count))
    }

    @inline(__always) func sumAndSplitFloats(
        _ rows: borrowing RowList<Float>, taps: Int, weights: [Float], count: Int, even: MutableRow<Float>,
        odd: MutableRow<Float>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.sumAndSplitFloats : isV3 ? RowKernelsV3.sumAndSplitFloats : RowKernelsV2.sumAndSplitFloats
        loop(rows.pointers(count: taps), taps, weights, count, even.pointer(for: count), odd.pointer(for: count))
    }

    @inline(__always) func sumSplitFloats(
        even: Row<Float>, odd: Row<Float>, taps: Int, weights: [Float], count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sumSplitFloats : isV3 ? RowKernelsV3.sumSplitFloats : RowKernelsV2.sumSplitFloats
        loop(even.pointer(for: count), odd.pointer(for: count), taps, weights, count, out.pointer(for: count))
    }

    @inline(__always) func doubleFloatRows(
        _ rows: borrowing RowList<Float>, taps: Int, evenWeights: [Float], oddWeights: [Float], count: Int,
        even: MutableRow<Float>, odd: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.doubleFloatRows : isV3 ? RowKernelsV3.doubleFloatRows : RowKernelsV2.doubleFloatRows
        loop(
            rows.pointers(count: 2 * (taps / 4) + 1), taps, evenWeights, oddWeights, count, even.pointer(for: count),
            odd.pointer(for: count))
    }

    @inline(__always) func doubleFloats(
        _ row: Row<Float>, taps: Int, evenWeights: [Float], oddWeights: [Float], count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.doubleFloats : isV3 ? RowKernelsV3.doubleFloats : RowKernelsV2.doubleFloats
        loop(row.pointer(for: count), taps, evenWeights, oddWeights, count, out.pointer(for: 2 * count))
    }

    @inline(__always) func resampleRow(
        _ row: Row<Float>, starts: [Int32], counts: [Int32], weights: [Float], stride: Int, count: Int,
        out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.resampleRow : isV3 ? RowKernelsV3.resampleRow : RowKernelsV2.resampleRow
        loop(row.pointer, starts, counts, weights, stride, count, out.pointer(for: count))
    }

    /// - Parameter table: nil for the kernel of Catmull-Rom.
    @inline(__always) func warpRow(
        _ pixels: Row<Float>, area: [Int], values: Int, table: [Float]?, map: [Double], x: Int, y: Int, most: Int,
        count: Int, scratch: MutableRow<Double>, out: MutableRow<Float>
    ) {
        precondition(area.count == 4 && map.count == 9, "an area has four numbers, and a map has nine")
        precondition(table.map { $0.count == 8200 } ?? true, "a table has eight numbers for each of 1025 places")
        let loop = isV4 ? RowKernelsV4.warpRow : isV3 ? RowKernelsV3.warpRow : RowKernelsV2.warpRow
        loop(
            pixels.pointer(for: area[2] * area[3] * values), area, values, table != nil, table ?? [], map, x, y, most,
            count, scratch.pointer(for: 8 * ((count + 15) & ~15)), out.pointer(for: count * values))
    }

    @inline(__always) func warpBytes(
        _ pixels: Row<UInt8>, area: [Int], bytes: Int, isWide: Bool, table: [Int16], map: [Double], x: Int, y: Int,
        most: Int, count: Int, scratch: MutableRow<Double>, out: MutableRow<Int32>
    ) {
        precondition(area.count == 4 && map.count == 9, "an area has four numbers, and a map has nine")
        precondition(table.count == 2048 * (isWide ? 6 : 4) + 2, "a table has the weights of 2048 phases")
        let loop = isV4 ? RowKernelsV4.warpBytes : isV3 ? RowKernelsV3.warpBytes : RowKernelsV2.warpBytes
        loop(
            pixels.pointer(for: area[2] * area[3] * bytes + 32), area, bytes, isWide, table, map, x, y, most, count,
            scratch.pointer(for: 2 * ((count + 7) & ~7)), out.pointer(for: bytes == 1 ? count : 4 * count))
    }

    @inline(__always) func roundSums(_ sums: Row<Int32>, channels: Int, count: Int, out: MutableRow<UInt8>) {
        let loop = isV4 ? RowKernelsV4.roundSums : isV3 ? RowKernelsV3.roundSums : RowKernelsV2.roundSums
        loop(
            sums.pointer(for: (channels < 3 ? 1 : 4) * count + 15), channels, count,
            out.pointer(for: channels * (count + 16)))
    }

    @inline(__always) func wordsOfSums(_ sums: Row<Int32>, count: Int, out: MutableRow<UInt16>) {
        let loop = isV4 ? RowKernelsV4.wordsOfSums : isV3 ? RowKernelsV3.wordsOfSums : RowKernelsV2.wordsOfSums
        loop(sums.pointer(for: 4 * (count + 1)), count, out.pointer(for: 4 * (count + 1)))
    }

    @inline(__always) func fourSamples(
        _ source: Row<UInt8>, channels: Int, alphas: Row<UInt8>, count: Int, out: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.fourSamples : isV3 ? RowKernelsV3.fourSamples : RowKernelsV2.fourSamples
        loop(
            source.pointer(for: channels * (count + 16)), channels, alphas.pointer(for: count + 16), count,
            out.pointer(for: 4 * (count + 16)))
    }

    @inline(__always) func joinPlanes(
        _ planes: Row<Float>, planeStride: Int, channels: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.joinPlanes : isV3 ? RowKernelsV3.joinPlanes : RowKernelsV2.joinPlanes
        loop(
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride, channels, count,
            out.pointer(for: count * (channels == 3 ? 4 : channels)))
    }

    @inline(__always) func splitPixels(
        _ pixels: Row<Float>, channels: Int, count: Int, planes: MutableRow<Float>, planeStride: Int
    ) {
        let loop = isV4 ? RowKernelsV4.splitPixels : isV3 ? RowKernelsV3.splitPixels : RowKernelsV2.splitPixels
        loop(
            pixels.pointer(for: count * (channels == 3 ? 4 : channels)), channels, count,
            planes.pointer(for: (channels - 1) * planeStride + count), planeStride)
    }

    @inline(__always) func addFloats(_ row: Row<Float>, to target: MutableRow<Float>, count: Int) {
        let loop = isV4 ? RowKernelsV4.addFloats : isV3 ? RowKernelsV3.addFloats : RowKernelsV2.addFloats
        loop(row.pointer(for: count), target.pointer(for: count), count)
    }

    @inline(__always) func scaleFloats(_ row: MutableRow<Float>, by factor: Float, count: Int) {
        let loop = isV4 ? RowKernelsV4.scaleFloats : isV3 ? RowKernelsV3.scaleFloats : RowKernelsV2.scaleFloats
        loop(row.pointer(for: count), factor, count)
    }

    @inline(__always) func bilateralRow(
        taps: borrowing RowList<Float>, space: [Float], tapCount: Int, center: Row<Float>, planeStride: Int,
        channels: Int, scale: Float, count: Int, out: MutableRow<Float>, outStride: Int
    ) {
        let loop = isV4 ? RowKernelsV4.bilateralRow : isV3 ? RowKernelsV3.bilateralRow : RowKernelsV2.bilateralRow
        loop(
            taps.pointers(count: tapCount), space, tapCount, center.pointer, planeStride, channels, scale, count,
            out.pointer, outStride)
    }

    @inline(__always) func rangesOfBlocks(
        _ rows: borrowing RowList<Float>, rowCount: Int, count: Int, ranges: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.rangesOfBlocks : isV3 ? RowKernelsV3.rangesOfBlocks : RowKernelsV2.rangesOfBlocks
        loop(rows.pointers(count: rowCount), rowCount, count, ranges.pointer(for: 2 * ((count + 15) / 16)))
    }

    @inline(__always) func spreadToNodes(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: Row<Float>, weightStride: Int, level: Float,
        limit: Float, ranges: Row<Float>, count: Int, scratch: MutableRow<Float>,
        nodes: borrowing MutableRowList<Float>, nodeCount: Int, planeStride: Int
    ) -> Bool {
        let loop = isV4 ? RowKernelsV4.spreadToNodes : isV3 ? RowKernelsV3.spreadToNodes : RowKernelsV2.spreadToNodes
        return loop(
            rows.pointers(count: rowCount), rowCount, weights.pointer(for: (nodeCount - 1) * weightStride + rowCount),
            weightStride, level, limit, ranges.pointer(for: 2 * ((count + 15) / 16)), count,
            scratch.pointer(for: 32 * rowCount), nodes.pointers(count: nodeCount), nodeCount, planeStride)
    }

    @inline(__always) func sumAtNodes(
        _ row: Row<Float>, step: Int, weights: [Float], count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sumAtNodes : isV3 ? RowKernelsV3.sumAtNodes : RowKernelsV2.sumAtNodes
        precondition(weights.count % 16 == 0, "weights fill whole vectors")
        loop(
            row.pointer(for: (count - 1) * step + weights.count), step, weights, weights.count, count,
            out.pointer(for: count))
    }

    @inline(__always) func collectAlongRow(
        _ nodes: Row<Float>, nodeCount: Int, bands: [Float], step: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.collectAlongRow : isV3 ? RowKernelsV3.collectAlongRow : RowKernelsV2.collectAlongRow
        precondition(bands.count == 16 * nodeCount * step, "a node has its weights")
        let blocks = (count + 15) / 16
        loop(
            nodes.pointer(for: 16 * (blocks - 1) / step + nodeCount), nodeCount, bands, step, count,
            out.pointer(for: 16 * blocks))
    }

    @inline(__always) func collectFromNodes(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: Row<Float>, weightStride: Int, level: Float,
        limit: Float, ranges: Row<Float>, count: Int, nodes: borrowing MutableRowList<Float>, nodeCount: Int,
        planeStride: Int, sums: borrowing MutableRowList<Float>, sumStride: Int
    ) {
        let loop =
            isV4
            ? RowKernelsV4.collectFromNodes : isV3 ? RowKernelsV3.collectFromNodes : RowKernelsV2.collectFromNodes
        loop(
            rows.pointers(count: rowCount), rowCount, weights.pointer(for: (nodeCount - 1) * weightStride + rowCount),
            weightStride, level, limit, ranges.pointer(for: 2 * ((count + 15) / 16)), count,
            nodes.pointers(count: nodeCount), nodeCount, planeStride, sums.pointers(count: rowCount), sumStride)
    }

    @inline(__always) func squareDifferences(
        _ one: Row<Float>, _ other: Row<Float>, planeStride: Int, channels: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.squareDifferences : isV3 ? RowKernelsV3.squareDifferences : RowKernelsV2.squareDifferences
        let (values, room) = ((channels - 1) * planeStride + count + 15, count + 15)
        loop(one.pointer(for: values), other.pointer(for: values), planeStride, channels, count, out.pointer(for: room))
    }

    @inline(__always) func addAlikePixels(
        _ squares: borrowing RowList<Float>, side: Int, tap: Row<Float>, planeStride: Int, channels: Int, count: Int,
        scratch: MutableRow<Float>, sums: MutableRow<Float>, sumStride: Int
    ) {
        let loop = isV4 ? RowKernelsV4.addAlikePixels : isV3 ? RowKernelsV3.addAlikePixels : RowKernelsV2.addAlikePixels
        loop(
            squares.pointers(count: side), side, tap.pointer(for: (channels - 1) * planeStride + count + 15),
            planeStride, channels, count, scratch.pointer(for: count + side + 31),
            sums.pointer(for: channels * sumStride + count + 15), sumStride)
    }

    @inline(__always) func divideFloats(_ row: MutableRow<Float>, by weights: Row<Float>, factor: Float, count: Int) {
        let loop = isV4 ? RowKernelsV4.divideFloats : isV3 ? RowKernelsV3.divideFloats : RowKernelsV2.divideFloats
        loop(row.pointer(for: count), weights.pointer(for: count), factor, count)
    }

    @inline(__always) func zoomDirectly(
        _ picture: SweptPicture, center: [Double], x: Int, y: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.zoomDirectly : isV3 ? RowKernelsV3.zoomDirectly : RowKernelsV2.zoomDirectly
        loop(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, x, y, count, out.pointer)
    }

    @inline(__always) func spinDirectly(
        _ picture: SweptPicture, center: [Double], turns: [Double], x: Int, y: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.spinDirectly : isV3 ? RowKernelsV3.spinDirectly : RowKernelsV2.spinDirectly
        loop(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, turns, x, y, count, out.pointer)
    }

    @inline(__always) func sampleRing(
        _ picture: SweptPicture, center: [Double], radius: Double, coarse: Row<Double>, fine: Row<Double>, first: Int,
        count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sampleRing : isV3 ? RowKernelsV3.sampleRing : RowKernelsV2.sampleRing
        loop(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, radius, coarse.pointer, fine.pointer, first, count, out.pointer)
    }

    @inline(__always) func sumRing(
        _ picture: SweptPicture, center: [Double], radius: Double, coarse: Row<Double>, fine: Row<Double>, first: Int,
        count: Int, scratch: MutableRow<UInt8>, sums: MutableRow<UInt32>
    ) {
        let loop = isV4 ? RowKernelsV4.sumRing : isV3 ? RowKernelsV3.sumRing : RowKernelsV2.sumRing
        loop(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, radius, coarse.pointer, fine.pointer, first, count, UnsafeMutableRawPointer(scratch.pointer),
            sums.pointer)
    }

    @inline(__always) func sampleRay(
        _ picture: SweptPicture, center: [Double], stepX: Double, stepY: Double, first: Int, count: Int,
        out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sampleRay : isV3 ? RowKernelsV3.sampleRay : RowKernelsV2.sampleRay
        loop(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, stepX, stepY, first, count, out.pointer)
    }

    @inline(__always) func sumBlocks(
        _ line: Row<Float>, count: Int, phase: Int, length: Int, heads: MutableRow<Float>, tails: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sumBlocks : isV3 ? RowKernelsV3.sumBlocks : RowKernelsV2.sumBlocks
        loop(line.pointer, count, phase, length, heads.pointer, tails.pointer)
    }

    @inline(__always) func slideMeans(
        heads: Row<Float>, tails: Row<Float>, phase: Int, length: Int, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.slideMeans : isV3 ? RowKernelsV3.slideMeans : RowKernelsV2.slideMeans
        loop(heads.pointer, tails.pointer, phase, length, count, out.pointer)
    }

    @inline(__always) func zoomMeans(
        _ line: Row<Float>, heads: Row<Float>, tails: Row<Float>, blockBits: Int, factor: Double, first: Int,
        count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.zoomMeans : isV3 ? RowKernelsV3.zoomMeans : RowKernelsV2.zoomMeans
        loop(line.pointer, heads.pointer, tails.pointer, blockBits, factor, first, count, out.pointer)
    }

    @inline(__always) func interpolateLines(
        _ lines: Row<Float>, stride: Int, firstLine: Int, firstSample: Int, across: Row<Double>, along: Row<Double>,
        count: Int, out: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.interpolateLines : isV3 ? RowKernelsV3.interpolateLines : RowKernelsV2.interpolateLines
        loop(lines.pointer, stride, firstLine, firstSample, across.pointer, along.pointer, count, out.pointer)
    }

    @inline(__always) func interpolateRings(
        _ sums: Row<UInt32>, stride: Int, firstRing: Int, firstSample: Int, window: Int, across: Row<Double>,
        along: Row<Double>, count: Int, scale: Float, out: MutableRow<Float>
    ) {
        let loop =
            isV4 ? RowKernelsV4.interpolateRings : isV3 ? RowKernelsV3.interpolateRings : RowKernelsV2.interpolateRings
        loop(
            sums.pointer, stride, firstRing, firstSample, window, across.pointer, along.pointer, count, scale,
            out.pointer)
    }

    @inline(__always) func packWords(
        _ values: Row<Float>, count: Int, channels: Int, scale: Float, full: Float, out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.packWords : isV3 ? RowKernelsV3.packWords : RowKernelsV2.packWords
        loop(values.pointer, count, channels, scale, full, out.pointer)
    }

    @inline(__always) func scatterWords(
        _ values: Row<Float>, at pixels: Row<Int32>, count: Int, channels: Int, scale: Float, full: Float,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.scatterWords : isV3 ? RowKernelsV3.scatterWords : RowKernelsV2.scatterWords
        loop(values.pointer, pixels.pointer, count, channels, scale, full, out.pointer)
    }

    @inline(__always) func placeInRings(
        right: Row<Double>, down: Row<Double>, count: Int, scaleOfDistances: Double, scaleOfTurns: Double,
        distances: MutableRow<Double>, turns: MutableRow<Double>
    ) {
        let loop = isV4 ? RowKernelsV4.placeInRings : isV3 ? RowKernelsV3.placeInRings : RowKernelsV2.placeInRings
        loop(
            right.pointer(for: count), down.pointer(for: count), count, scaleOfDistances, scaleOfTurns,
            distances.pointer(for: count), turns.pointer(for: count))
    }

    @inline(__always) func lookUpWeights(_ index: Row<UInt16>, table: Row<Float>, count: Int, out: MutableRow<Float>) {
        let loop = isV4 ? RowKernelsV4.lookUpWeights : isV3 ? RowKernelsV3.lookUpWeights : RowKernelsV2.lookUpWeights
        loop(index.pointer(for: count), table.pointer, count, out.pointer(for: count))
    }

    @inline(__always) func addWeighted(_ row: Row<Float>, weights: Row<Float>, count: Int, to target: MutableRow<Float>)
    {
        let loop = isV4 ? RowKernelsV4.addWeighted : isV3 ? RowKernelsV3.addWeighted : RowKernelsV2.addWeighted
        loop(row.pointer(for: count), weights.pointer(for: count), count, target.pointer(for: count))
    }

    // MARK: Box blurs on whole samples; see `BoxRows.swift` in `RowKernels`.

    @inline(__always) func slideByteColumns(
        _ rows: SlidingRows<UInt8>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideByteColumns : isV3 ? RowKernelsV3.slideByteColumns : RowKernelsV2.slideByteColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always) func slideWordColumns(
        _ rows: SlidingRows<UInt16>, weight: Double, tail: Double, isShort: Bool, count: Int, sums: MutableRow<Int32>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideWordColumns : isV3 ? RowKernelsV3.slideWordColumns : RowKernelsV2.slideWordColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, isShort,
            count, sums.pointer, words.pointer)
    }

    @inline(__always) func slideShortColumns(
        _ rows: SlidingRows<UInt8>, shift: Int, weight: UInt16, tail: UInt16, count: Int, sums: MutableRow<UInt16>,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.slideShortColumns : isV3 ? RowKernelsV3.slideShortColumns : RowKernelsV2.slideShortColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, shift, weight, tail,
            count, sums.pointer, words.pointer)
    }

    @inline(__always) func slideSampleColumns(
        _ rows: SlidingRows<UInt16>, weight: Float, tail: Float, count: Int, sums: MutableRow<Int32>,
        means: MutableRow<UInt32>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.slideSampleColumns : isV3 ? RowKernelsV3.slideSampleColumns : RowKernelsV2.slideSampleColumns
        loop(
            rows.entering.pointer, rows.leaving.pointer, rows.above.pointer, rows.below.pointer, weight, tail, count,
            sums.pointer, means.pointer)
    }

    @inline(__always) func averageAlong(
        _ row: Row<UInt16>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        let loop = isV4 ? RowKernelsV4.averageAlong : isV3 ? RowKernelsV3.averageAlong : RowKernelsV2.averageAlong
        loop(row.pointer, channels, length, weight, tail, count, bytes?.pointer, words?.pointer)
    }

    @inline(__always) func averageWideAlong(
        _ row: Row<UInt32>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
        words: MutableRow<UInt16>
    ) {
        let loop =
            isV4 ? RowKernelsV4.averageWideAlong : isV3 ? RowKernelsV3.averageWideAlong : RowKernelsV2.averageWideAlong
        loop(row.pointer, channels, length, weight, tail, count, words.pointer)
    }

    // MARK: Disc blurs on 8-bit samples; see `DiscRows.swift`.

    /// - Parameter isWide: whether values are words in 8.7 fixed point, instead of samples.
    @inline(__always) func slideDiscs(
        isWide: Bool, entering: borrowing RowList<UInt16>, enteringCount: Int, leaving: borrowing RowList<UInt16>,
        leavingCount: Int,
        count: Int, sums: MutableRow<UInt32>
    ) {
        let loop =
            isWide
            ? (isV4 ? RowKernelsV4.slideWordDiscs : isV3 ? RowKernelsV3.slideWordDiscs : RowKernelsV2.slideWordDiscs)
            : (isV4 ? RowKernelsV4.slideByteDiscs : isV3 ? RowKernelsV3.slideByteDiscs : RowKernelsV2.slideByteDiscs)
        loop(
            entering.pointers(count: enteringCount), enteringCount, leaving.pointers(count: leavingCount), leavingCount,
            count, sums.pointer)
    }

    @inline(__always) func weighDiscs(
        isWide: Bool, sums: Row<UInt32>, weight: Float, taps: borrowing RowList<UInt16>, counts: [Int32],
        weights: [Float],
        groups: Int, count: Int, words: MutableRow<UInt16>, bytes: MutableRow<UInt8>
    ) {
        let loop =
            isWide
            ? (isV4 ? RowKernelsV4.weighWordDiscs : isV3 ? RowKernelsV3.weighWordDiscs : RowKernelsV2.weighWordDiscs)
            : (isV4 ? RowKernelsV4.weighByteDiscs : isV3 ? RowKernelsV3.weighByteDiscs : RowKernelsV2.weighByteDiscs)
        loop(
            sums.pointer, weight, taps.pointers(count: counts.reduce(0) { $0 + Int($1) }), counts, weights, groups,
            count, words.pointer, bytes.pointer)
    }

    // MARK: Medians.

    @inline(__always) func medianOfBytes(
        _ rows: borrowing RowList<UInt8>, radius: Int, channels: Int, count: Int, streams: Bool,
        scratch: MutableRow<UInt8>, first: MutableRow<UInt8>, second: MutableRow<UInt8>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfBytes : isV3 ? RowKernelsV3.medianOfBytes : RowKernelsV2.medianOfBytes
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, streams, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always) func medianOfWords(
        _ rows: borrowing RowList<UInt16>, radius: Int, channels: Int, count: Int, streams: Bool,
        scratch: MutableRow<UInt16>, first: MutableRow<UInt16>, second: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfWords : isV3 ? RowKernelsV3.medianOfWords : RowKernelsV2.medianOfWords
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, streams, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always) func medianOfRanks(
        _ rows: borrowing RowList<Int32>, radius: Int, channels: Int, count: Int, scratch: MutableRow<Int32>,
        first: MutableRow<Int32>, second: MutableRow<Int32>
    ) {
        let loop = isV4 ? RowKernelsV4.medianOfRanks : isV3 ? RowKernelsV3.medianOfRanks : RowKernelsV2.medianOfRanks
        loop(
            rows.pointers(count: 2 * radius + 2), radius, channels, count, scratch.pointer, first.pointer,
            second.pointer)
    }

    @inline(__always) func addToHistograms(
        _ row: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>
    ) {
        let loop =
            isV4 ? RowKernelsV4.addToHistograms : isV3 ? RowKernelsV3.addToHistograms : RowKernelsV2.addToHistograms
        loop(row.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always) func slideHistograms(
        entering: Row<UInt8>, leaving: Row<UInt8>, steps: Row<UInt8>, count: Int, histograms: MutableRow<UInt8>
    ) {
        let loop =
            isV4 ? RowKernelsV4.slideHistograms : isV3 ? RowKernelsV3.slideHistograms : RowKernelsV2.slideHistograms
        loop(entering.pointer(for: count), leaving.pointer(for: count), steps.pointer, count, histograms.pointer)
    }

    @inline(__always) func medianOfHistograms(
        _ histograms: Row<UInt8>, columns: Int, channel: Int, channels: Int, radius: Int, pixels: Int,
        scratch: MutableRow<UInt64>, out: MutableRow<UInt8>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.medianOfHistograms : isV3 ? RowKernelsV3.medianOfHistograms : RowKernelsV2.medianOfHistograms
        loop(
            histograms.pointer, columns, channel, channels, radius, pixels, UnsafeMutableRawPointer(scratch.pointer),
            out.pointer)
    }

    @inline(__always) func rankFloats(_ values: MutableRow<Float>, count: Int) {
        let loop = isV4 ? RowKernelsV4.rankFloats : isV3 ? RowKernelsV3.rankFloats : RowKernelsV2.rankFloats
        loop(values.pointer(for: count), count)
    }

    @inline(__always) func unrankFloats(_ ranks: MutableRow<Int32>, count: Int) {
        let loop = isV4 ? RowKernelsV4.unrankFloats : isV3 ? RowKernelsV3.unrankFloats : RowKernelsV2.unrankFloats
        loop(ranks.pointer(for: count), count)
    }

    @inline(__always) func sortEntries(
        _ entries: MutableRow<UInt64>, spare: MutableRow<UInt64>, counts: MutableRow<Int>, count: Int
    ) {
        let loop = isV4 ? RowKernelsV4.sortEntries : isV3 ? RowKernelsV3.sortEntries : RowKernelsV2.sortEntries
        loop(entries.pointer(for: count), spare.pointer(for: count), counts.pointer(for: 256), count)
    }

    @inline(__always) func medianOfPositions(
        _ positions: Row<UInt32>, width: Int, height: Int, radius: Int, bits: MutableRow<UInt64>, sorted: Row<UInt64>,
        out: MutableRow<Int32>
    ) {
        let loop =
            isV4
            ? RowKernelsV4.medianOfPositions : isV3 ? RowKernelsV3.medianOfPositions : RowKernelsV2.medianOfPositions
        loop(positions.pointer, width, height, radius, bits.pointer, sorted.pointer, out.pointer)
    }

    // MARK: Unsharp masks; see `SharpenedRows.swift`.

    @inline(__always) func sharpenWords(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, count: Int,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenWords : isV3 ? RowKernelsV3.sharpenWords : RowKernelsV2.sharpenWords
        loop(source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always) func sharpenFloats(
        _ source: Row<Float>, blurred: Row<Float>, amount: Float, threshold: Float, count: Int, out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenFloats : isV3 ? RowKernelsV3.sharpenFloats : RowKernelsV2.sharpenFloats
        loop(source.pointer(for: count), blurred.pointer(for: count), amount, threshold, count, out.pointer(for: count))
    }

    @inline(__always) func sharpenColorFloats(
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

    @inline(__always) func sharpenPixels(
        _ source: Row<UInt16>, blurred: Row<UInt16>, amount: Float, threshold: Float, colors: Int, pixels: Int,
        out: MutableRow<UInt16>
    ) {
        let loop = isV4 ? RowKernelsV4.sharpenPixels : isV3 ? RowKernelsV3.sharpenPixels : RowKernelsV2.sharpenPixels
        loop(source.pointer, blurred.pointer, amount, threshold, colors, pixels, out.pointer)
    }

    /// - Parameter matrix: for each row the shares of red and of blue; rows have sums of 1.
    func turnHues(_ pixels: ColorPixels, matrix: [Float]) {
        precondition(matrix.count == 6, "two shares for each row")
        let (channels, count) = (pixels.channels, pixels.count)
        switch pixels.samples {
        case .u8(let row):
            let loop = isV4 ? RowKernelsV4.turnByteHues : isV3 ? RowKernelsV3.turnByteHues : RowKernelsV2.turnByteHues
            let scratch = RowBuffer<UInt8>(count: 16 * channels)
            loop(row.pointer(for: count * channels), channels, matrix, count, scratch.start.pointer)
        case .u16(let row):
            let loop = isV4 ? RowKernelsV4.turnWordHues : isV3 ? RowKernelsV3.turnWordHues : RowKernelsV2.turnWordHues
            let scratch = RowBuffer<UInt16>(count: 16 * channels)
            loop(row.pointer(for: count * channels), channels, matrix, count, scratch.start.pointer)
        case .f32(let row):
            let loop =
                isV4 ? RowKernelsV4.turnFloatHues : isV3 ? RowKernelsV3.turnFloatHues : RowKernelsV2.turnFloatHues
            let scratch = RowBuffer<Float>(count: 16 * channels)
            loop(row.pointer(for: count * channels), channels, matrix, count, scratch.start.pointer)
        }
    }

    /// - Parameters:
    ///   - points: `size`³ colours; red counts fastest.
    ///   - domain: for red, green and blue the sample's value at the start of the grid, and then the steps for a unit.
    func mapColors(_ pixels: ColorPixels, points: [SIMD4<Float>], size: Int, domain: [Float], strength: Float) {
        precondition((2...160).contains(size) && points.count == size * size * size, "a grid is complete")
        precondition(domain.count == 6, "two numbers for each channel")
        let (channels, count) = (pixels.channels, pixels.count)
        let places = RowBuffer<Float>(count: 160)
        points.withUnsafeBytes { bytes in
            guard let points = bytes.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
            switch pixels.samples {
            case .u8(let row):
                let loop =
                    isV4 ? RowKernelsV4.mapByteColors : isV3 ? RowKernelsV3.mapByteColors : RowKernelsV2.mapByteColors
                let scratch = RowBuffer<UInt8>(count: 16 * channels)
                loop(
                    row.pointer(for: count * channels), channels, points, size, domain, strength, count,
                    scratch.start.pointer, places.start.pointer)
            case .u16(let row):
                let loop =
                    isV4 ? RowKernelsV4.mapWordColors : isV3 ? RowKernelsV3.mapWordColors : RowKernelsV2.mapWordColors
                let scratch = RowBuffer<UInt16>(count: 16 * channels)
                loop(
                    row.pointer(for: count * channels), channels, points, size, domain, strength, count,
                    scratch.start.pointer, places.start.pointer)
            case .f32(let row):
                let loop =
                    isV4
                    ? RowKernelsV4.mapFloatColors : isV3 ? RowKernelsV3.mapFloatColors : RowKernelsV2.mapFloatColors
                let scratch = RowBuffer<Float>(count: 16 * channels)
                loop(
                    row.pointer(for: count * channels), channels, points, size, domain, strength, count,
                    scratch.start.pointer, places.start.pointer)
            }
        }
    }

    /// - Parameter table: 256 rows, one for each byte of the brightest channel of a pixel.
    func mapTones(_ pixels: MutableRow<UInt8>, channels: Int, table: [UInt8], count: Int) {
        precondition(table.count == 65536, "every byte has a result for every brightest one")
        let loop = isV4 ? RowKernelsV4.mapByteTones : isV3 ? RowKernelsV3.mapByteTones : RowKernelsV2.mapByteTones
        loop(pixels.pointer(for: count * channels), channels, table, count)
    }

    /// Replaces each byte by its value in a table of 256.
    func lookUp(_ samples: MutableRow<UInt8>, table: [UInt8], count: Int) {
        precondition(table.count == 256, "every byte has a value")
        let loop = isV4 ? RowKernelsV4.mapBytes : isV3 ? RowKernelsV3.mapBytes : RowKernelsV2.mapBytes
        loop(samples.pointer(for: count), table, count)
    }

    /// - Parameters:
    ///   - pixels: 16 bits or floats, stored by the curve of sRGB.
    ///   - scale: from the input's light to multiples of the display's.
    ///   - peak: the light that becomes full intensity, in these multiples.
    func mapTones(_ pixels: ColorPixels, _ curve: MappedTones, scale: Double, peak: Double) {
        let (channels, count, number) = (pixels.channels, pixels.count, curve.number)
        let numbers = [scale, peak] + curve.numbers
        switch pixels.samples {
        case .u8: preconditionFailure("bytes have a table")
        case .u16(let row):
            let loop = isV4 ? RowKernelsV4.mapWordTones : isV3 ? RowKernelsV3.mapWordTones : RowKernelsV2.mapWordTones
            let scratch = RowBuffer<UInt16>(count: 16 * channels)
            loop(row.pointer(for: count * channels), channels, number, numbers, count, scratch.start.pointer)
        case .f32(let row):
            let loop =
                isV4 ? RowKernelsV4.mapFloatTones : isV3 ? RowKernelsV3.mapFloatTones : RowKernelsV2.mapFloatTones
            let scratch = RowBuffer<Float>(count: 16 * channels)
            loop(row.pointer(for: count * channels), channels, number, numbers, count, scratch.start.pointer)
        }
    }

    /// The planes of a row are followed by room for whole vectors, and so is the brightness.
    func brighten(
        _ row: PlaneRow, colors: Int, full: Float, brightness: Row<Float>, shadows: Float, highlights: Float
    ) {
        let loop = isV4 ? RowKernelsV4.brightenPlanes : isV3 ? RowKernelsV3.brightenPlanes : RowKernelsV2.brightenPlanes
        loop(
            row.plane(0).pointer(for: (row.channels - 1) * row.stride + row.count + 15), row.stride, colors,
            row.channels > colors, full, brightness.pointer(for: row.count + 15), shadows, highlights, row.count)
    }

    /// The planes of a row are followed by room for whole vectors, and so is the brightness.
    func addContrast(
        _ row: PlaneRow, colors: Int, full: Float, brightness: Row<Float>, amount: Float, limits: Bool
    ) {
        let loop = isV4 ? RowKernelsV4.addContrast : isV3 ? RowKernelsV3.addContrast : RowKernelsV2.addContrast
        loop(
            row.plane(0).pointer(for: (row.channels - 1) * row.stride + row.count + 15), row.stride, colors,
            row.channels > colors, full, brightness.pointer(for: row.count + 15), amount, limits, row.count)
    }

    /// The planes of an opaque row are followed by room for whole vectors.
    func writeLuma(_ row: PlaneRow, factor: Float, out: MutableRow<Float>) {
        let loop = isV4 ? RowKernelsV4.writeLuma : isV3 ? RowKernelsV3.writeLuma : RowKernelsV2.writeLuma
        loop(
            row.plane(0).pointer(for: (row.channels - 1) * row.stride + row.count + 15), row.stride, row.channels,
            factor, row.count, out.pointer(for: row.count + 15))
    }

    /// - Parameter records: a record for each pixel of the row.
    func writeMoments(_ row: PlaneRow, scale: Float, records: MutableRow<Float>) {
        let loop = isV4 ? RowKernelsV4.writeMoments : isV3 ? RowKernelsV3.writeMoments : RowKernelsV2.writeMoments
        loop(
            UnsafePointer(row.plane(0).pointer(for: (row.channels - 1) * row.stride + row.count)), row.stride,
            row.colors, row.hasAlpha, scale, row.count, records.pointer(for: row.count * (row.hasAlpha ? 16 : 8)))
    }

    func slideRecords(
        heads: Row<Float>, tails: Row<Float>?, hasAlpha: Bool, weight: Float, phase: Int, length: Int, count: Int,
        line: MutableRow<Float>, sums: MutableRow<Float>, out: MutableRow<Float>
    ) {
        precondition(count >= length && (0..<length).contains(phase), "a row has a whole window")
        let size = hasAlpha ? 16 : 8
        let loop = isV4 ? RowKernelsV4.slideRecords : isV3 ? RowKernelsV3.slideRecords : RowKernelsV2.slideRecords
        loop(
            heads.pointer(for: count * size), tails?.pointer(for: count * size), hasAlpha, weight, phase, length, count,
            line.pointer(for: count * size), sums.pointer(for: count * size),
            out.pointer(for: (count - length + 1) * size))
    }

    func fitLines(_ records: MutableRow<Float>, hasAlpha: Bool, epsilon: Float, count: Int) {
        let loop = isV4 ? RowKernelsV4.fitLines : isV3 ? RowKernelsV3.fitLines : RowKernelsV2.fitLines
        loop(records.pointer(for: count * (hasAlpha ? 16 : 8)), hasAlpha, epsilon, count)
    }

    /// - Parameter row: its colours are replaced.
    func applyLines(_ records: Row<Float>, to row: PlaneRow, scale: Float, full: Float) {
        let loop = isV4 ? RowKernelsV4.applyLines : isV3 ? RowKernelsV3.applyLines : RowKernelsV2.applyLines
        loop(
            records.pointer(for: row.count * (row.hasAlpha ? 16 : 8)),
            row.plane(0).pointer(for: (row.channels - 1) * row.stride + row.count), row.stride, row.colors,
            row.hasAlpha, scale, full, row.count)
    }

    /// - Parameters:
    ///   - front: followed by room for whole vectors in each plane.
    ///   - start: the first pixel of the row that is covered.
    func layPlanes(
        front: Row<Float>, frontStride: Int, isFrontGray: Bool, over back: PlaneRow, from start: Int, count: Int,
        mode: Int, full: Float
    ) {
        precondition(start >= 0 && start + count <= back.count, "a picture covers pixels of the row")
        let loop = isV4 ? RowKernelsV4.layPlanes : isV3 ? RowKernelsV3.layPlanes : RowKernelsV2.layPlanes
        loop(
            front.pointer(for: (isFrontGray ? 1 : 3) * frontStride + count + 15), frontStride, isFrontGray,
            (back.plane(0) + start).pointer(for: (back.channels - 1) * back.stride + count + 15), back.stride,
            back.colors == 1, back.hasAlpha, mode, full, count)
    }

    /// - Parameters:
    ///   - upper, lower: each has a value before it, and is followed by room for whole vectors.
    ///   - out: followed by room for whole vectors.
    func shiftPlane(
        upper: Row<Float>?, lower: Row<Float>?, upperWeight: Float, leftWeight: Float, factor: Float, count: Int,
        out: MutableRow<Float>
    ) {
        let loop = isV4 ? RowKernelsV4.shiftPlane : isV3 ? RowKernelsV3.shiftPlane : RowKernelsV2.shiftPlane
        loop(
            upper.map { ($0 - 1).pointer(for: count + 16) + 1 }, lower.map { ($0 - 1).pointer(for: count + 16) + 1 },
            upperWeight, leftWeight, factor, count, out.pointer(for: count + 15))
    }
}

/// A curve of tone mapping with the numbers that its loops need.
enum MappedTones {
    case hable(white: Double)
    /// One over the square of the peak.
    case reinhard(share: Double)
    /// The light from which on the curve bends, the display's light as a share of PQ's, the PQ value of the peak, and the start and
    /// the end of the spline as shares of that.
    case bt2390(knee: Double, target: Double, peak: Double, start: Double, end: Double)

    /// The number of the curve in `mapWordTones`.
    fileprivate var number: Int {
        switch self {
        case .hable: 0
        case .reinhard: 1
        case .bt2390: 2
        }
    }

    /// In the order of `mapWordTones`.
    fileprivate var numbers: [Double] {
        switch self {
        case .hable(let white): [white]
        case .reinhard(let share): [share]
        case .bt2390(let knee, let target, let peak, let start, let end): [knee, target, peak, start, end]
        }
    }
}
