import Catalogs
package import Geometry
import Raster

/// Changes of tone that depend on how bright the surroundings of a pixel are: the luma (Rec. 709) around it, blurred by a
/// Gaussian. All values are those that are stored.
package struct LocalTones: WorkingKernel {
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
    private let blur: Gaussian

    /// - Parameter radius: the standard deviation of the surroundings, in pixels, 0 to 1000.
    package init(_ change: Change, radius: Double) {
        self.change = change
        blur = Gaussian(radius: radius)
    }

    package var halo: Halo { blur.halo }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let (layout, full) = (reader.layout, reader.source.raster.format.full)
        let isClamped = reader.source.raster.format != .f32
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let surroundings = BrightnessAround(blur, of: reader, area: area)
        var row = [Double](repeating: 0, count: area.width * channels)
        var brightness = [Double](repeating: 0, count: area.width)
        for y in area.rows {
            surroundings.read(row: y, into: &brightness)
            var values = row.mutableSpan
            reader.read(columns: area.columns, atPosition: reader.source.rows[y], into: &values)
            for pixel in 0..<area.width {
                let start = pixel * channels
                let alpha = layout.hasAlpha ? values[start + colors] : full
                // Colours are multiplied by alpha. Invisible ones stay zero.
                guard alpha != 0 else { continue }
                let luma =
                    colors == 1
                    ? values[start] / alpha
                    : (0.2126 * values[start] + 0.7152 * values[start + 1] + 0.0722 * values[start + 2]) / alpha
                let around = brightness[pixel].isNaN ? luma : brightness[pixel]
                switch change {
                case .brightness(let shadows, let highlights):
                    let stops = shadows * max(0, 1 - 2 * around) + highlights * max(0, 2 * around - 1)
                    guard stops.isFinite, stops != 0 else { continue }
                    let exponent = QuickPower.exp2(-min(max(stops, -16), 16))
                    for channel in start..<start + colors {
                        let share = values[channel] / alpha
                        if share > 0 { values[channel] = QuickPower.power(share, exponent) * alpha }
                    }
                case .contrast(let amount):
                    let difference = amount * max(0, 4 * luma * (1 - luma)) * (luma - around) * alpha
                    guard difference.isFinite else { continue }
                    for channel in start..<start + colors {
                        let value = values[channel] + difference
                        values[channel] = isClamped ? min(max(value, 0), alpha) : value
                    }
                }
            }
            sink.write(row.span, x: area.x, y: y)
        }
    }
}

/// The blurred luma around the pixels of an area, on a scale where 1 is full intensity.
private struct BrightnessAround {
    private let reader: PixelReader
    private let area: PixelRect
    private let hasAlpha: Bool
    private let scale: Double

    /// - Precondition: the reader's tables cover `area` and the kernel's halo around it.
    init(_ blur: Gaussian, of picture: PixelReader, area: PixelRect) {
        // Only what the blur reads, since a mask may have many parts.
        var around = AnyRaster(
            zeroed: area.expanded(by: blur.halo), layout: picture.layout, format: picture.source.raster.format)
        picture.source.copyPixels(to: &around)
        let lumas = around.lumas
        let layout = lumas.layout
        var blurred = AnyRaster(zeroed: area, layout: layout, format: lumas.format)
        blur.render(KernelSource(lumas), light: .encoded, into: &blurred)
        reader = PixelReader(KernelSource(blurred), layout: layout, light: .encoded)
        self.area = area
        hasAlpha = layout.hasAlpha
        scale = 1 / lumas.format.full
    }

    /// NaN where nothing is visible.
    func read(row y: Int, into brightness: inout [Double]) {
        let channels = hasAlpha ? 2 : 1
        var values = [Double](repeating: 0, count: area.width * channels)
        var span = values.mutableSpan
        reader.read(columns: area.columns, atPosition: reader.source.rows[y], into: &span)
        for index in brightness.indices {
            brightness[index] =
                hasAlpha
                ? (values[2 * index + 1] == 0 ? .nan : values[2 * index] / values[2 * index + 1])
                : values[index] * scale
        }
    }
}

extension AnyRaster {
    /// The luma of each pixel, with its alpha: 16 bits of an opaque picture of integers, and floats of any other. (Of a thin alpha, 16 bits
    /// keep too little.)
    fileprivate var lumas: AnyRaster {
        switch self {
        case .u8(let raster): layout.hasAlpha ? .f32(raster.lumas()) : .u16(raster.lumas())
        case .u16(let raster): layout.hasAlpha ? .f32(raster.lumas()) : .u16(raster.lumas())
        case .f32(let raster): .f32(raster.lumas())
        }
    }
}

extension Raster {
    fileprivate func lumas<Luma: PixelSample>() -> Raster<Luma> {
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        let scale = Luma.full / Sample.full
        var result: [Luma] = []
        result.reserveCapacity(rect.area * (layout.hasAlpha ? 2 : 1))
        let samples = samples.span
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let luma =
                colors == 1
                ? samples[pixel].double
                : 0.2126 * samples[pixel].double + 0.7152 * samples[pixel + 1].double
                    + 0.0722 * samples[pixel + 2].double
            result.append(Luma(rounding: luma * scale))
            if layout.hasAlpha { result.append(Luma(rounding: samples[pixel + colors].double * scale)) }
        }
        return Raster<Luma>(rect: rect, layout: layout.hasAlpha ? .grayAlpha : .gray, samples: result)
    }
}

/// Powers in a fixed order of operations, quicker than `DeterministicMath`. The relative error is below 1e-8 for exponents up to 100.
enum QuickPower {
    /// - Parameters:
    ///   - base: positive and finite.
    ///   - exponent: 2^−16 to 2^16.
    @inline(__always) static func power(_ base: Double, _ exponent: Double) -> Double {
        guard base.isNormal else { return base }
        return exp2(min(max(exponent * log2(base), -1022), 1023))
    }

    /// - Parameter x: a positive, normal number.
    @inline(__always) private static func log2(_ x: Double) -> Double {
        let bits = x.bitPattern
        var exponent = Double(Int(bits >> 52) - 1023)
        var mantissa = Double(bitPattern: bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000)
        if mantissa > 1.4142135623730951 {
            exponent += 1
            mantissa /= 2
        }
        // ln m = 2·artanh((m − 1)/(m + 1)); the rest of the series is below 1e-10.
        let t = (mantissa - 1) / (mantissa + 1)
        let square = t * t
        let series = 1 + square * (1 / 3.0 + square * (1 / 5.0 + square * (1 / 7.0 + square * (1 / 9.0 + square / 11))))
        return exponent + 2.885390081777927 * t * series
    }

    /// - Parameter x: −1022 to 1023.
    @inline(__always) static func exp2(_ x: Double) -> Double {
        let whole = x.rounded(.toNearestOrEven)
        let r = (x - whole) * 0.6931471805599453
        let series =
            1 + r * (1 + r / 2 * (1 + r / 3 * (1 + r / 4 * (1 + r / 5 * (1 + r / 6 * (1 + r / 7 * (1 + r / 8)))))))
        return series * Double(bitPattern: UInt64(Int64(1023) + Int64(whole)) << 52)
    }
}
