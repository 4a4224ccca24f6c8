import Catalogs
import Geometry
import Raster

extension PixelWriter {
    /// Writes planes by loops over them, with the results of ``write(_:x:y:)``; what has no loop goes by rows.
    package mutating func write(_ planes: PlaneRow) {
        // Only sRGB's bytes are in a table.
        if let tones, tones.bytes.isEmpty || layout.hasAlpha { return writeInterleaved(planes) }
        let (operations, count, tones) = (planes.operations, planes.count, tones)
        modifyRaster { raster in
            switch raster {
            case .u8(var target):
                raster = .empty
                Self.store(planes, 255, into: &target) { plane, alpha, channels, out in
                    if let tones {
                        operations.lookUpBytes(plane, table: tones.bytes, channels: channels, count: count, out: out)
                    } else {
                        operations.storeBytePlane(plane, alpha: alpha, channels: channels, count: count, out: out)
                    }
                }
                raster = .u8(target)
            case .u16(var target):
                raster = .empty
                Self.store(planes, 65535, into: &target) { plane, alpha, channels, out in
                    operations.storeWordPlane(plane, alpha: alpha, channels: channels, count: count, out: out)
                }
                raster = .u16(target)
            case .f32(var target):
                raster = .empty
                Self.store(planes, nil, into: &target) { plane, alpha, channels, out in
                    operations.storeFloatPlane(plane, alpha: alpha, channels: channels, count: count, out: out)
                }
                raster = .f32(target)
            }
        }
    }

    /// - Parameters:
    ///   - full: to round alpha to, as it is stored; nil for floats.
    ///   - storePlane: gets a plane, and the alpha's if it is one of a colour that is divided by it.
    private static func store<Sample: PixelSample>(
        _ planes: PlaneRow, _ full: Float?, into target: inout Raster<Sample>,
        _ storePlane: (_ plane: Row<Float>, _ alpha: Row<Float>?, _ channels: Int, _ out: MutableRow<Sample>) -> Void
    ) {
        guard planes.count > 0 else { return }
        let start = target.index(x: planes.x, y: planes.y)
        let channels = target.layout.channels
        let alpha = target.layout.hasAlpha ? planes.plane(channels - 1) : nil
        if let alpha, let full { planes.operations.roundPlane(alpha, full: full, count: planes.count) }
        target.samples.withMutableRow { samples in
            for channel in 0..<channels {
                let isColor = channel < channels - 1
                storePlane(
                    Row(planes.plane(channel)), isColor ? alpha.map { Row($0) } : nil, channels,
                    samples + start + channel)
            }
        }
    }
}
