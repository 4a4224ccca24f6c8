package import Catalogs
import Geometry
package import Raster

/// Converts working values (see ``PixelReader``) into the stored pixels of a raster.
///
/// Alpha is rounded first. Colours are divided by the *stored* alpha, so that multiplying them with it again gives the nearest
/// value. Where the stored alpha is 0, the colours are 0. Integers round half up, and floats are stored as they are.
///
/// Kernels with negative weights may give an alpha above full, with colours that exceed it equally. Such colours are divided
/// by the computed alpha, not by the stored full one. One colour therefore stays that colour, whatever its alpha.
package struct PixelWriter: WorkingRowSink {
    /// The raster with the pixels that are written so far.
    package private(set) var raster: AnyRaster
    /// The conversion of colours from linear light; nil if they are stored as they are.
    let tones: EncodingTones?

    /// - Parameters:
    ///   - raster: the raster to write into; consume it, or else every write copies it.
    ///   - curve: the transfer curve of the picture, for linear light.
    package init(_ raster: consuming AnyRaster, light: Light, curve: TransferCurve = .sRGB) {
        tones = light == .linear ? curve.encoding(raster.format) : nil
        self.raster = raster
    }

    /// Writes with the light and curve of a reader.
    package init(_ raster: consuming AnyRaster, like reader: PixelReader) {
        self.init(raster, light: reader.light, curve: reader.source.curve)
    }

    package var layout: PixelLayout { raster.layout }

    mutating func modifyRaster(_ body: (inout AnyRaster) -> Void) { body(&raster) }

    /// Writes the pixels of row `y` from `x` on. They must lie in the raster.
    package mutating func write(_ row: Span<Double>, x: Int, y: Int) {
        switch raster {
        case .u8(var target):
            raster = .empty
            encode(row, x, y, into: &target)
            raster = .u8(target)
        case .u16(var target):
            raster = .empty
            encode(row, x, y, into: &target)
            raster = .u16(target)
        case .f32(var target):
            raster = .empty
            encode(row, x, y, into: &target)
            raster = .f32(target)
        }
    }

    private func encode<Sample: TransferSample>(
        _ row: Span<Double>, _ x: Int, _ y: Int, into target: inout Raster<Sample>
    ) {
        let start = target.index(x: x, y: y)
        let pixel = PixelEncoder(layout: target.layout, tones)
        let channels = target.layout.channels
        var samples = target.samples.mutableSpan
        for index in stride(from: 0, to: row.count, by: channels) {
            pixel.encode(row, at: index, into: &samples, at: start + index)
        }
    }
}

/// Converts the working values of one pixel into samples; see ``PixelWriter``.
struct PixelEncoder {
    private let colors: Int
    private let hasAlpha: Bool
    private let isLinear: Bool
    private let tones: EncodingTones

    init(layout: PixelLayout, _ tones: EncodingTones?) {
        colors = layout.removingAlpha.channels
        hasAlpha = layout.hasAlpha
        isLinear = tones != nil
        self.tones = tones ?? .none
    }

    @inline(__always) func encode<Sample: TransferSample>(
        _ row: Span<Double>, at from: Int, into samples: inout MutableSpan<Sample>, at to: Int
    ) {
        guard hasAlpha else {
            for channel in 0..<colors { samples[to + channel] = sample(row[from + channel], channel) }
            return
        }
        let alpha = Sample(rounding: row[from + colors])
        let isClear = alpha.double == 0
        let divisor =
            row[from + colors] > alpha.double && alpha.double == Sample.full ? row[from + colors] : alpha.double
        for channel in 0..<colors {
            let color = isClear ? 0 : row[from + channel] * Sample.full / divisor
            samples[to + channel] = sample(color, channel)
        }
        samples[to + colors] = alpha
    }

    @inline(__always) private func sample<Sample: TransferSample>(_ value: Double, _ channel: Int) -> Sample {
        isLinear ? Sample(linear: value, tones, channel) : Sample(rounding: value)
    }
}

extension PixelWriter {
    /// Writes planes with vector loops, with the results of ``write(_:x:y:)``. Formats without a loop are written by rows.
    package mutating func write(_ planes: PlaneRow) {
        // Only the bytes of sRGB are in a table.
        if let tones, tones.bytes.isEmpty || layout.hasAlpha { return writeInterleaved(planes) }
        let (operations, count, channels, tones) = (planes.operations, planes.count, layout.channels, tones)
        let (first, stride) = (Row(planes.plane(0)), planes.stride)
        guard count > 0 else { return }
        if layout.hasAlpha { roundAlpha(planes) }
        modifyRaster { raster in
            switch raster {
            case .u8(var target):
                raster = .empty
                let start = target.index(x: planes.x, y: planes.y)
                target.samples.withMutableRow { samples in
                    if let tones {
                        for channel in 0..<channels {
                            operations.lookUpBytes(
                                Row(planes.plane(channel)), table: tones.bytes, channels: channels, count: count,
                                out: samples + start + channel)
                        }
                    } else {
                        operations.storeBytePlanes(
                            first, planeStride: stride, channels: channels, count: count, out: samples + start)
                    }
                }
                raster = .u8(target)
            case .u16(var target):
                raster = .empty
                let start = target.index(x: planes.x, y: planes.y)
                target.samples.withMutableRow { samples in
                    operations.storeWordPlanes(
                        first, planeStride: stride, channels: channels, count: count, out: samples + start)
                }
                raster = .u16(target)
            case .f32(var target):
                raster = .empty
                let start = target.index(x: planes.x, y: planes.y)
                target.samples.withMutableRow { samples in
                    operations.storeFloatPlanes(
                        first, planeStride: stride, channels: channels, count: count, out: samples + start)
                }
                raster = .f32(target)
            }
        }
    }

    /// Rounds the plane of alpha as it is stored. Floats are not rounded.
    private func roundAlpha(_ planes: PlaneRow) {
        guard raster.format != .f32 else { return }
        planes.operations.roundPlane(
            planes.plane(layout.channels - 1), full: Float(raster.format.full), count: planes.count)
    }
}
