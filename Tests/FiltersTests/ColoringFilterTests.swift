import Catalogs
import Filters
import Foundation
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// Filters of single pixels against their definitions in float64.
struct ColoringFilterTests {
    private static let rect = PixelRect(x: -3, y: 5, width: 37, height: 29)

    /// A table of random colours, and the same with linear functions, which interpolation gives exactly.
    private static func registry(_ table: ColorCube = ColorCube.twisted(5).cube) -> FilterRegistry {
        FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { _, _ in throw CancellationError() }, layer: { _, _ in throw CancellationError() },
                table: { _, _ in table }))
    }

    private static let file = ParameterValue.picture(PictureReference(path: "/look.cube"))

    /// For each filter some that change something.
    private static let values: [String: [String: ParameterValue]] = [
        "levels": ["gamma": .number(2), "white": .number(80)], "hue": ["angle": .number(77)],
        "white-balance": ["neutral": .color(red: 90, green: 140, blue: 150, alpha: 255)], "lut": ["file": file],
        "tone-map": ["curve": .word("hable"), "exposure": .number(1)],
    ]

    /// A function of straight colours, shares of full intensity; of one channel for gray.
    private typealias Truth = ([Double]) -> [Double]

    private func check(
        _ filter: any Filter, _ layout: PixelLayout, _ format: SampleFormat, _ truth: Truth
    ) throws {
        for pattern in [Pattern.noise, .steps, .photograph] {
            let picture = pattern.picture(Self.rect, layout, format)
            let result = try filter.render(picture)
            #expect((result.rect, result.layout, result.format) == (picture.rect, layout, format))
            let (before, after) = (picture.doubles, result.doubles)
            let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
            var worst = 0.0
            for pixel in stride(from: 0, to: before.count, by: channels) {
                if channels > colors {
                    #expect(after[pixel + colors] == before[pixel + colors])
                    if before[pixel + colors] == 0 {
                        #expect(after[pixel..<pixel + colors].allSatisfy { $0 == 0 })
                        continue
                    }
                }
                let expected = truth(before[pixel..<pixel + colors].map { $0 / format.full })
                for channel in 0..<colors {
                    let wanted = expected[channel] * format.full
                    let stored = format == .f32 ? wanted : min(max(wanted, 0), format.full)
                    worst = max(worst, abs(after[pixel + channel] - stored))
                }
            }
            #expect(worst <= (format == .f32 ? 2e-6 : format == .u16 ? 0.55 : 0.502), "\(pattern) \(layout) \(format)")
        }
    }

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `levels are the formula`(layout: PixelLayout, format: SampleFormat) throws {
        for (black, white, gamma, darkest, brightest) in [
            (10.0, 90.0, 1.0, 0.0, 100.0), (20, 60, 2.2, 5, 80), (0, 100, 0.4, 100, 0),
        ] {
            let filter = try Self.registry().make(
                "levels",
                [
                    "black": .number(black), "white": .number(white), "gamma": .number(gamma),
                    "darkest": .number(darkest), "brightest": .number(brightest),
                ])
            try check(filter, layout, format) { color in
                color.map { value in
                    let place = (value * 100 - black) / (white - black)
                    let share = format == .f32 ? place : min(max(place, 0), 1)
                    let bent = (share < 0 ? -1 : 1) * pow(abs(share), 1 / gamma)
                    return (darkest + (brightest - darkest) * bent) / 100
                }
            }
        }
    }

    @Test func `levels of one channel leave the others, and gray changes with any`() throws {
        let values: [String: ParameterValue] = ["gamma": .number(2), "channel": .word("green")]
        let filter = try Self.registry().make("levels", values)
        try check(filter, .rgb, .u8) { [$0[0], sqrt($0[1]), $0[2]] }
        try check(filter, .gray, .u8) { [sqrt($0[0])] }
    }

    @Test func `black at or above white is refused`() throws {
        for (black, white) in [(50.0, 50.0), (60, 20), (52, 52.00000000000001), (0, 1e-300)] {
            #expect(throws: FilterError.self) {
                try Self.registry().make("levels", ["black": .number(black), "white": .number(white)])
            }
        }
        #expect(throws: FilterError.self) { try Self.registry().make("levels", ["white": .number(0)]) }
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `white balance makes its colour gray, as bright as before`(layout: PixelLayout, format: SampleFormat) throws {
        let neutral = [200, 180, 150]
        let filter = try Self.registry().make(
            "white-balance", ["neutral": .color(red: 200, green: 180, blue: 150, alpha: 255)])
        let light = neutral.map { trueLinear(Double($0) / 255) }
        let luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        try check(filter, layout, format) { color in
            zip(color, light).map { trueEncoded(trueLinear($0) * luminance / $1) }
        }
        let spot = AnyRaster.u8(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: 1, height: 1), layout: .rgb, samples: neutral.map { UInt8($0) }))
        let level = (trueEncoded(luminance) * 255).rounded()
        #expect(try filter.render(spot).doubles == [level, level, level])
    }

    @Test func `white balance leaves gray pictures, and refuses a colour without one channel`() throws {
        let filter = try Self.registry().make(
            "white-balance", ["neutral": .color(red: 200, green: 180, blue: 150, alpha: 255)])
        let picture = Pattern.noise.picture(Self.rect, .gray, .u16)
        #expect(try filter.render(picture) == picture)
        let error = #expect(throws: FilterError.self) {
            try Self.registry().make("white-balance", ["neutral": .color(red: 0, green: 180, blue: 150, alpha: 255)])
        }
        #expect(
            error?.description
                == "white-balance: one channel of 'neutral' is 0, and no factor makes such a colour gray; take a brighter spot"
        )
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `hues turn by the matrix of the W3C`(layout: PixelLayout, format: SampleFormat) throws {
        for angle in [90.0, -37, 180] {
            let filter = try Self.registry().make("hue", ["angle": .number(angle)])
            let (c, s) = (cos(angle * .pi / 180), sin(angle * .pi / 180))
            // The numbers of the standard, written down again.
            let matrix = [
                [0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928],
                [0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283],
                [0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715, 0.072 + c * 0.928 + s * 0.072],
            ]
            try check(filter, layout, format) { color in
                matrix.map { $0[0] * color[0] + $0[1] * color[1] + $0[2] * color[2] }
            }
        }
    }

    @Test func `grays keep their samples when hues turn`() throws {
        let filter = try Self.registry().make("hue", ["angle": .number(123)])
        let rect = PixelRect(x: 0, y: 0, width: 256, height: 1)
        let grays = AnyRaster.u8(
            Raster(rect: rect, layout: .rgb, samples: (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 3) }))
        #expect(try filter.render(grays) == grays)
    }

    @Test(arguments: [2, 5, 17], SampleFormat.allCases)
    func `a table of colours is interpolated in tetrahedra`(size: Int, format: SampleFormat) throws {
        let (cube, points) = ColorCube.twisted(size)
        let filter = try Self.registry(cube).make("lut", ["file": Self.file])
        for layout in [PixelLayout.rgb, .rgba] {
            try check(filter, layout, format) {
                trueTetrahedron($0, points, size: size)
            }
        }
        try check(filter, .gray, format) { gray in
            let color = trueTetrahedron([gray[0], gray[0], gray[0]], points, size: size)
            return [0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]]
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `a table of channels is interpolated between two points, within its domain`(format: SampleFormat) throws {
        let points = [[0.1, 0.9, 0.0], [0.5, 0.4, 0.2], [0.6, 0.3, 0.9], [1, 0, 1]]
        let cube = ColorCube(
            .channels, size: 4, points: points.map { SIMD3(Float($0[0]), Float($0[1]), Float($0[2])) },
            minimum: SIMD3(repeating: 0.25), maximum: SIMD3(repeating: 0.75))
        try check(try Self.registry(cube).make("lut", ["file": Self.file]), .rgb, format) { color in
            color.enumerated().map { channel, value in
                let place = min(max((value - 0.25) / 0.5 * 3, 0), 3)
                let first = min(Int(place), 2)
                let (low, high) = (points[first][channel], points[first + 1][channel])
                return low + (place - Double(first)) * (high - low)
            }
        }
    }

    @Test func `a share of a table's change is made`() throws {
        let (cube, points) = ColorCube.twisted(5)
        let filter = try Self.registry(cube).make("lut", ["file": Self.file, "strength": .number(30)])
        try check(filter, .rgb, .u8) { color in
            zip(color, trueTetrahedron(color, points, size: 5)).map { $0 + 0.3 * ($1 - $0) }
        }
        #expect(try Self.registry(cube).make("lut", ["file": Self.file, "strength": .number(0)]).isIdentity)
    }

    @Test func `a share of a table's change keeps infinite floats`() throws {
        let filter = try Self.registry().make("lut", ["file": Self.file, "strength": .number(50)])
        let rect = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let result = try filter.render(.f32(Raster(rect: rect, layout: .rgb, samples: [.infinity, 0.5, 0.5]))).doubles
        #expect(result[0] == .infinity && result[1].isFinite)
    }

    @Test func `floats beyond a table count as its ends, and NaN as its dark end`() throws {
        let (cube, points) = ColorCube.twisted(5)
        let filter = try Self.registry(cube).make("lut", ["file": Self.file])
        let rect = PixelRect(x: 0, y: 0, width: 3, height: 1)
        let floats: [Float] = [-2, 0.5, 7, .infinity, -.infinity, 0.25, .nan, 0.5, 0.5]
        guard case .f32(let result) = try filter.render(.f32(Raster(rect: rect, layout: .rgb, samples: floats))) else {
            Issue.record("floats stay floats")
            return
        }
        for (pixel, color) in [[0, 0.5, 1], [1, 0, 0.25], [0, 0.5, 0.5]].enumerated() {
            let expected = trueTetrahedron(color, points, size: 5)
            for channel in 0..<3 {
                #expect(abs(Double(result.samples[3 * pixel + channel]) - expected[channel]) < 1e-6)
            }
        }
    }

    @Test(arguments: ["levels", "hue", "white-balance", "lut", "tone-map"], SampleFormat.allCases)
    func `a mask blends the changed picture with the original`(name: String, format: SampleFormat) throws {
        let values = Self.values[name] ?? [:]
        let shape = RoundedRect(left: 3.5, top: 9.25, width: 20, height: 15.5, cornerRadius: 6)
        let region = Region(
            x: .pixels(6.5), y: .pixels(4.25), width: .pixels(20), height: .pixels(15.5), cornerRadius: .pixels(6))
        for layout in [PixelLayout.rgb, .rgba] {
            let picture = Pattern.noise.picture(Self.rect, layout, format)
            let whole = try Self.registry().make(name, values).render(picture)
            let limited = try Self.registry().make(name, values.merging(["within": .region(region)]) { $1 })
            let result = try limited.render(picture)
            let truth = TruePixels(whole, light: .encoded).blended(over: TruePixels(picture, light: .encoded)) {
                shape.coverage(x: $0, y: $1)
            }
            #expect(worstError(result, truth) <= (format == .f32 ? 1e-5 : 1))
        }
    }

    @Test(arguments: ["levels", "hue", "white-balance", "lut", "tone-map"], SampleFormat.allCases)
    func `one colour under any alpha becomes one colour, and invisible pixels stay zero`(
        name: String, format: SampleFormat
    ) throws {
        let filter = try Self.registry().make(name, Self.values[name] ?? [:])
        var random = SplitMix64(seed: 3)
        let color = [0.2, 0.6, 0.4].map { ($0 * format.full).rounded(format == .f32 ? .toNearestOrEven : .down) }
        let samples = (0..<Self.rect.area).flatMap { _ in
            color
                + [Double(random.next() % 5) / 4 * (format == .f32 ? 1 : format.full)].map {
                    format == .f32 ? $0 : $0.rounded()
                }
        }
        let picture: AnyRaster =
            switch format {
            case .u8: .u8(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { UInt8($0) }))
            case .u16: .u16(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { UInt16($0) }))
            case .f32: .f32(Raster(rect: Self.rect, layout: .rgba, samples: samples.map { Float($0) }))
            }
        let result = try filter.render(picture).doubles
        let pixels = stride(from: 0, to: result.count, by: 4).map { Array(result[$0..<$0 + 4]) }
        #expect(Set(pixels.filter { $0[3] > 0 }.map { Array($0[..<3]) }).count == 1)
        #expect(Set(pixels.filter { $0[3] == 0 }) == [[0, 0, 0, 0]])
    }
}

extension ColorCube {
    /// A table whose colours differ from their places, with its points in the order of files.
    static func twisted(_ size: Int) -> (cube: ColorCube, points: [[Double]]) {
        var random = SplitMix64(seed: UInt64(size))
        let points = (0..<size * size * size).map { _ in
            (0..<3).map { _ in Double(Float(Double(random.next() % 1000) / 999)) }
        }
        let cube = ColorCube(
            .colors, size: size, points: points.map { SIMD3(Float($0[0]), Float($0[1]), Float($0[2])) },
            minimum: SIMD3(repeating: 0), maximum: SIMD3(repeating: 1))
        return (cube, points)
    }
}

/// Barycentric interpolation: from the dark corner of the cell along the axis with the largest share, then the next, then the last.
private func trueTetrahedron(_ color: [Double], _ points: [[Double]], size: Int) -> [Double] {
    let place = color.map { min(max($0, 0), 1) * Double(size - 1) }
    var corner = place.map { min(Int($0), size - 2) }
    let shares = zip(place, corner).map { $0 - Double($1) }
    func point() -> [Double] { points[corner[0] + size * (corner[1] + size * corner[2])] }
    var result = point()
    for axis in (0..<3).sorted(by: { shares[$0] > shares[$1] }) {
        let before = point()
        corner[axis] += 1
        let after = point()
        for channel in 0..<3 { result[channel] += shares[axis] * (after[channel] - before[channel]) }
    }
    return result
}
