import Catalogs
import Geometry
package import Raster
import Synchronization

/// Changes each pixel's colours by a function of these colours alone. Alpha is kept, and invisible pixels stay zero.
///
/// The functions get straight colours, not premultiplied ones, as they are stored, on a scale where 1 is full intensity. Results
/// are rounded to the nearest sample and clamped. Floats are stored as they are.
package struct Recoloring: Sendable {
    /// What a function knows of the picture.
    package enum Function: Sendable {
        /// Every channel by itself.
        case channels(any ChannelFunction)
        /// All channels together. Gray stays gray: it gets the luma (Rec. 709) of what the function makes of it.
        case colors(any ColorFunction)
    }

    private let function: Function
    private let tables = ChannelTables()

    package init(_ function: Function) { self.function = function }

    /// - Precondition: the source's tables cover the destination, which has its layout and format.
    package func render(_ source: KernelSource, within mask: Mask?, into destination: inout AnyRaster) {
        precondition(destination.layout == source.raster.layout, "colours change, and channels stay")
        guard let mask else {
            source.copyPixels(to: &destination)
            return recolor(&destination)
        }
        let kernel = RecoloredParts(recoloring: self)
        kernel.render(source, light: .encoded, within: mask, into: &destination)
    }

    fileprivate func recolor(_ raster: inout AnyRaster) {
        switch function {
        case .channels(let function): recolor(&raster, function)
        case .colors(let function):
            switch raster.format {
            case .u8: raster.modifyU8 { Self.recolor(&$0, function) }
            case .u16: raster.modifyU16 { Self.recolor(&$0, function) }
            case .f32: raster.modifyF32 { Self.recolor(&$0, function) }
            }
        }
    }

    private func recolor(_ raster: inout AnyRaster, _ function: any ChannelFunction) {
        let isGray = raster.layout.removingAlpha == .gray
        switch raster.format {
        case .u8:
            let table = tables.bytes(function, isGray: isGray)
            raster.modifyU8 { Self.lookUp(&$0, table, steps: 256) }
        case .u16:
            let table = tables.words(function, isGray: isGray)
            raster.modifyU16 { Self.lookUp(&$0, table, steps: 65536) }
        case .f32:
            raster.modifyF32 { raster in
                let (channels, colors) = (raster.layout.channels, raster.layout.removingAlpha.channels)
                for pixel in stride(from: 0, to: raster.samples.count, by: channels) {
                    let isClear = channels > colors && raster.samples[pixel + colors] == 0
                    for channel in 0..<colors {
                        let value = Double(raster.samples[pixel + channel])
                        raster.samples[pixel + channel] =
                            isClear
                            ? 0 : Float(function.value(value, channel: isGray ? nil : channel, isFloat: true))
                    }
                }
            }
        }
    }

    /// - Parameter table: the results of all values, for one channel after the other; once if all channels have the same.
    private static func lookUp<Sample: PixelSample & FixedWidthInteger>(
        _ raster: inout Raster<Sample>, _ table: [Sample], steps: Int
    ) {
        let (channels, colors) = (raster.layout.channels, raster.layout.removingAlpha.channels)
        let step = table.count > steps ? steps : 0
        precondition(table.count == (step == 0 ? steps : colors * steps), "every value of a channel has a result")
        let count = raster.samples.count
        raster.samples.withMutableRow { samples in
            table.withRow { table in
                if channels == colors, step == 0 {
                    for index in 0..<count {
                        samples[unchecked: index] = table[unchecked: Int(samples[unchecked: index])]
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
    }

    private static func recolor<Sample: ColorSample>(_ raster: inout Raster<Sample>, _ function: some ColorFunction) {
        let (channels, colors) = (raster.layout.channels, raster.layout.removingAlpha.channels)
        let count = raster.samples.count
        raster.samples.withMutableRow { samples in
            for pixel in stride(from: 0, to: count, by: channels) {
                if channels > colors, samples[unchecked: pixel + colors].isZero {
                    for channel in 0..<colors { samples[unchecked: pixel + channel] = .black }
                    continue
                }
                if colors == 1 {
                    let result = function.color(SIMD3(repeating: samples[unchecked: pixel].share))
                    samples[unchecked: pixel] = Sample(share: ColorLuma.of(result))
                    continue
                }
                let result = function.color(
                    SIMD3(
                        samples[unchecked: pixel].share, samples[unchecked: pixel + 1].share,
                        samples[unchecked: pixel + 2].share))
                samples[unchecked: pixel] = Sample(share: result.x)
                samples[unchecked: pixel + 1] = Sample(share: result.y)
                samples[unchecked: pixel + 2] = Sample(share: result.z)
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
        reader.source.copyPixels(to: &part)
        recoloring.recolor(&part)
        PixelReader(KernelSource(part), layout: part.layout, light: .encoded).write(area, to: &sink)
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
    func color(_ color: SIMD3<Float>) -> SIMD3<Float>
}

enum ColorLuma {
    /// The luma of Rec. 709. Equal channels give exactly their value.
    @inline(__always) static func of(_ color: SIMD3<Float>) -> Float {
        color.y + 0.2126 * (color.x - color.y) + 0.0722 * (color.z - color.y)
    }
}

/// The results of a channel function for all values of integer formats, computed on first use.
private final class ChannelTables: Sendable {
    private struct Known {
        /// For gray, and for colours.
        var bytes: [Bool: [UInt8]] = [:]
        var words: [Bool: [UInt16]] = [:]
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

/// A sample as a share of full intensity.
private protocol ColorSample: PixelSample {
    static var black: Self { get }
    var isZero: Bool { get }
    var share: Float { get }
    /// The nearest sample, halves up; 0 for NaN in integer formats.
    init(share: Float)
}

extension UInt8: ColorSample {
    fileprivate static var black: UInt8 { 0 }
    fileprivate var isZero: Bool { self == 0 }
    @inline(__always) fileprivate var share: Float { Float(self) / 255 }
    @inline(__always) fileprivate init(share: Float) {
        let raised = share * 255 + 0.5
        self = raised >= 255 ? 255 : raised >= 1 ? UInt8(raised) : 0
    }
}

extension UInt16: ColorSample {
    fileprivate static var black: UInt16 { 0 }
    fileprivate var isZero: Bool { self == 0 }
    @inline(__always) fileprivate var share: Float { Float(self) / 65535 }
    @inline(__always) fileprivate init(share: Float) {
        let raised = share * 65535 + 0.5
        self = raised >= 65535 ? 65535 : raised >= 1 ? UInt16(raised) : 0
    }
}

extension Float: ColorSample {
    fileprivate static var black: Float { 0 }
    @inline(__always) fileprivate var share: Float { self }
    @inline(__always) fileprivate init(share: Float) { self = share }
}
