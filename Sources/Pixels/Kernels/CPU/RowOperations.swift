/// The inner loops of one CPU level. They say in `RowKernels` what they take.
struct RowOperations: Sendable {
    private let loops: RowLoops

    static func of(_ level: CPULevel) -> RowOperations { RowOperations(loops: .of(level)) }

    @inline(__always)
    func halveBytes(
        _ rows: borrowing RowList<UInt8>, channels: Int, taps: Int, count: Int, bias: UInt16,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        loops.halveBytes(rows.pointers(count: taps), channels, taps, count, bias, scratch.pointer, out.pointer)
    }

    @inline(__always)
    func halveWords(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, count: Int, bias: UInt16,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        loops.halveWords(rows.pointers(count: taps), channels, taps, count, bias, scratch.pointer, out.pointer)
    }

    @inline(__always)
    func doubleWords(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, isOdd: Bool, count: Int,
        scratch: MutableRow<UInt16>, out: MutableRow<UInt16>
    ) {
        loops.doubleWords(rows.pointers(count: 5), channels, taps, isOdd, count, scratch.pointer, out.pointer)
    }

    @inline(__always)
    func doubleWordsToBytes(
        _ rows: borrowing RowList<UInt16>, channels: Int, taps: Int, count: Int, scratch: MutableRow<UInt16>,
        even: MutableRow<UInt8>?, odd: MutableRow<UInt8>?
    ) {
        loops.doubleWordsToBytes(
            rows.pointers(count: 5), channels, taps, count, scratch.pointer, even?.pointer, odd?.pointer)
    }

    @inline(__always)
    func filterWordRows(
        _ rows: borrowing RowList<UInt16>, rowCount: Int, channels: Int, vertical: [UInt16], verticalRadius: Int,
        horizontal: [UInt16], horizontalRadius: Int, count: Int, scratch: MutableRow<UInt16>,
        into out: borrowing MutableRowList<UInt16>
    ) {
        loops.filterWordRows(
            rows.pointers(count: rowCount + 2 * verticalRadius), rowCount, channels, vertical, verticalRadius,
            horizontal, horizontalRadius, count, scratch.pointer, out.pointers(count: rowCount))
    }

    @inline(__always)
    func filterBytePair(
        _ rows: borrowing RowList<UInt8>, channels: Int, radius: Int, vertical: [UInt16], horizontal: [UInt16],
        count: Int, scratch: MutableRow<UInt16>, first: MutableRow<UInt8>, second: MutableRow<UInt8>
    ) {
        loops.filterBytePair(
            rows.pointers(count: 2 * radius + 2), channels, radius, vertical, horizontal, count, scratch.pointer,
            first.pointer, second.pointer)
    }

    @inline(__always)
    func filterWordRow(
        _ rows: borrowing RowList<UInt16>, from first: Int = 0, channels: Int, radius: Int, vertical: [UInt16],
        horizontal: [UInt16], count: Int, scratch: MutableRow<UInt16>, bytes: MutableRow<UInt8>?,
        words: MutableRow<UInt16>?
    ) {
        loops.filterWordRow(
            rows.pointers(from: first, count: 2 * radius + 1), channels, radius, vertical, horizontal, count,
            scratch.pointer, bytes?.pointer, words?.pointer)
    }

    @inline(__always)
    func filterSparse(
        center: Row<UInt16>, pairs: borrowing RowList<UInt16>, pairCount: Int, weights: [UInt16], count: Int,
        bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        loops.filterSparse(
            center.pointer, pairs.pointers(count: 2 * pairCount), pairCount, weights, count, bytes?.pointer(for: count),
            words?.pointer(for: count))
    }

    @inline(__always)
    func averageSparse(
        center: Row<UInt16>, pairs: borrowing RowList<UInt16>, pairCount: Int, shift: Int, weights: [UInt16],
        count: Int, bytes: MutableRow<UInt8>?, words: MutableRow<UInt16>?
    ) {
        loops.averageSparse(
            center.pointer, pairs.pointers(count: 2 * pairCount), pairCount, shift, weights, count,
            bytes?.pointer(for: count), words?.pointer(for: count))
    }

    @inline(__always)
    func slideSums(entering: Row<UInt16>, leaving: Row<UInt16>, count: Int, sums: MutableRow<UInt32>) {
        loops.slideSums(entering.pointer(for: count), leaving.pointer(for: count), count, sums.pointer(for: count))
    }

    @inline(__always)
    func addToSums(_ entering: Row<UInt16>, count: Int, sums: MutableRow<UInt32>) {
        loops.addToSums(entering.pointer(for: count), count, sums.pointer(for: count))
    }

    @inline(__always)
    func sumWindows(_ row: Row<UInt16>, channels: Int, length: Int, count: Int, sums: MutableRow<UInt32>) {
        loops.sumWindows(row.pointer, channels, length, count, sums.pointer)
    }

    @inline(__always)
    func weighSums(
        _ sums: Row<UInt32>, weight: Float, pairs: borrowing RowList<UInt16>, first: Float, second: Float, count: Int,
        words: MutableRow<UInt16>
    ) {
        loops.weighSums(sums.pointer, weight, pairs.pointers(count: 4), first, second, count, words.pointer)
    }

    @inline(__always)
    func roundWords(_ words: Row<UInt16>, count: Int, bytes: MutableRow<UInt8>) {
        loops.roundWords(words.pointer(for: count), count, bytes.pointer(for: count))
    }

    @inline(__always)
    func loadBytePlane(_ source: Row<UInt8>, channels: Int, alpha: Int?, count: Int, plane: MutableRow<Float>) {
        loops.loadBytePlane(source.pointer, channels, alpha, count, plane.pointer(for: count))
    }

    @inline(__always)
    func loadWordPlane(_ source: Row<UInt16>, channels: Int, alpha: Int?, count: Int, plane: MutableRow<Float>) {
        loops.loadWordPlane(source.pointer, channels, alpha, count, plane.pointer(for: count))
    }

    @inline(__always)
    func loadFloatPlane(_ source: Row<Float>, channels: Int, alpha: Int?, count: Int, plane: MutableRow<Float>) {
        loops.loadFloatPlane(source.pointer, channels, alpha, count, plane.pointer(for: count))
    }

    @inline(__always)
    func lookUpBytePlane(
        _ source: Row<UInt8>, channels: Int, table: [Double], from place: Int, count: Int, plane: MutableRow<Float>
    ) {
        table.withRow {
            loops.lookUpBytePlane(source.pointer, channels, ($0 + place).pointer, count, plane.pointer(for: count))
        }
    }

    @inline(__always)
    func lookUpWordPlane(
        _ source: Row<UInt16>, channels: Int, table: [Double], from place: Int, count: Int, plane: MutableRow<Float>
    ) {
        table.withRow {
            loops.lookUpWordPlane(source.pointer, channels, ($0 + place).pointer, count, plane.pointer(for: count))
        }
    }

    @inline(__always)
    func storeBytePlane(_ plane: Row<Float>, alpha: Row<Float>?, channels: Int, count: Int, out: MutableRow<UInt8>) {
        loops.storeBytePlane(plane.pointer(for: count), alpha?.pointer, channels, count, out.pointer)
    }

    @inline(__always)
    func storeWordPlane(_ plane: Row<Float>, alpha: Row<Float>?, channels: Int, count: Int, out: MutableRow<UInt16>) {
        loops.storeWordPlane(plane.pointer(for: count), alpha?.pointer, channels, count, out.pointer)
    }

    @inline(__always)
    func storeFloatPlane(_ plane: Row<Float>, alpha: Row<Float>?, channels: Int, count: Int, out: MutableRow<Float>) {
        loops.storeFloatPlane(plane.pointer(for: count), alpha?.pointer, channels, count, out.pointer)
    }

    @inline(__always)
    func roundPlane(_ plane: MutableRow<Float>, full: Float, count: Int) {
        loops.roundPlane(plane.pointer(for: count), full, count)
    }

    @inline(__always)
    func lookUpBytes(_ plane: Row<Float>, table: [UInt8], channels: Int, count: Int, out: MutableRow<UInt8>) {
        loops.lookUpBytes(plane.pointer(for: count), table, channels, count, out.pointer)
    }

    @inline(__always)
    func premultiply(_ source: Row<UInt8>, colors: Int, pixels: Int, out: MutableRow<UInt16>) {
        loops.premultiply(source.pointer, colors, pixels, out.pointer)
    }

    @inline(__always)
    func unpremultiply(_ source: Row<UInt16>, zero: UInt16, colors: Int, pixels: Int, out: MutableRow<UInt8>) {
        loops.unpremultiply(source.pointer, zero, colors, pixels, out.pointer)
    }

    @inline(__always)
    func isOpaque(_ source: Row<UInt8>, channels: Int, pixels: Int) -> Bool {
        loops.isOpaque(source.pointer(for: channels * pixels), channels, pixels)
    }

    /// Copies bytes of whatever type; `count` values.
    @inline(__always)
    func storeRow<Value: BitwiseCopyable>(_ source: Row<Value>, count: Int, streams: Bool, out: MutableRow<Value>) {
        loops.storeRow(
            UnsafeRawPointer(source.pointer(for: count)).assumingMemoryBound(to: UInt8.self),
            count * MemoryLayout<Value>.stride, streams,
            UnsafeMutableRawPointer(out.pointer(for: count)).assumingMemoryBound(to: UInt8.self))
    }

    @inline(__always)
    func endStreaming() {
        loops.endStreaming()
    }

    @inline(__always)
    func widenBytes(_ source: Row<UInt8>, count: Int, shift: Int, out: MutableRow<UInt16>) {
        loops.widenBytes(source.pointer(for: count), count, shift, out.pointer(for: count))
    }

    @inline(__always)
    func sumFloatPairs(
        center: Row<Float>?, centerWeight: Float, pairs: borrowing RowList<Float>, pairCount: Int, weights: [Float],
        count: Int, out: MutableRow<Float>
    ) {
        loops.sumFloatPairs(
            center?.pointer, centerWeight, pairs.pointers(count: 2 * pairCount), pairCount, weights, count,
            out.pointer(for: count))
    }

    @inline(__always)
    func sumFloatRows(
        _ rows: borrowing RowList<Float>, rowCount: Int, weights: [Float], count: Int, out: MutableRow<Float>
    ) {
        loops.sumFloatRows(rows.pointers(count: rowCount), rowCount, weights, count, out.pointer(for: count))
    }

    @inline(__always)
    func splitFloats(_ row: Row<Float>, count: Int, even: MutableRow<Float>, odd: MutableRow<Float>) {
        loops.splitFloats(row.pointer(for: count), count, even.pointer, odd.pointer)
    }

    @inline(__always)
    func zipFloats(even: Row<Float>, odd: Row<Float>, count: Int, out: MutableRow<Float>) {
        loops.zipFloats(even.pointer, odd.pointer, count, out.pointer)
    }

    @inline(__always)
    func resampleRow(
        _ row: Row<Float>, starts: [Int32], counts: [Int32], weights: [Float], stride: Int, count: Int,
        out: MutableRow<Float>
    ) {
        loops.resampleRow(row.pointer, starts, counts, weights, stride, count, out.pointer(for: count))
    }

    @inline(__always)
    func addFloats(_ row: Row<Float>, to target: MutableRow<Float>, count: Int) {
        loops.addFloats(row.pointer(for: count), target.pointer(for: count), count)
    }

    @inline(__always)
    func scaleFloats(_ row: MutableRow<Float>, by factor: Float, count: Int) {
        loops.scaleFloats(row.pointer(for: count), factor, count)
    }

    @inline(__always)
    func bilateralRow(
        taps: borrowing RowList<Float>, space: [Float], tapCount: Int, center: Row<Float>, planeStride: Int,
        channels: Int, scale: Float, count: Int, out: MutableRow<Float>, outStride: Int
    ) {
        loops.bilateralRow(
            taps.pointers(count: tapCount), space, tapCount, center.pointer, planeStride, channels, scale, count,
            out.pointer, outStride)
    }

    @inline(__always)
    func zoomDirectly(_ picture: SweptPicture, center: [Double], x: Int, y: Int, count: Int, out: MutableRow<Float>) {
        loops.zoomDirectly(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, x, y, count, out.pointer)
    }

    @inline(__always)
    func spinDirectly(
        _ picture: SweptPicture, center: [Double], turns: [Double], x: Int, y: Int, count: Int, out: MutableRow<Float>
    ) {
        loops.spinDirectly(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, turns, x, y, count, out.pointer)
    }

    @inline(__always)
    func sampleRing(
        _ picture: SweptPicture, center: [Double], radius: Double, coarse: Row<Double>, fine: Row<Double>, first: Int,
        count: Int, out: MutableRow<Float>
    ) {
        loops.sampleRing(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, radius, coarse.pointer, fine.pointer, first, count, out.pointer)
    }

    @inline(__always)
    func sumRing(
        _ picture: SweptPicture, center: [Double], radius: Double, coarse: Row<Double>, fine: Row<Double>, first: Int,
        count: Int, scratch: MutableRow<UInt8>, sums: MutableRow<UInt32>
    ) {
        loops.sumRing(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, radius, coarse.pointer, fine.pointer, first, count, UnsafeMutableRawPointer(scratch.pointer),
            sums.pointer)
    }

    @inline(__always)
    func sampleRay(
        _ picture: SweptPicture, center: [Double], stepX: Double, stepY: Double, first: Int, count: Int,
        out: MutableRow<Float>
    ) {
        loops.sampleRay(
            picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
            center, stepX, stepY, first, count, out.pointer)
    }

    @inline(__always)
    func sumBlocks(
        _ line: Row<Float>, count: Int, phase: Int, length: Int, heads: MutableRow<Float>, tails: MutableRow<Float>
    ) {
        loops.sumBlocks(line.pointer, count, phase, length, heads.pointer, tails.pointer)
    }

    @inline(__always)
    func slideMeans(heads: Row<Float>, tails: Row<Float>, phase: Int, length: Int, count: Int, out: MutableRow<Float>) {
        loops.slideMeans(heads.pointer, tails.pointer, phase, length, count, out.pointer)
    }

    @inline(__always)
    func zoomMeans(
        _ line: Row<Float>, heads: Row<Float>, tails: Row<Float>, blockBits: Int, factor: Double, first: Int,
        count: Int, out: MutableRow<Float>
    ) {
        loops.zoomMeans(line.pointer, heads.pointer, tails.pointer, blockBits, factor, first, count, out.pointer)
    }

    @inline(__always)
    func interpolateLines(
        _ lines: Row<Float>, stride: Int, firstLine: Int, firstSample: Int, across: Row<Double>, along: Row<Double>,
        count: Int, out: MutableRow<Float>
    ) {
        loops.interpolateLines(
            lines.pointer, stride, firstLine, firstSample, across.pointer, along.pointer, count, out.pointer)
    }

    @inline(__always)
    func interpolateRings(
        _ sums: Row<UInt32>, stride: Int, firstRing: Int, firstSample: Int, window: Int, across: Row<Double>,
        along: Row<Double>, count: Int, scale: Float, out: MutableRow<Float>
    ) {
        loops.interpolateRings(
            sums.pointer, stride, firstRing, firstSample, window, across.pointer, along.pointer, count, scale,
            out.pointer)
    }

    @inline(__always)
    func packWords(_ values: Row<Float>, count: Int, channels: Int, scale: Float, full: Float, out: MutableRow<UInt16>)
    {
        loops.packWords(values.pointer, count, channels, scale, full, out.pointer)
    }

    @inline(__always)
    func scatterWords(
        _ values: Row<Float>, at pixels: Row<Int32>, count: Int, channels: Int, scale: Float, full: Float,
        out: MutableRow<UInt16>
    ) {
        loops.scatterWords(values.pointer, pixels.pointer, count, channels, scale, full, out.pointer)
    }

    @inline(__always)
    func placeInRings(
        right: Row<Double>, down: Row<Double>, count: Int, scaleOfDistances: Double, scaleOfTurns: Double,
        distances: MutableRow<Double>, turns: MutableRow<Double>
    ) {
        loops.placeInRings(
            right.pointer(for: count), down.pointer(for: count), count, scaleOfDistances, scaleOfTurns,
            distances.pointer(for: count), turns.pointer(for: count))
    }

    @inline(__always)
    func lookUpWeights(_ index: Row<UInt16>, table: Row<Float>, count: Int, out: MutableRow<Float>) {
        loops.lookUpWeights(index.pointer(for: count), table.pointer, count, out.pointer(for: count))
    }

    @inline(__always)
    func addWeighted(_ row: Row<Float>, weights: Row<Float>, count: Int, to target: MutableRow<Float>) {
        loops.addWeighted(row.pointer(for: count), weights.pointer(for: count), count, target.pointer(for: count))
    }
}
