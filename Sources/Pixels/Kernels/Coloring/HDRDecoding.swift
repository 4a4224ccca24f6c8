import Arithmetic
import Catalogs
package import Raster
import Synchronization

/// Converts the samples of an HDR picture into floats with the curve of sRGB, on a scale where 1 is the reference white of
/// ``ToneMapping/white``. Brighter light gets values above 1. Alpha does not change.
package struct HDRDecoding: Sendable {
    /// A curve of ITU-R BT.2100.
    package enum Curve: Hashable, Sendable {
        case pq
        /// For a display whose full intensity has 1000 cd/m², in a dim room: a system gamma of 1.2.
        case hlg

        /// The name that people know.
        package var title: String { self == .pq ? "PQ" : "HLG" }
    }

    /// The light of a display with HLG at full intensity, in cd/m².
    private static let hlgPeak = 1000.0
    /// The light of a PQ or HLG display at the end of the curve, in multiples of the reference white.
    private let peak: Double
    private let curve: Curve
    private let luminances: SIMD3<Double>
    private let rows: [SIMD3<Double>]
    /// The integer that stands for the end of the curve.
    private let full: Double
    /// The curve's light for each sample from 0 to ``full``: 0–1.
    private let lights: [Double]

    /// - Parameters:
    ///   - luminances: how much red, green and blue of full intensity add to the luminance of white. The system gamma of HLG
    ///     needs them.
    ///   - matrix: three rows, for each channel of the result the shares of the source's channels. Nil for the same primaries.
    ///   - full: the integer that stands for the end of the curve, and for opaque.
    package init(_ curve: Curve, luminances: [Double], matrix: [[Double]]?, full: Int) {
        let matrix = matrix ?? [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        precondition(
            luminances.count == 3 && matrix.count == 3 && matrix.allSatisfy { $0.count == 3 }, "colours are RGB")
        precondition((1...65535).contains(full), "samples have up to 16 bits")
        self.curve = curve
        self.luminances = SIMD3(luminances[0], luminances[1], luminances[2])
        rows = matrix.map { SIMD3($0[0], $0[1], $0[2]) }
        self.full = Double(full)
        peak = (curve == .pq ? PQCurve.nits : Self.hlgPeak) / ToneMapping.white
        lights = Self.lights(curve, full)
    }

    private struct Table: Hashable {
        let curve: Curve
        let full: Int
    }

    /// The tables of this process: few, since files have 8 to 16 bits.
    private static let known = Mutex<[Table: [Double]]>([:])

    private static func lights(_ curve: Curve, _ full: Int) -> [Double] {
        known.withLock { known in
            let table = Table(curve: curve, full: full)
            if let lights = known[table] { return lights }
            let lights = (0...full).map { value in
                let share = Double(value) / Double(full)
                return curve == .pq ? PQCurve.decode(share) : HLGCurve.decode(share)
            }
            known[table] = lights
            return lights
        }
    }

    /// - Parameter raster: integers, gray or RGB, with or without alpha.
    package func convert(_ raster: AnyRaster) -> AnyRaster {
        switch raster {
        case .u8(let raster): .f32(convert(raster) { Int($0) })
        case .u16(let raster): .f32(convert(raster) { Int($0) })
        case .f32: preconditionFailure("HDR files have integers")
        }
    }

    private func convert<Sample: PixelSample>(
        _ raster: Raster<Sample>, integer: (Sample) -> Int
    ) -> Raster<Float> {
        let (channels, colors) = (raster.layout.channels, raster.layout.removingAlpha.channels)
        precondition(colors == 1 || colors == 3, "HDR pictures are gray or RGB")
        let samples = raster.samples.span
        func light(_ index: Int) -> Double { lights[min(integer(samples[index]), lights.count - 1)] }
        var result: [Float] = []
        result.reserveCapacity(samples.count)
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            if colors == 1 {
                let gray = shown(SIMD3(repeating: light(pixel)), luminance: light(pixel))
                result.append(Float(rounding: SRGBCurve.encode(gray.x)))
            } else {
                let scene = SIMD3(light(pixel), light(pixel + 1), light(pixel + 2))
                let color = shown(scene, luminance: (scene * luminances).sum())
                for row in rows { result.append(Float(rounding: SRGBCurve.encode((row * color).sum()))) }
            }
            if channels > colors {
                result.append(Float(min(Double(integer(samples[pixel + colors])) / full, 1)))
            }
        }
        return Raster(rect: raster.rect, layout: raster.layout, samples: result)
    }

    /// The display's light for that of the curve. HLG's curve gives the light of the scene, which the system gamma converts:
    /// BT.2100-2, table 5.
    private func shown(_ light: SIMD3<Double>, luminance: Double) -> SIMD3<Double> {
        light * (curve == .pq ? peak : peak * DeterministicMath.power(luminance, 0.2))
    }
}
