import Catalogs
import Geometry
import Raster

/// Working values (see ``PixelReader``) in single precision, a plane for each channel, at any coordinate.
///
/// Contiguous columns of the raster are converted by vector loops. Other columns are read pixel by pixel, with the same
/// results.
final class FloatSource {
    private typealias Place = (reader: PixelReader, position: Int)

    private enum Rows {
        case present(PixelReader, core: Range<Int>)
        case arriving(ArrivingBands)
    }

    private let rows: Rows
    private let columns: AxisTable
    private let operations: RowOperations
    private let run: (coordinates: Range<Int>, shift: Int)
    /// What every pixel is multiplied by; nil for 1. The weights themselves are one more plane.
    private let weights: StrengthWeights?
    private var row: [Double] = []

    /// - Parameter columns: the columns that will be read.
    init(
        _ reader: PixelReader, columns: Range<Int>, weights: StrengthWeights? = nil, _ operations: RowOperations
    ) {
        self.operations = operations
        self.weights = weights
        rows = .present(reader, core: reader.source.rows.core)
        self.columns = reader.source.columns
        run = self.columns.longestRun(in: columns)
    }

    /// A source whose rows are still arriving. Each row is read once, from the top down.
    ///
    /// - Parameter table: the table of the bands' columns.
    init(_ bands: ArrivingBands, _ table: AxisTable, columns: Range<Int>, _ operations: RowOperations) {
        self.operations = operations
        weights = nil
        rows = .arriving(bands)
        self.columns = table
        run = table.longestRun(in: columns)
    }

    /// Nil for a transparent row.
    private func place(_ y: Int) -> Place? {
        switch rows {
        case .present(let reader, let core):
            let position = reader.source.rows[min(max(y, core.lowerBound), core.upperBound - 1)]
            return position < 0 ? nil : (reader, position)
        case .arriving(let bands): return bands.row(at: y)
        }
    }

    /// Reads a row into a ring that has a plane for each channel, and fills its margins.
    func read(_ y: Int, into ring: RowRing<Float>) {
        let place = place(y)
        let columns = ring.columns
        let inside = columns.clamped(to: run.coordinates)
        if let place, !inside.isEmpty, convert(inside, place, into: ring, y) {
            readOneByOne(columns.lowerBound..<inside.lowerBound, place, into: ring, y)
            readOneByOne(inside.upperBound..<columns.upperBound, place, into: ring, y)
        } else {
            readOneByOne(columns, place, into: ring, y)
        }
        weights?.apply(to: ring, y)
        ring.pad(y)
    }

    private func readOneByOne(_ wanted: Range<Int>, _ place: Place?, into ring: RowRing<Float>, _ y: Int) {
        let channels = weights == nil ? ring.planes : ring.planes - 1
        // Values beyond the table are never used: a ring is read in whole pairs of columns.
        let columns = wanted.clamped(to: self.columns.range)
        guard !columns.isEmpty else { return }
        let count = columns.count * channels
        if count != row.count { row = Array(repeating: 0, count: count) }
        if let place {
            var values = row.mutableSpan
            place.reader.read(columns: columns, atPosition: place.position, into: &values)
        } else {
            for index in row.indices { row[index] = 0 }
        }
        for channel in 0..<channels {
            let plane = ring.pixel(x: columns.lowerBound, y: y) + channel * ring.planeStride
            for index in 0..<columns.count { plane[unchecked: index] = Float(row[index * channels + channel]) }
        }
    }

    /// Converts columns with a loop. Returns false if there is none: for linear light with alpha, and for floats.
    private func convert(_ columns: Range<Int>, _ place: Place, into ring: RowRing<Float>, _ y: Int) -> Bool {
        let (reader, position) = place
        let stored = reader.source.raster.layout
        let start =
            position * reader.source.raster.rect.width * stored.channels
            + (columns.lowerBound + run.shift) * stored.channels
        guard reader.light == .encoded || !stored.hasAlpha && reader.source.raster.format != .f32 else { return false }
        let planes = ring.pixel(x: columns.lowerBound, y: y)
        if reader.tones == nil {
            load(reader, start, stored, columns.count, planes, ring.planeStride)
        } else {
            for channel in 0..<stored.channels {
                lookUp(reader, start + channel, channel, columns.count, planes + channel * ring.planeStride)
            }
        }
        if reader.layout.channels > stored.channels {
            let plane = ring.pixel(x: columns.lowerBound, y: y) + stored.channels * ring.planeStride
            plane.update(repeating: Float(reader.source.raster.format.full), count: columns.count)
        }
        return true
    }

    private func load(
        _ reader: PixelReader, _ start: Int, _ layout: PixelLayout, _ count: Int, _ planes: MutableRow<Float>,
        _ planeStride: Int
    ) {
        let channels = layout.channels
        switch reader.source.raster {
        case .u8(let raster):
            raster.samples.withRow { samples in
                operations.loadBytePlanes(
                    samples + start, channels: channels, multiplies: true, count: count, planes: planes,
                    planeStride: planeStride)
            }
        case .u16(let raster):
            raster.samples.withRow { samples in
                operations.loadWordPlanes(
                    samples + start, channels: channels, multiplies: true, count: count, planes: planes,
                    planeStride: planeStride)
            }
        case .f32(let raster):
            raster.samples.withRow { samples in
                operations.loadFloatPlanes(
                    samples + start, channels: channels, multiplies: true, count: count, planes: planes,
                    planeStride: planeStride)
            }
        }
    }

    /// Converts a channel to linear light. Floats have no table.
    private func lookUp(
        _ reader: PixelReader, _ start: Int, _ channel: Int, _ count: Int, _ plane: MutableRow<Float>
    ) {
        guard let tones = reader.tones else { return }
        let (channels, location) = (reader.source.raster.layout.channels, channel * tones.step)
        switch reader.source.raster {
        case .u8(let raster):
            raster.samples.withRow { samples in
                operations.lookUpBytePlane(
                    samples + start, channels: channels, table: tones.table, from: location, count: count, plane: plane)
            }
        case .u16(let raster):
            raster.samples.withRow { samples in
                operations.lookUpWordPlane(
                    samples + start, channels: channels, table: tones.table, from: location, count: count, plane: plane)
            }
        case .f32: preconditionFailure("floats are converted one by one")
        }
    }
}

/// A filter with few symmetric taps in single precision, for every sample format and light.
struct FloatSparse: WorkingKernel {
    private let taps: SymmetricPairs
    private let weights: [Float]
    private let operations: RowOperations

    init(_ taps: SymmetricPairs, _ operations: RowOperations) {
        self.taps = taps
        self.operations = operations
        weights = taps.pairs.map { Float($0.weight) }
    }

    var halo: Halo { Halo(horizontal: taps.reachX, vertical: taps.reachY) }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        for strip in area.columns.strips(rows: 2 * taps.reachY + 1, margin: taps.reachX) {
            apply(reader, strip, area.rows, to: &sink)
        }
    }

    private func apply(
        _ reader: PixelReader, _ strip: Range<Int>, _ rows: Range<Int>, to sink: inout some WorkingRowSink
    ) {
        let channels = reader.layout.channels
        let columns = strip.lowerBound - taps.reachX..<strip.upperBound + taps.reachX
        let source = FloatSource(reader, columns: columns, operations)
        let ring = RowRing<Float>(
            columns: columns, rows: rows.lowerBound - taps.reachY..<rows.upperBound + taps.reachY, channels: 1,
            planes: channels, capacity: 2 * taps.reachY + 1, margin: 0)
        let sums = PlaneBuffer(strip, channels: channels)
        let list = RowList<Float>(count: 2 * taps.pairs.count + 1)
        for y in rows {
            while ring.lacks(y + taps.reachY) {
                source.read(ring.next, into: ring)
                ring.next += 1
            }
            for plane in 0..<channels {
                sum(ring, y, strip.lowerBound, plane * ring.planeStride, strip.count, list, sums.plane(plane))
            }
            sink.write(sums.row(y, operations))
        }
    }

    private func sum(
        _ ring: RowRing<Float>, _ y: Int, _ x: Int, _ offset: Int, _ count: Int,
        _ list: borrowing RowList<Float>, _ target: MutableRow<Float>
    ) {
        for (index, pair) in taps.pairs.enumerated() {
            list.set(2 * index, Row(ring.pixel(x: x + pair.dx, y: y + pair.dy).moved(unchecked: offset)))
            list.set(2 * index + 1, Row(ring.pixel(x: x - pair.dx, y: y - pair.dy).moved(unchecked: offset)))
        }
        operations.sumFloatPairs(
            center: Row(ring.pixel(x: x, y: y).moved(unchecked: offset)), centerWeight: Float(taps.center), pairs: list,
            pairCount: taps.pairs.count, weights: weights, count: count, out: target)
    }
}

extension Range<Int> {
    /// Divides columns so that the rows of a window stay in the second-level cache. The division does not affect any pixel.
    func strips(rows: Int, margin: Int) -> [Range<Int>] {
        let fitting = (1 << 18) / (rows + 4) - 2 * margin
        let width = Swift.max(fitting, 256, margin)
        return pieces(of: width)
    }
}
