import Catalogs
import Geometry
import Raster

/// A wide Gaussian of 8-bit samples, computed in whole numbers, whose rows are given out before they are rounded to 8 bits.
struct FixedLevel {
    private let reader: PixelReader
    private let design: AxisDesign<UInt16>
    private let operations: RowOperations

    init(_ reader: PixelReader, _ design: AxisDesign<UInt16>, _ operations: RowOperations) {
        (self.reader, self.design, self.operations) = (reader, design, operations)
    }

    /// Adds 128 times the working values.
    func addRows(of rect: PixelRect, to sums: PlaneSums) {
        let channels = reader.layout.channels
        let planes = RowBuffer<Float>(count: rect.width * channels)
        FixedPoint.withBytes(of: reader.source, columns: rect.columns) { bytes in
            for part in FixedPyramid.parts(of: rect, channels: channels, reach: design.reach) {
                FixedPyramid(
                    bytes, layout: reader.layout, output: part, horizontal: design, vertical: design, operations
                ).renderWords { y, words in
                    for channel in 0..<channels {
                        operations.loadWordPlane(
                            words + channel, channels: channels, alpha: nil, count: part.width,
                            plane: planes.start + channel * part.width)
                    }
                    sums.add(
                        PlaneRow(
                            planes.start, stride: part.width, count: part.width, channels: channels, x: part.x, y: y,
                            operations))
                }
            }
        }
    }
}
