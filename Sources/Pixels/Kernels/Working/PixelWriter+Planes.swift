import Catalogs
import Geometry
import Raster

extension PixelWriter {
    /// Writes planes by loops over them, with the results of ``write(_:x:y:)``; what has no loop goes by rows.
    package mutating func write(_ planes: PlaneRow) {
        let operations = planes.operations
        var storeBytes: Store<UInt8> = operations.storeBytePlane
        if let tones {
            // Only sRGB's bytes are in a table.
            guard !tones.bytes.isEmpty, !layout.hasAlpha else { return writeInterleaved(planes) }
            storeBytes = Self.lookUp(tones.bytes, operations)
        }
        modifyRaster { raster in
            switch raster {
            case .u8(var target):
                raster = .empty
                Self.store(planes, 255, into: &target, storeBytes)
                raster = .u8(target)
            case .u16(var target):
                raster = .empty
                Self.store(planes, 65535, into: &target, operations.storeWordPlane)
                raster = .u16(target)
            case .f32(var target):
                raster = .empty
                Self.store(planes, nil, into: &target, operations.storeFloatPlane)
                raster = .f32(target)
            }
        }
    }

    private typealias Store<Sample> = (
        UnsafePointer<Float>, UnsafePointer<Float>?, Int, Int, UnsafeMutablePointer<Sample>
    ) -> Void

    /// - Parameter full: to round alpha to, as it is stored; nil for floats.
    private static func store<Sample: PixelSample>(
        _ planes: PlaneRow, _ full: Float?, into target: inout Raster<Sample>, _ store: Store<Sample>
    ) {
        let start = target.index(x: planes.x, y: planes.y)
        let channels = target.layout.channels
        let alpha = target.layout.hasAlpha ? planes.plane(channels - 1) : nil
        if let alpha, let full { planes.operations.roundPlane(alpha, full, planes.count) }
        target.samples.withUnsafeMutableBufferPointer { samples in
            guard let to = samples.baseAddress.map({ $0 + start }) else { return }
            for channel in 0..<channels {
                let isColor = alpha == nil || channel < channels - 1
                store(planes.plane(channel), isColor ? UnsafePointer(alpha) : nil, channels, planes.count, to + channel)
            }
        }
    }

    private static func lookUp(_ bytes: [UInt8], _ operations: RowOperations) -> Store<UInt8> {
        { plane, _, channels, count, target in
            bytes.withUnsafeBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return }
                operations.lookUpBytes(plane, base, channels, count, target)
            }
        }
    }
}
