import CPenumbraPlugin
import Catalogs
import Geometry
import Glibc
import GuardedMemory
import Kernels
import Raster

/// A call of a plugin's `render` in guarded memory. It restores the floating-point mode afterwards.
struct PluginCall: Sendable {
    let render: PluginFunctions.Render
    let values: [Double]
    /// The extent of the filter's whole input.
    let image: PixelRect
    /// The frame of an animation.
    let frame: Int
    let isCancelled: CancellationQuestion
    let memory: GuardedPool

    /// The size of the buffer for a plugin's error message.
    fileprivate static let errorCapacity = 1024

    /// Renders a rectangle.
    ///
    /// - Parameters:
    ///   - source: the part of the input that the plugin receives.
    ///   - fill: writes all rows of the input to guarded memory.
    ///   - collect: takes the output's rows from guarded memory.
    /// - Throws: ``PluginError`` with the plugin's own words, ``PluginFaultError``, or `CancellationError`.
    func callAsFunction(
        source: PixelRect, area: PixelRect, layout: PixelLayout, format: SampleFormat,
        fill: (GuardedRows) -> Void, collect: (GuardedRows) -> Void
    ) throws {
        let pixelBytes = layout.channels * format.bytes
        try memory.with { memory in
            let (from, to, text) = (memory.source, memory.target, memory.text)
            try from.reshape(rows: source.height, rowBytes: source.width * pixelBytes)
            try to.reshape(rows: area.height, rowBytes: area.width * pixelBytes)
            try text.reshape(rows: 1, rowBytes: Self.errorCapacity)
            to.clear()
            text.clear()
            fill(from)
            let status = status(memory, source, area, layout, format)
            // All three are checked, because the check also repairs damage.
            let (inTarget, inSource, inText) = (to.damage(), from.damage(), text.damage())
            if let damage = inTarget ?? inSource { throw PluginFaultError(damage, area) }
            if inText != nil { throw PluginFaultError.besideErrorText }
            try check(status, text)
            collect(to)
        }
    }

    private func status(
        _ memory: GuardedPool.Memory, _ source: PixelRect, _ area: PixelRect, _ layout: PixelLayout,
        _ format: SampleFormat
    ) -> Int {
        let (from, to, text) = (memory.source, memory.target, memory.text)
        return values.withUnsafeBufferPointer { values in
            var tile = penumbra_tile(
                struct_size: UInt32(MemoryLayout<penumbra_tile>.size), format: format.pluginFormat,
                channels: Int32(layout.channels), has_alpha: layout.hasAlpha ? 1 : 0,
                image: penumbra_rect(image),
                source: penumbra_source(data: from.start, row_bytes: Int64(from.pitch), rect: penumbra_rect(source)),
                target: penumbra_target(data: to.start, row_bytes: Int64(to.pitch), rect: penumbra_rect(area)),
                values: values.baseAddress, is_cancelled: CancellationQuestion.ask, context: isCancelled.context,
                error: text.start.assumingMemoryBound(to: CChar.self), error_capacity: text.rowBytes,
                frame: Int64(frame))
            return Int(FloatingPointMode.kept { render(&tile) })
        }
    }

    private func check(_ status: Int, _ text: GuardedRows) throws {
        switch status {
        case Int(PENUMBRA_OK): return
        case Int(PENUMBRA_CANCELLED) where isCancelled.isYes: throw CancellationError()
        case Int(PENUMBRA_CANCELLED):
            throw PluginError("says that it was cancelled, which it was not; report this to its author")
        default: throw Self.failure(text, status)
        }
    }

    /// The text up to the zero byte, or the whole buffer if there is none.
    fileprivate static func failure(_ text: GuardedRows, _ status: Int) -> PluginError {
        let bytes = UnsafeRawBufferPointer(start: text.start, count: text.rowBytes)
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        return PluginError(text.isEmpty ? "failed with status \(status) and no reason" : text)
    }
}

extension PluginFunctions {
    /// Asks the plugin whether it can work with these values.
    ///
    /// - Throws: ``PluginError`` with the plugin's own words, or ``PluginFaultError``.
    func check(_ values: [Double]) throws {
        guard let checkValues else { return }
        let text = try GuardedRows()
        try text.reshape(rows: 1, rowBytes: PluginCall.errorCapacity)
        text.clear()
        let status = FloatingPointMode.kept {
            values.withUnsafeBufferPointer {
                checkValues($0.baseAddress, text.start.assumingMemoryBound(to: CChar.self), text.rowBytes)
            }
        }
        if text.damage() != nil { throw PluginFaultError.besideErrorText }
        if status != Int32(PENUMBRA_OK) { throw PluginCall.failure(text, Int(status)) }
    }
}

/// Lets a plugin ask, through C, whether its result is still needed. It exists as long as the process.
package final class CancellationQuestion: Sendable {
    private let answer: @Sendable () -> Bool

    package init(_ answer: @escaping @Sendable () -> Bool) { self.answer = answer }

    var isYes: Bool { answer() }

    /// A borrowed pointer: the caller of a plugin keeps the object alive during the call.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let ask: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
        guard let context else { return 0 }
        return Unmanaged<CancellationQuestion>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.answer() } ? 1 : 0
    }
}

extension PluginFaultError {
    fileprivate static let besideErrorText = PluginFaultError(
        "the plugin wrote before the room for its error text; report this to its author")

    fileprivate init(_ damage: GuardedRows.Damage, _ area: PixelRect) {
        let position =
            switch damage {
            case .beforeFirstRow: "before the first row"
            case .behindRow(let row): "behind the end of row \(area.y + row)"
            }
        self.init("the plugin wrote outside of its tile, \(position); report this to its author")
    }
}

extension penumbra_rect {
    init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}

/// The output of a plugin's call.
enum PluginResult {
    /// Pixels as they are stored.
    case stored(AnyRaster)
    /// 32-bit working values on a scale where 1 is full; `full` is full intensity in the picture's sample format.
    case working(AnyRaster, full: Double)

    /// Replaces a whole raster by this result.
    ///
    /// - Parameter curve: the transfer curve of the picture.
    func replace(_ destination: inout AnyRaster, light: Light, curve: TransferCurve) {
        if case .stored(let raster) = self {
            destination = raster
        } else {
            var sink = PixelWriter(destination.take(), light: light, curve: curve)
            write(to: &sink, light: light)
            destination = sink.raster
        }
    }

    /// Writes the rows to a sink as working values in `light`.
    func write(to sink: inout some WorkingRowSink, light: Light) {
        switch self {
        case .stored(let raster):
            let reader = PixelReader(KernelSource(raster), layout: raster.layout, light: light)
            reader.write(raster.rect, to: &sink)
        case .working(.f32(let raster), let full):
            raster.write(to: &sink, scale: full)
        case .working:
            preconditionFailure("working values are 32-bit floats")
        }
    }
}

/// The CPU's rounding mode, exceptions and treatment of denormal numbers.
enum FloatingPointMode {
    /// Runs code that may change the mode, and restores it.
    static func kept<Result>(_ body: () -> Result) -> Result {
        var environment = fenv_t()
        fegetenv(&environment)
        defer { fesetenv(&environment) }
        return body()
    }
}

extension AnyRaster {
    /// Overwrites the pixels of `area` with the rows of guarded memory, which become zeros.
    ///
    /// - Parameter clearsTransparent: whether to set the colours of pixels with alpha 0 to 0.
    /// - Precondition: `area` lies in the raster, and `rows` contains its rows.
    mutating func takeRows(of area: PixelRect, from rows: GuardedRows, clearsTransparent: Bool) {
        let clears = clearsTransparent && layout.hasAlpha
        switch format {
        case .u8: modifyU8 { $0.takeRows(of: area, from: rows, clears ? UInt8.max : nil) }
        case .u16: modifyU16 { $0.takeRows(of: area, from: rows, clears ? UInt16.max : nil) }
        case .f32: modifyF32 { $0.takeRows(of: area, from: rows, clears ? ~(1 << 31) as UInt32 : nil) }
        }
    }
}

extension Raster {
    /// - Parameter alpha: the bits of a sample that are all 0 if alpha is 0 or −0. Nil to keep all colours.
    fileprivate mutating func takeRows<Bits: FixedWidthInteger & UnsignedInteger>(
        of area: PixelRect, from rows: GuardedRows, _ alpha: Bits?
    ) {
        let sampleBytes = MemoryLayout<Sample>.stride
        let (channels, count) = (layout.channels, area.width * layout.channels * sampleBytes)
        precondition(
            rect.contains(area) && rows.rows == area.height && rows.rowBytes == count, "rows are taken as a whole")
        guard !area.isEmpty else { return }
        let (first, pitch) = (index(x: area.x, y: area.y) * sampleBytes, stride * sampleBytes)
        samples.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            rows.drain { index, row in
                let target = base + first + index * pitch
                if let alpha {
                    PixelWords.copy(row, to: target, count, channels, alpha)
                } else {
                    target.copyMemory(from: row, byteCount: count)
                }
            }
        }
    }
}

/// Pixels with alpha as single numbers, whose highest bits are alpha. The loop over them has no branch, so that it is
/// vectorised.
private enum PixelWords {
    /// Copies pixels of two or four samples.
    static func copy<Bits: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int, _ channels: Int,
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
        _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int, _: Bits.Type,
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
