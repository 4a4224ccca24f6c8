import Catalogs
package import Geometry
import Raster

/// Changes of tone that depend on how bright the surroundings of a pixel are: the luma (Rec. 709) around it, blurred by a
/// Gaussian. All values are those that are stored.
package struct LocalTones: WorkingKernel, LevelChoosing {
    package enum Change: Hashable, Sendable {
        /// Brightens what lies in the dark or in the light: 1 most, −1 darkens most.
        ///
        /// A value becomes its power with the exponent 2^−(shadows·max(0, 1 − 2·B) + highlights·max(0, 2·B − 1)), where B is the
        /// brightness of the surroundings. With both 1 and −1 this is N. Moroney, "Local color correction using non-linear
        /// masking", Color Imaging Conference 2000.
        case brightness(shadows: Double, highlights: Double)
        /// Adds the difference between a pixel's luma Y and that of its surroundings to all channels, times this amount and
        /// 4·Y·(1 − Y): black and white stay.
        case contrast(Double)
    }

    private let change: Change
    private var blur: Gaussian
    package var level: CPULevel {
        get { blur.level }
        set { blur.level = newValue }
    }

    /// - Parameter radius: the standard deviation of the surroundings, in pixels, 0 to 1000.
    package init(_ change: Change, radius: Double) {
        self.change = change
        blur = Gaussian(radius: radius)
    }

    package var halo: Halo { blur.halo }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let operations = RowOperations.of(level)
        let (layout, format) = (reader.layout, reader.source.raster.format)
        let surroundings = BrightnessAround(blur, of: reader, area: area, operations)
        let source = PlaneRows(reader, area, operations)
        for y in area.rows {
            let planes = source.read(y)
            let brightness = Row(surroundings.read(y))
            switch change {
            case .brightness(let shadows, let highlights):
                operations.brighten(
                    planes, colors: layout.removingAlpha.channels, full: Float(format.full), brightness: brightness,
                    shadows: Float(shadows), highlights: Float(highlights))
            case .contrast(let amount):
                operations.addContrast(
                    planes, colors: layout.removingAlpha.channels, full: Float(format.full), brightness: brightness,
                    amount: Float(amount), limits: format != .f32)
            }
            sink.write(planes)
        }
    }
}

/// The rows of an area, one at a time, with a plane for each channel.
private struct PlaneRows {
    private let source: FloatSource
    private let ring: RowRing<Float>
    private let operations: RowOperations

    init(_ reader: PixelReader, _ area: PixelRect, _ operations: RowOperations) {
        source = FloatSource(reader, columns: area.columns, operations)
        ring = RowRing(
            columns: area.columns, rows: area.rows, channels: 1, planes: reader.layout.channels, capacity: 1, margin: 0)
        self.operations = operations
    }

    /// The values may be changed. They are valid until the next row is read. Rows are read from the top down.
    func read(_ y: Int) -> PlaneRow {
        source.read(y, into: ring)
        return PlaneRow(
            ring.row(y), stride: ring.planeStride, count: ring.columns.count, channels: ring.planes,
            x: ring.columns.lowerBound, y: y, operations)
    }
}

/// The blurred luma around the pixels of an area, on a scale where 1 is full intensity.
private struct BrightnessAround {
    private let rows: PlaneRows
    private let hasAlpha: Bool
    private let scale: Float

    /// - Precondition: the reader's tables cover `area` and the kernel's halo around it.
    init(_ blur: Gaussian, of picture: PixelReader, area: PixelRect, _ operations: RowOperations) {
        // Only what the blur reads, since a mask may have many parts.
        let lumas = picture.lumas(in: area.expanded(by: blur.halo), operations)
        let layout = lumas.layout
        var blurred = AnyRaster(zeroed: area, layout: layout, format: lumas.format)
        blur.render(KernelSource(lumas), light: .encoded, into: &blurred)
        rows = PlaneRows(PixelReader(KernelSource(blurred), layout: layout, light: .encoded), area, operations)
        hasAlpha = layout.hasAlpha
        scale = Float(1 / lumas.format.full)
    }

    /// The result is NaN where nothing is visible. It is valid until the next row is read.
    func read(_ y: Int) -> MutableRow<Float> {
        let row = rows.read(y)
        let brightness = row.plane(0)
        if hasAlpha {
            row.operations.divideFloats(brightness, by: Row(row.plane(1)), factor: 1, count: row.count)
        } else if scale != 1 {
            row.operations.scaleFloats(brightness, by: scale, count: row.count)
        }
        return brightness
    }
}

extension PixelReader {
    /// The luma of each pixel, with its alpha: 16 bits of an opaque picture of integers, and floats of any other. (Of a thin alpha, 16 bits
    /// keep too little.)
    fileprivate func lumas(in area: PixelRect, _ operations: RowOperations) -> AnyRaster {
        guard !layout.hasAlpha else {
            var around = AnyRaster(zeroed: area, layout: layout, format: source.raster.format)
            source.copyPixels(to: &around)
            return .f32(around.lumasWithAlpha)
        }
        let rows = PlaneRows(self, area, operations)
        let luma = RowBuffer<Float>(count: area.width + 32)
        func read(_ y: Int, _ factor: Double) -> Row<Float> {
            operations.writeLuma(rows.read(y), factor: Float(factor), out: luma.start)
            return Row(luma.start)
        }
        let full = source.raster.format.full
        if source.raster.format == .f32 {
            var result = Raster<Float>(rect: area, layout: .gray, repeating: 0)
            result.samples.withMutableRow { samples in
                for y in area.rows {
                    operations.storeFloatPlanes(
                        read(y, 1), planeStride: 0, channels: 1, count: area.width,
                        out: samples + (y - area.y) * area.width)
                }
            }
            return .f32(result)
        }
        var result = Raster<UInt16>(rect: area, layout: .gray, repeating: 0)
        result.samples.withMutableRow { samples in
            for y in area.rows {
                operations.storeWordPlanes(
                    read(y, UInt16.full / full), planeStride: 0, channels: 1, count: area.width,
                    out: samples + (y - area.y) * area.width)
            }
        }
        return .u16(result)
    }
}

extension AnyRaster {
    fileprivate var lumasWithAlpha: Raster<Float> {
        switch self {
        case .u8(let raster): raster.lumasWithAlpha()
        case .u16(let raster): raster.lumasWithAlpha()
        case .f32(let raster): raster.lumasWithAlpha()
        }
    }
}

extension Raster {
    fileprivate func lumasWithAlpha() -> Raster<Float> {
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let scale = 1 / Sample.full
        var result: [Float] = []
        result.reserveCapacity(rect.area * 2)
        let samples = samples.span
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let luma =
                colors == 1
                ? samples[pixel].double
                : 0.2126 * samples[pixel].double + 0.7152 * samples[pixel + 1].double
                    + 0.0722 * samples[pixel + 2].double
            result.append(Float(rounding: luma * scale))
            result.append(Float(rounding: samples[pixel + colors].double * scale))
        }
        return Raster<Float>(rect: rect, layout: .grayAlpha, samples: result)
    }
}
