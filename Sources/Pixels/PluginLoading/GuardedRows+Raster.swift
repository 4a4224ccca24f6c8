import Catalogs
import Geometry
import GuardedMemory
import Raster

extension AnyRaster {
    /// Overwrites whole rows with those of guarded memory.
    ///
    /// - Precondition: `area` is as wide as the raster, and `rows` has its rows.
    mutating func setRows(of area: PixelRect, from rows: GuardedRows) {
        modifyU8Or(
            { $0.setRows(of: area, from: rows) }, { $0.setRows(of: area, from: rows) },
            {
                $0.setRows(of: area, from: rows)
            })
    }

    private mutating func modifyU8Or(
        _ u8: (inout Raster<UInt8>) -> Void, _ u16: (inout Raster<UInt16>) -> Void,
        _ f32: (inout Raster<Float>) -> Void
    ) {
        switch format {
        case .u8: modifyU8(u8)
        case .u16: modifyU16(u16)
        case .f32: modifyF32(f32)
        }
    }
}

extension Raster {
    fileprivate mutating func setRows(of area: PixelRect, from rows: GuardedRows) {
        precondition(
            area.columns == rect.columns && rect.contains(area) && rows.rows == area.height, "whole rows are set")
        let first = index(x: area.x, y: area.y)
        let rowBytes = stride * MemoryLayout<Sample>.stride
        let (from, pitch) = (rows.start, rows.pitch)
        samples.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress, rowBytes > 0 else { return }
            let start = base + first * MemoryLayout<Sample>.stride
            for row in 0..<area.height {
                (start + row * rowBytes).copyMemory(from: from + row * pitch, byteCount: rowBytes)
            }
        }
    }
}

extension GuardedRows {
    /// Sets the colours of pixels with alpha 0 to 0.
    func clearTransparent(_ layout: PixelLayout, _ format: SampleFormat) {
        guard layout.hasAlpha else { return }
        switch format {
        case .u8: clearTransparent(layout.channels, UInt8.self)
        case .u16: clearTransparent(layout.channels, UInt16.self)
        case .f32: clearTransparent(layout.channels, Float.self)
        }
    }

    private func clearTransparent<Sample: PixelSample>(_ channels: Int, _: Sample.Type) {
        let zero = Sample(rounding: 0)
        for index in 0..<rows {
            let samples = UnsafeMutableBufferPointer(
                start: row(index).assumingMemoryBound(to: Sample.self), count: rowBytes / MemoryLayout<Sample>.stride)
            for start in stride(from: 0, to: samples.count, by: channels) where samples[start + channels - 1] == zero {
                for color in start..<start + channels - 1 { samples[color] = zero }
            }
        }
    }
}
