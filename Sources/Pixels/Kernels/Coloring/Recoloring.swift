import Catalogs
import Geometry
package import Raster
import Synchronization

/// Changes each pixel's colours by a function of these colours alone. Alpha is kept, and invisible pixels stay zero.
///
/// The functions get straight colours, not premultiplied ones, as they are stored, on a scale where 1 is full intensity. Results
/// are rounded to the nearest sample and clamped. Floats are stored as they are.
package struct Recoloring: Sendable, LevelChoosing {
    /// What a function knows of the picture.
    package enum Function: Sendable {
        /// Every channel by itself.
        case channels(any ChannelFunction)
        /// All channels together. Gray stays gray: it gets the luma (Rec. 709) of what the function makes of it.
        case colors(any ColorFunction)
        /// All channels together, as linear light by the picture's curve.
        case light(any LightFunction)
    }

    private let function: Function
    private let tables = ChannelTables()
    package var level = CPULevel.current

    package init(_ function: Function) { self.function = function }

    /// - Precondition: the source's tables cover the destination, which has its layout and format.
    package func render(_ source: KernelSource, within mask: Mask?, into destination: inout AnyRaster) {
        precondition(destination.layout == source.raster.layout, "colours change, and channels stay")
        guard let mask else { return recolor(source, into: &destination) }
        let kernel = RecoloredParts(recoloring: self)
        kernel.render(source, light: .encoded, within: mask, into: &destination)
    }

    fileprivate func recolor(_ source: KernelSource, into raster: inout AnyRaster) {
        let change = change(of: raster.layout, raster.format, source.curve)
        let (layout, operations) = (raster.layout, RowOperations.of(level))
        func recolor(_ samples: ColorPixels.Samples, _ count: Int) {
            change(ColorPixels(samples: samples, layout: layout, count: count, operations: operations))
        }
        switch raster.format {
        case .u8: raster.modifyU8 { Self.copy(source, to: &$0) { recolor(.u8($0), $1) } }
        case .u16: raster.modifyU16 { Self.copy(source, to: &$0) { recolor(.u16($0), $1) } }
        case .f32: raster.modifyF32 { Self.copy(source, to: &$0) { recolor(.f32($0), $1) } }
        }
    }

    /// Copies some rows at a time, so that they are still in the cache when their colours change.
    ///
    /// - Parameter change: changes pixels in place, of which it gets the number.
    private static func copy<Sample: PixelSample>(
        _ source: KernelSource, to raster: inout Raster<Sample>, _ change: (MutableRow<Sample>, Int) -> Void
    ) {
        let (rect, stride) = (raster.rect, raster.stride)
        let band = max(1, (1 << 16) / max(1, stride * MemoryLayout<Sample>.stride))
        raster.samples.withMutableRow { samples in
            for rows in rect.rows.pieces(of: band) {
                let part = PixelRect(columns: rect.columns, rows: rows)
                let first = samples + (rows.lowerBound - rect.y) * stride
                source.copyRows(part, to: first)
                change(first, part.area)
            }
        }
    }

    /// What is done with pixels, with the tables that it needs.
    private func change(
        of layout: PixelLayout, _ format: SampleFormat, _ curve: TransferCurve
    ) -> (ColorPixels) -> Void {
        let isGray = layout.removingAlpha == .gray
        switch function {
        case .channels(let function):
            switch format {
            case .u8:
                let table = tables.bytes(function, isGray: isGray)
                return { $0.lookUp(bytes: table) }
            case .u16:
                let table = tables.words(function, isGray: isGray)
                return { $0.lookUp(words: table) }
            case .f32: return { $0.compute(function) }
            }
        case .colors(let function): return { function.recolor($0) }
        case .light(let function):
            if format == .u8, curve.curves.count == 1, let table = tables.tones(function, curve) {
                return { $0.lookUp(tones: table) }
            }
            if format != .u8, curve.curves == [.sRGB] { return { function.recolorSRGB($0) } }
            return { function.recolor($0, curve) }
        }
    }
}

/// Neighbouring pixels in memory, whose colours are changed in place. Valid during a call.
package struct ColorPixels {
    enum Samples {
        case u8(MutableRow<UInt8>)
        case u16(MutableRow<UInt16>)
        case f32(MutableRow<Float>)
    }

    let samples: Samples
    let layout: PixelLayout
    let count: Int
    let operations: RowOperations

    var channels: Int { layout.channels }

    /// The value of full intensity.
    var full: Double {
        switch samples {
        case .u8: UInt8.full
        case .u16: UInt16.full
        case .f32: Float.full
        }
    }
}

extension ColorPixels {
    /// - Parameter table: the results of all values, for one channel after the other; once if all channels have the same.
    fileprivate func lookUp(bytes table: [UInt8]) {
        guard case .u8(let samples) = samples else { return }
        if table.count == 256, !layout.hasAlpha {
            operations.lookUp(samples, table: table, count: count * channels)
        } else {
            lookUp(samples, table, steps: 256)
        }
    }

    /// See ``lookUp(bytes:)``.
    fileprivate func lookUp(words table: [UInt16]) {
        if case .u16(let samples) = samples { lookUp(samples, table, steps: 65536) }
    }

    /// - Parameter table: see ``ChannelTables/tones(_:_:)``.
    fileprivate func lookUp(tones table: [UInt8]) {
        guard case .u8(let samples) = samples else { return }
        operations.mapTones(samples, channels: layout.channels, table: table, count: count)
    }

    private func lookUp<Sample: PixelSample & FixedWidthInteger>(
        _ samples: MutableRow<Sample>, _ table: [Sample], steps: Int
    ) {
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let step = table.count > steps ? steps : 0
        precondition(table.count == (step == 0 ? steps : colors * steps), "every value of a channel has a result")
        let count = count * channels
        table.withRow { table in
            if channels == colors, step == 0 {
                for index in 0..<count {
                    samples[unchecked: index] = table[unchecked: Int(samples[unchecked: index])]
                }
                return
            }
            if channels == 3 {
                // Most pictures are of this kind, and the compiler does not unroll the loop over channels.
                for pixel in stride(from: 0, to: count, by: 3) {
                    samples[unchecked: pixel] = table[unchecked: Int(samples[unchecked: pixel])]
                    samples[unchecked: pixel + 1] = table[unchecked: step + Int(samples[unchecked: pixel + 1])]
                    samples[unchecked: pixel + 2] = table[unchecked: 2 * step + Int(samples[unchecked: pixel + 2])]
                }
                return
            }
            for pixel in stride(from: 0, to: count, by: channels) {
                let isClear = channels > colors && samples[unchecked: pixel + colors] == 0
                for channel in 0..<colors {
                    let value = Int(samples[unchecked: pixel + channel])
                    samples[unchecked: pixel + channel] =
                        isClear ? 0 : table[unchecked: channel * step + value]
                }
            }
        }
    }

    /// Floats have no tables.
    fileprivate func compute(_ function: any ChannelFunction) {
        guard case .f32(let samples) = samples else { return }
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        for pixel in stride(from: 0, to: count * channels, by: channels) {
            let isClear = channels > colors && samples[unchecked: pixel + colors] == 0
            for channel in 0..<colors {
                let value = Double(samples[unchecked: pixel + channel])
                samples[unchecked: pixel + channel] =
                    isClear ? 0 : Float(function.value(value, channel: colors == 1 ? nil : channel, isFloat: true))
            }
        }
    }
}

/// Recolours the parts of a picture that a mask covers.
private struct RecoloredParts: WorkingKernel {
    let recoloring: Recoloring

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        var part = AnyRaster(zeroed: area, layout: reader.layout, format: reader.source.raster.format)
        recoloring.recolor(reader.source, into: &part)
        Replacement(part).apply(reader, area: area, to: &sink)
    }
}

/// A function of single channels, from stored values to stored values.
package protocol ChannelFunction: Sendable {
    /// - Parameters:
    ///   - channel: 0 to 2 for red, green and blue; nil for gray.
    ///   - isFloat: whether the picture has floats, which are not cut off.
    func value(_ value: Double, channel: Int?, isFloat: Bool) -> Double
}

/// A function of all channels of a colour.
package protocol ColorFunction: Sendable {
    /// The definition. Colours are shares of full intensity.
    func color(_ color: SIMD3<Float>) -> SIMD3<Float>
    /// Changes pixels by the definition, as fast as this processor can. Gray pixels get the luma (Rec. 709) of their result.
    func recolor(_ pixels: ColorPixels)
}

/// A function of the linear light of all channels of a colour. The result of a channel depends on its own light, and on that of the
/// brightest channel.
package protocol LightFunction: Sendable {
    /// - Parameter light: 1 is full intensity. It is any number, also NaN or infinite. Gray has equal channels, and its result
    ///   has, too.
    func light(_ light: SIMD3<Double>) -> SIMD3<Double>
    /// Changes pixels of 16 bits or of floats that are stored by the curve of sRGB, as fast as this processor can.
    func recolorSRGB(_ pixels: ColorPixels)
}

extension LightFunction {
    package func recolorSRGB(_ pixels: ColorPixels) { recolor(pixels, .sRGB) }

    fileprivate func recolor(_ pixels: ColorPixels, _ curve: TransferCurve) {
        switch pixels.samples {
        case .u8(let samples): recolor(samples, pixels, curve)
        case .u16(let samples): recolor(samples, pixels, curve)
        case .f32(let samples): recolor(samples, pixels, curve)
        }
    }

    private func recolor<Sample: TransferSample>(
        _ samples: MutableRow<Sample>, _ pixels: ColorPixels, _ curve: TransferCurve
    ) {
        let (channels, colors) = (pixels.layout.channels, pixels.layout.removingAlpha.channels)
        precondition(colors == 1 || colors == 3, "filters get gray or RGB")
        let (decoding, encoding) = (curve.decoding(Sample.format), curve.encoding(Sample.format))
        let (share, full) = (1 / Sample.full, Sample.full)
        for pixel in Swift.stride(from: 0, to: pixels.count * channels, by: channels) {
            if channels > colors, samples[unchecked: pixel + colors].double == 0 {
                for channel in 0..<colors { samples[unchecked: pixel + channel] = Sample(rounding: 0) }
                continue
            }
            let first = samples[unchecked: pixel].linear(decoding, 0)
            let (second, third) =
                colors == 3
                ? (samples[unchecked: pixel + 1].linear(decoding, 1), samples[unchecked: pixel + 2].linear(decoding, 2))
                : (first, first)
            let result = light(SIMD3(first, second, third) * share) * full
            for channel in 0..<colors {
                samples[unchecked: pixel + channel] = Sample(linear: result[channel], encoding, channel)
            }
        }
    }
}

/// The results of a function for all values of integer formats, computed on first use.
private final class ChannelTables: Sendable {
    private struct Known {
        /// For gray, and for colours.
        var bytes: [Bool: [UInt8]] = [:]
        var words: [Bool: [UInt16]] = [:]
        var tones: [[ToneCurve]: [UInt8]?] = [:]
    }

    private let known = Mutex(Known())

    func bytes(_ function: any ChannelFunction, isGray: Bool) -> [UInt8] {
        known.withLock { known in
            let table = known.bytes[isGray] ?? Self.table(function, isGray: isGray)
            known.bytes[isGray] = table
            return table
        }
    }

    func words(_ function: any ChannelFunction, isGray: Bool) -> [UInt16] {
        known.withLock { known in
            let table = known.words[isGray] ?? Self.table(function, isGray: isGray)
            known.words[isGray] = table
            return table
        }
    }

    /// The results of all bytes: in the row of the brightest channel of their pixel, the column of their own value.
    ///
    /// - Precondition: all channels have one curve.
    /// - Returns: nil if the curve falls somewhere: the largest value of a pixel is not its brightest one then.
    func tones(_ function: any LightFunction, _ curve: TransferCurve) -> [UInt8]? {
        known.withLock { known in
            let table = known.tones[curve.curves] ?? Self.tones(function, curve)
            known.tones[curve.curves] = table
            return table
        }
    }

    private static func tones(_ function: any LightFunction, _ curve: TransferCurve) -> [UInt8]? {
        let (decoding, encoding) = (curve.decoding(.u8), curve.encoding(.u8))
        let lights = (UInt8.min...UInt8.max).map { $0.linear(decoding, 0) / UInt8.full }
        guard zip(lights, lights.dropFirst()).allSatisfy({ $0 <= $1 }) else { return nil }
        var table = [UInt8](repeating: 0, count: 65536)
        for (brightest, light) in lights.enumerated() {
            // No channel is brighter than the brightest one.
            for (value, own) in lights[...brightest].enumerated() {
                let result = function.light(SIMD3(light, own, own)).y * UInt8.full
                table[brightest * 256 + value] = UInt8(linear: result, encoding, 0)
            }
        }
        return table
    }

    private static func table<Sample: PixelSample>(_ function: any ChannelFunction, isGray: Bool) -> [Sample] {
        let channels = (isGray ? [nil] : [0, 1, 2]).map { channel in
            (0...Int(Sample.full)).map { value in
                let share = Double(value) / Sample.full
                return Sample(rounding: function.value(share, channel: channel, isFloat: false) * Sample.full)
            }
        }
        return channels.allSatisfy { $0 == channels[0] } ? channels[0] : channels.flatMap(\.self)
    }
}
