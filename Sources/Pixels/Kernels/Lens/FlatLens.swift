import Catalogs
import Geometry

/// A lens blur of the same radius everywhere; see ``LensBlur``.
struct FlatLens: WorkingKernel {
    let sum: ApertureSum
    let brightening: LensBrightening?
    let operations: RowOperations

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        for rect in LensBlock.parts(of: area) { apply(reader, part: rect, to: &sink) }
    }

    private func apply(_ reader: PixelReader, part rect: PixelRect, to sink: inout some WorkingRowSink) {
        let block = LensBlock(rect, reader, reach: sum.reach, brightening, operations)
        let scratch = ApertureSum.Scratch(width: rect.width, reach: sum.reach)
        let whole = [Range<Int>](repeating: 0..<SumPlane.rounded(rect.width), count: rect.height)
        let sums = (0..<block.channels).map { channel in
            let plane = SumPlane(width: rect.width, height: rect.height)
            sum.add(
                { Row(block.row(channel, $0)) }, isEmpty: { _ in false }, ranges: whole, to: plane, scratch: scratch)
            return plane
        }
        let result = PlaneBuffer(rect.columns, channels: block.channels)
        for y in 0..<rect.height {
            for (channel, plane) in sums.enumerated() {
                result.plane(channel).update(from: Row(plane.row(y)), count: rect.width)
                operations.scaleFloats(result.plane(channel), by: 1 / sum.total, count: rect.width)
            }
            sink.write(result.row(rect.y + y, operations))
        }
    }
}
