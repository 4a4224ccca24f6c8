import Catalogs
import Filters
import Foundation
import Geometry
import Raster
import TestSupport
import Testing

struct GrainTests {
    private let rect = PixelRect(x: -13, y: 8, width: 29, height: 15)

    private func filter(_ values: [String: ParameterValue]) throws -> any Filter {
        try Shipped.filter("grain", values)
    }

    /// A gray picture of floats, so that nothing is rounded or clamped.
    private func flat(_ value: Float, _ layout: PixelLayout = .rgb, side: Int = 256) -> AnyRaster {
        .f32(Raster(rect: PixelRect(x: -40, y: -70, width: side, height: side), layout: layout, repeating: value))
    }

    /// The four numbers of a pixel: SplitMix64's stream from a state of its own, four bytes for each.
    private func numbers(_ x: Int, _ y: Int, _ seed: Int) -> [Double] {
        let state =
            UInt64(bitPattern: Int64(x)) &* 0xD6E8_FEB8_6659_FD93
            &+ UInt64(bitPattern: Int64(y)) &* 0xA076_1D64_78BD_642F &+ UInt64(seed) &* 0xE703_7ED1_A0B4_28DB
        var random = SplitMix64(seed: state &- 0x9E37_79B9_7F4A_7C15)
        let bytes = [random.next(), random.next()].flatMap { word in (0..<8).map { Double(word >> (8 * $0) & 255) } }
        return (0..<4).map { (bytes[$0 * 4..<$0 * 4 + 4].reduce(0, +) - 510) / sqrt(4 * 65535.0 / 12) }
    }

    /// The numbers around a pixel, each weighing by its place in a spot; as strong in all as one of them.
    private func noise(_ x: Int, _ y: Int, _ size: Double, _ seed: Int) -> [Double] {
        let reach = Int(size)
        var (sums, squares) = ([0.0, 0, 0], 0.0)
        for v in -reach...reach {
            for u in -reach...reach {
                let shares = [u, v].map { max(0, 1 - pow(Double($0) / size, 2)) }
                let weight = pow(shares[0] * shares[1], 2)
                guard weight > 0 else { continue }
                let numbers = numbers(x + u, y + v, seed)
                for channel in 0..<3 { sums[channel] += weight * numbers[channel] }
                squares += weight * weight
            }
        }
        return sums.map { $0 / sqrt(squares) }
    }

    @Test(arguments: SampleFormat.allCases, [(1.0, false), (2.5, false), (4, true)])
    func `it is within rounding of float64`(format: SampleFormat, kind: (size: Double, isMonochrome: Bool)) throws {
        let filter = try filter([
            "amount": .number(9), "size": .number(kind.size), "monochrome": .boolean(kind.isMonochrome),
            "seed": .integer(77), "midtones": .number(80),
        ])
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(rect, layout, format)
            let isOne = kind.isMonochrome || layout.removingAlpha == .gray
            let error = worstError(try filter.render(picture), of: picture) { colors, x, y in
                let light = colors[0] * 0.2126 + colors[1] * 0.7152 + colors[2] * 0.0722
                let strength = 0.09 * (1 - 0.8 * pow(2 * light - 1, 2))
                let noise = noise(x, y, kind.size, 77)
                return (0..<3).map { colors[$0] + strength * noise[isOne ? 0 : $0] }
            }
            #expect(error <= format.roundingError, "\(layout)")
        }
    }

    @Test(arguments: [1, 1.7, 3], [0.2, 0.5, 0.9] as [Float])
    func `the mean stays, and the noise is as strong as was asked for`(size: Double, value: Float) throws {
        let filter = try filter([
            "amount": .number(5), "size": .number(size), "midtones": .number(0), "monochrome": .boolean(false),
        ])
        let result = try filter.render(flat(value)).doubles
        for channel in 0..<3 {
            let noise = stride(from: channel, to: result.count, by: 3).map { (result[$0] - Double(value)) / 0.05 }
            let mean = noise.reduce(0, +) / Double(noise.count)
            let variance = noise.reduce(0) { $0 + $1 * $1 } / Double(noise.count)
            // Four standard errors, of as many independent numbers as there are grains.
            #expect(abs(mean) <= 6 * size / 256)
            #expect(abs(variance.squareRoot() - 1) <= 6 * size / 256)
        }
    }

    @Test func `in 8 bits the mean stays as well`() throws {
        let picture = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 300, height: 300), layout: .gray, repeating: 90))
        let result = try filter(["amount": .number(5)]).render(picture).doubles
        #expect(abs(result.reduce(0, +) / Double(result.count) - 90) <= 0.2)
    }

    @Test func `neighbours, colours and seeds have nothing in common`() throws {
        let values: [String: ParameterValue] = [
            "amount": .number(5), "midtones": .number(0), "monochrome": .boolean(false),
        ]
        let first = try filter(values).render(flat(0.5)).doubles.map { ($0 - 0.5) / 0.05 }
        let second = try filter(values.merging(["seed": .integer(1)]) { $1 }).render(flat(0.5)).doubles.map {
            ($0 - 0.5) / 0.05
        }
        for shift in [1, 3, 256 * 3, 257 * 3] {
            let pairs = zip(first, first.dropFirst(shift))
            #expect(abs(pairs.reduce(0) { $0 + $1.0 * $1.1 } / Double(first.count)) <= 0.01, "\(shift)")
        }
        #expect(abs(zip(first, second).reduce(0) { $0 + $1.0 * $1.1 } / Double(first.count)) <= 0.01)
    }

    @Test func `the noise is the same in all colours unless it is asked for otherwise`() throws {
        let result = try filter([:]).render(flat(0.5)).doubles
        let gray = try filter([:]).render(flat(0.5, .gray)).doubles
        for pixel in gray.indices { #expect(Set(result[pixel * 3..<pixel * 3 + 3]) == [gray[pixel]]) }
    }

    @Test(arguments: [1.0, 2.5])
    func `every frame of an animation has a grain of its own`(size: Double) throws {
        let grain = try filter(["amount": .number(5), "size": .number(size), "midtones": .number(0)])
        let frames = try [0, 1, 2, 1000].map { frame in
            try grain.render(flat(0.5), frame: frame).doubles.map { ($0 - 0.5) / 0.05 }
        }
        for (index, first) in frames.enumerated() {
            // Neither the same noise nor the same noise elsewhere.
            for second in frames[..<index] {
                for shift in [0, 3, 6, 256 * 3, 257 * 3] {
                    let sum = zip(first, second.dropFirst(shift)).reduce(0) { $0 + $1.0 * $1.1 }
                    #expect(abs(sum / Double(first.count)) <= 0.03, "\(shift)")
                }
            }
            #expect(
                try grain.render(flat(0.5), frame: [0, 1, 2, 1000][index]).doubles.map { ($0 - 0.5) / 0.05 } == first)
        }
    }

    @Test func `a still has the grain of a first frame, and tiles of a frame fit together`() throws {
        let (grain, picture) = (try filter(["size": .number(2.2)]), Pattern.noise.picture(rect, .rgba))
        #expect(try grain.render(picture) == grain.render(picture, frame: 0))
        let whole = try grain.render(picture, frame: 7)
        for tile in [PixelRect(x: -13, y: 8, width: 5, height: 15), PixelRect(x: 2, y: 13, width: 9, height: 4)] {
            #expect(try grain.render(picture, tile: tile, frame: 7) == whole.cropped(to: tile))
        }
    }

    @Test func `black and white can be left clean`() throws {
        let clean = try filter(["midtones": .number(100), "amount": .number(50)])
        for value in [0, 1] as [Float] { #expect(try clean.render(flat(value)) == flat(value)) }
    }
}
