import Catalogs
import Geometry
import GuardedMemory
import Raster

extension AnyRaster {
    /// Overwrites whole rows with those of guarded memory.
    ///
    /// - Parameter clearsTransparent: sets the colours of pixels with alpha 0 to 0, on the way.
    /// - Precondition: `area` is as wide as the raster, and `rows` has its rows.
    mutating func setRows(of area: PixelRect, from rows: GuardedRows, clearsTransparent: Bool) {
        let clears = clearsTransparent && layout.hasAlpha
        switch format {
        case .u8: modifyU8 { $0.setRows(of: area, from: rows, clears ? UInt8.max : nil) }
        case .u16: modifyU16 { $0.setRows(of: area, from: rows, clears ? UInt16.max : nil) }
        case .f32: modifyF32 { $0.setRows(of: area, from: rows, clears ? ~(1 << 31) as UInt32 : nil) }
        }
    }
}

extension Raster {
    /// - Parameter alpha: the bits of a sample that are all 0 where an alpha is 0, which −0 is, too. Nil when colours are
    ///   to be left as they are.
    fileprivate mutating func setRows<Bits: FixedWidthInteger & UnsignedInteger>(
        of area: PixelRect, from rows: GuardedRows, _ alpha: Bits?
    ) {
        precondition(
            area.columns == rect.columns && rect.contains(area) && rows.rows == area.height, "whole rows are set")
        let first = index(x: area.x, y: area.y) * MemoryLayout<Sample>.stride
        let (rowBytes, channels) = (stride * MemoryLayout<Sample>.stride, layout.channels)
        let (start, pitch) = (rows.start, rows.pitch)
        samples.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress, rowBytes > 0 else { return }
            for row in 0..<area.height {
                let (source, target) = (start + row * pitch, base + first + row * rowBytes)
                if let alpha {
                    PixelWords.copy(source, to: target, rowBytes, channels, alpha)
                } else {
                    target.copyMemory(from: source, byteCount: rowBytes)
                }
            }
        }
    }
}

/// Pixels with alpha as single numbers, whose highest bits are the alpha: the loop over them has no branch, so that it is
/// compiled to vectors.
private enum PixelWords {
    /// Copies two or four samples a pixel.
    static func copy<Bits: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, _ count: Int, _ channels: Int,
        _ alpha: Bits
    ) {
        switch channels * Bits.bitWidth {
        case 16: copy(source, to: target, count, Bits.self, UInt16(truncatingIfNeeded: alpha))
        case 32: copy(source, to: target, count, Bits.self, UInt32(truncatingIfNeeded: alpha))
        case 64: copy(source, to: target, count, Bits.self, UInt64(truncatingIfNeeded: alpha))
        default: copy(source, to: target, count, Bits.self, UInt128(truncatingIfNeeded: alpha))
        }
    }

    private static func copy<Bits: FixedWidthInteger, Word: FixedWidthInteger & BitwiseCopyable>(
        _ source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer, _ count: Int, _: Bits.Type,
        _ alpha: Word
    ) {
        let size = MemoryLayout<Word>.size
        let shift = Word.bitWidth - Bits.bitWidth
        let (whole, magnitude) = (Word(truncatingIfNeeded: Bits.max) &<< shift, alpha &<< shift)
        var offset = 0
        while offset < count {
            let pixel = source.loadUnaligned(fromByteOffset: offset, as: Word.self)
            let kept = pixel & magnitude == 0 ? pixel & whole : pixel
            target.storeBytes(of: kept, toByteOffset: offset, as: Word.self)
            offset &+= size
        }
    }
}
