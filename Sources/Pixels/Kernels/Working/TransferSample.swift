import Arithmetic
package import Raster

/// A sample that can be turned into linear light and back.
///
/// Both ways keep the sample's scale: 0…255 for u8, 0…65535 for u16, 0…1 for f32.
package protocol TransferSample: PixelSample {
    var linear: Double { get }

    /// The nearest sample to linear light, clamped to the range of integer formats.
    init(linear: Double)
}

extension UInt8: TransferSample {
    package var linear: Double { TransferTables.linearOfU8[Int(self)] }

    /// Goes through 16 bits: a step of those is at most 1/20 of a step here, even in the shadows.
    package init(linear: Double) {
        self = TransferTables.u8OfLinearU16[Int(UInt16(rounding: linear * 257))]
    }
}

extension UInt16: TransferSample {
    package var linear: Double { TransferTables.linearOfU16[Int(self)] }

    package init(linear: Double) {
        self.init(rounding: SRGBCurve.encode(linear / UInt16.full) * UInt16.full)
    }
}

extension Float: TransferSample {
    package var linear: Double { SRGBCurve.decode(Double(self)) }

    package init(linear: Double) {
        self.init(rounding: SRGBCurve.encode(linear))
    }
}

/// The curve of sRGB at every value of the integer formats; each table is made on first use (the largest in 5 ms).
enum TransferTables {
    static let linearOfU8: [Double] = (0...255).map { SRGBCurve.decode(Double($0) / 255) * 255 }
    static let linearOfU16: [Double] = (0...65535).map { SRGBCurve.decode(Double($0) / 65535) * 65535 }
    static let u8OfLinearU16: [UInt8] = (0...65535).map {
        UInt8(rounding: SRGBCurve.encode(Double($0) / 65535) * 255)
    }

    static func withLinearOfU8(_ body: (UnsafePointer<Double>) -> Void) { withBase(linearOfU8, body) }
    static func withLinearOfU16(_ body: (UnsafePointer<Double>) -> Void) { withBase(linearOfU16, body) }
    static func withU8OfLinearU16(_ body: (UnsafePointer<UInt8>) -> Void) { withBase(u8OfLinearU16, body) }

    private static func withBase<Value>(_ table: [Value], _ body: (UnsafePointer<Value>) -> Void) {
        table.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { body(base) }
        }
    }
}
