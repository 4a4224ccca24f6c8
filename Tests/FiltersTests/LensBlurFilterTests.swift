import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The lens blur against its definition in float64.
struct LensBlurFilterTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 33, height: 26)
    private static let depthPath = ParameterValue.picture(PictureReference(path: "/depth.png"))
    private static let shapePath = ParameterValue.picture(PictureReference(path: "/shape.png"))

    /// Every depth beside every other one.
    private static func noise(_ width: Int, _ height: Int, _ pattern: Pattern = .noise) -> GrayPicture {
        gray(pattern.picture(PixelRect(x: 0, y: 0, width: width, height: height), .gray, .u16, seed: 3))
    }

    private static func gray(_ raster: AnyRaster) -> GrayPicture {
        var picture = GrayPicture(width: raster.rect.width, height: raster.rect.height)
        picture.paste(raster)
        return picture
    }

    private static func gray(_ width: Int, _ samples: [UInt16]) -> GrayPicture {
        let rect = PixelRect(x: 0, y: 0, width: width, height: samples.count / width)
        return gray(.u16(Raster(rect: rect, layout: .gray, samples: samples)))
    }

    private func filter(
        _ values: [String: ParameterValue], depth: GrayPicture? = nil, shape: GrayPicture? = nil
    ) throws -> any Filter {
        var values = values
        if depth != nil { values["depth"] = Self.depthPath }
        if shape != nil { values["shape"] = Self.shapePath }
        let registry = FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { reference, _ in
                    (reference.path == "/shape.png" ? shape : depth) ?? GrayPicture(width: 1, height: 1)
                }, layer: { _, _ in throw UnreadableLayer() }))
        return try registry.make("lens-blur", values)
    }

    private func worst(
        _ lens: TrueLens, _ picture: AnyRaster, depth: GrayPicture? = nil, edge: Edge = .clamp, light: Light = .encoded,
        _ values: [String: ParameterValue] = [:]
    ) throws -> Double {
        var values = values
        values["radius"] = .number(lens.radius)
        values["light"] = .word(light.rawValue)
        if values["extent"] == nil { values["edge"] = .word(edge.rawValue) }
        if lens.gain > 1 {
            values["gain"] = .number(lens.gain)
            values["threshold"] = .number(lens.threshold * 100)
        }
        if depth != nil {
            values["focus"] = .number(lens.focus * 100)
            values["range"] = .number(lens.range * 100)
            values["near"] = .word(lens.isWhiteNear ? "white" : "black")
        }
        let filter = try filter(values, depth: depth)
        let colors = picture.layout.removingAlpha.channels
        let pixels = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
        let truth = pixels.blurred(
            by: lens, full: picture.format.full, colors: colors, edge: edge, output: filter.extent(of: picture.rect),
            depth: depth.map { depth in { trueStrength(of: depth, x: $0, y: $1, over: picture.rect) } })
        return worstError(try filter.render(picture), cut(truth, picture.format, colors), light: light)
    }

    /// Brightened light is cut off where integers end.
    private func cut(_ truth: TruePixels, _ format: SampleFormat, _ colors: Int) -> TruePixels {
        guard format != .f32 else { return truth }
        var result = truth
        for index in truth.values.indices {
            let pixel = index / truth.channels
            let most = truth.channels > colors ? truth.values[pixel * truth.channels + colors] : format.full
            result.values[index] = min(truth.values[index], most)
        }
        return result
    }

    // MARK: The same radius everywhere

    @Test(arguments: [0.1, 0.5, 1, 2.7, 8])
    func `a disc is exact for every pattern, layout and format`(radius: Double) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                for pattern in Pattern.allCases {
                    let picture = pattern.picture(Self.rect, layout, format)
                    #expect(
                        try worst(TrueLens(radius: radius), picture) <= format.allowedLensError,
                        "\(pattern) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: [(3, 0.0, 0.0), (5, 0, 17), (6, 30, 90), (8, 80, -45), (16, 100, 3)], [1.0, 4.3])
    func `blades are exact`(blades: (count: Int, curvature: Double, angle: Double), radius: Double) throws {
        var lens = TrueLens(radius: radius)
        lens.aperture = {
            trueBlades(blades.count, curvature: blades.curvature / 100, degrees: blades.angle, radius: $0)
        }
        let values: [String: ParameterValue] = [
            "blades": .integer(blades.count), "curvature": .number(blades.curvature), "angle": .number(blades.angle),
        ]
        for format in SampleFormat.allCases {
            let picture = Pattern.binaryNoise.picture(Self.rect, .rgba, format)
            #expect(try worst(lens, picture, values) <= format.allowedLensError, "\(format)")
        }
    }

    @Test func `sides that are quite round make a disc`() throws {
        let picture = Pattern.noise.picture(Self.rect)
        let round = ["blades": ParameterValue.integer(5), "curvature": .number(100), "radius": .number(6.5)]
        #expect(try filter(round).render(picture) == filter(["radius": .number(6.5)]).render(picture))
    }

    @Test(arguments: Edge.allCases, [0.4, 3, 9.5])
    func `every edge is exact, on pictures smaller than the aperture too`(edge: Edge, radius: Double) throws {
        for rect in Self.smallRects {
            for format in SampleFormat.allCases {
                let picture = Pattern.binaryNoise.picture(rect, .grayAlpha, format)
                #expect(
                    try worst(TrueLens(radius: radius), picture, edge: edge) <= format.allowedLensError,
                    "\(rect) \(format)")
            }
        }
    }

    private static let smallRects = [
        PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 0, y: 0, width: 1, height: 19),
        PixelRect(x: 0, y: 0, width: 23, height: 1), PixelRect(x: -7, y: 3, width: 21, height: 13),
    ]

    @Test func `the largest disc is exact`() throws {
        let picture = Pattern.binaryNoise.picture(PixelRect(x: 0, y: 0, width: 5, height: 3), .rgb, .u16)
        #expect(try worst(TrueLens(radius: 100), picture, edge: .wrap) <= SampleFormat.u16.allowedLensError)
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `light is linear unless the manifest says otherwise`(format: SampleFormat, layout: PixelLayout) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        #expect(try worst(TrueLens(radius: 4.5), picture, light: .linear) <= 2.3 * format.allowedLensError)
        let plain = try filter(["radius": .number(4.5)]).render(picture)
        #expect(plain == (try filter(["radius": .number(4.5), "light": .word("linear")]).render(picture)))
    }

    @Test func `an expanded picture grows by the radius, rounded up`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let filter = try filter(["radius": .number(3.25), "extent": .word("expand")])
        #expect(filter.extent(of: picture.rect) == picture.rect.expanded(by: Halo(horizontal: 4, vertical: 4)))
        let values = ["extent": ParameterValue.word("expand")]
        #expect(
            try worst(TrueLens(radius: 3.25), picture, edge: .transparent, values)
                <= SampleFormat.u16.allowedLensError)
    }

    // MARK: Highlights

    @Test(arguments: [0.0, 0.6, 1], [1.5, 20])
    func `highlights are brightened before they are blurred`(threshold: Double, gain: Double) throws {
        var lens = TrueLens(radius: 2.5)
        (lens.threshold, lens.gain) = (threshold, gain)
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = Pattern.noise.picture(Self.rect, layout, format)
                #expect(try worst(lens, picture) <= format.allowedLensError * (format == .u8 ? 1 : gain))
            }
        }
    }

    @Test func `a lamp keeps its strength, and what is in focus keeps its colours`() throws {
        var raster = Raster<UInt8>(rect: PixelRect(x: 0, y: 0, width: 41, height: 21), layout: .gray, repeating: 0)
        raster.samples[raster.index(x: 10, y: 10)] = 255
        raster.samples[raster.index(x: 30, y: 10)] = 255
        let depth = Self.gray(41, (0..<41 * 21).map { $0 % 41 < 21 ? 0 : 32768 })
        let values: [String: ParameterValue] = ["radius": .number(4), "gain": .number(60), "threshold": .number(50)]
        guard case .u8(let result) = try filter(values, depth: depth).render(.u8(raster)) else { return }
        // A disc of 63.6 pixels, 60 times as bright.
        #expect(result.samples[result.index(x: 12, y: 10)] > 240)
        #expect(result.samples[result.index(x: 30, y: 10)] == 255)
        #expect(result.samples[result.index(x: 31, y: 10)] == 0)
    }

    // MARK: The picture of an aperture

    @Test func `a point of light becomes an upright picture of the aperture`() throws {
        let shape = Self.gray(3, [65535, 0, 0, 65535, 65535, 0, 0, 0, 32768])
        var raster = Raster<Float>(rect: PixelRect(x: 0, y: 0, width: 9, height: 9), layout: .gray, repeating: 0)
        raster.samples[raster.index(x: 4, y: 4)] = 1
        let result = try filter(["radius": .number(1), "light": .word("encoded")], shape: shape).render(.f32(raster))
        let part = result.cropped(to: PixelRect(x: 3, y: 3, width: 3, height: 3)).doubles
        for (found, wanted) in zip(part, [1, 0, 0, 1, 1, 0, 0, 0, 0.5]) { #expect(abs(found - wanted / 3.5) < 1e-4) }
        #expect(abs(result.doubles.reduce(0, +) - 1) < 1e-5)
    }

    @Test func `a white square is the box of its width, at any size of its picture`() throws {
        let picture = Pattern.noise.picture(Self.rect)
        let box = try FilterRegistry.builtIn.make("box", ["radius": .number(3)]).render(picture)
        for side in [1, 2, 7, 100] {
            let shape = Self.gray(side, [UInt16](repeating: 65535, count: side * side))
            let result = try filter(["radius": .number(3), "light": .word("encoded")], shape: shape).render(picture)
            for (found, wanted) in zip(result.doubles, box.doubles) { #expect(abs(found - wanted) <= 1) }
        }
    }

    @Test func `a dark middle leaves no holes in a picture with depths`() throws {
        let ring = Self.gray(5, (0..<25).map { [0, 4, 20, 24, 2, 10, 14, 22].contains($0) ? 65535 : 0 })
        let flat = AnyRaster.u8(Raster(rect: Self.rect, layout: .rgb, repeating: 90))
        #expect(try filter(["radius": .number(4)], depth: Self.noise(33, 26), shape: ring).render(flat) == flat)
    }

    @Test func `an aperture that lets no light through is refused`() {
        #expect {
            try filter([:], shape: GrayPicture(width: 4, height: 4))
        } throws: {
            "\($0)" == "lens-blur: the picture of 'shape' is black, so that no light passes; draw it in white"
        }
    }

    // MARK: Depths

    @Test(arguments: [0.3, 1, 3.4, 7], Pattern.allCases)
    func `every depth beside every other one is exact`(radius: Double, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = pattern.picture(Self.rect, layout, format)
                let error = try worst(TrueLens(radius: radius), picture, depth: Self.noise(33, 26))
                #expect(error <= format.allowedLensError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: [0, 0.3, 0.5, 1], [0, 0.2, 1])
    func `every focus is exact`(focus: Double, range: Double) throws {
        for isWhiteNear in [true, false] {
            var lens = TrueLens(radius: 5)
            (lens.focus, lens.range, lens.isWhiteNear) = (focus, range, isWhiteNear)
            for pattern in [Pattern.steps, .photograph, .noise] {
                let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
                let error = try worst(lens, picture, depth: Self.noise(33, 26, pattern))
                #expect(error <= SampleFormat.u16.allowedLensError, "\(pattern), white near: \(isWhiteNear)")
            }
        }
    }

    @Test(arguments: Edge.allCases)
    func `depths continue beyond the edge as the picture does`(edge: Edge) throws {
        for rect in Self.smallRects {
            let picture = Pattern.binaryNoise.picture(rect, .rgb, .u8)
            let depth = Self.noise(rect.width, rect.height)
            #expect(try worst(TrueLens(radius: 5.5), picture, depth: depth, edge: edge) <= 1, "\(rect)")
        }
    }

    @Test(arguments: [(1, 1), (5, 60), (70, 2), (66, 52)])
    func `a depth picture of any size is spread over the picture`(width: Int, height: Int) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
        let depth = Self.noise(width, height, .photograph)
        #expect(try worst(TrueLens(radius: 4), picture, depth: depth) <= SampleFormat.u16.allowedLensError)
    }

    @Test func `highlights and depths are exact together, in linear light and beyond the edge`() throws {
        var lens = TrueLens(radius: 4)
        (lens.threshold, lens.gain, lens.focus) = (0.4, 6, 0.8)
        for layout in PixelLayout.allCases {
            let picture = Pattern.noise.picture(Self.rect, layout, .f32)
            let values = ["extent": ParameterValue.word("expand")]
            let error = try worst(
                lens, picture, depth: Self.noise(33, 26), edge: .transparent, light: .linear, values)
            #expect(error <= 15 * SampleFormat.f32.allowedLensError, "\(layout)")
        }
    }

    /// A square of a depth on a background of another one, in a picture that is black but for the square.
    private static func square(inside: UInt16, outside: UInt16) -> (picture: AnyRaster, depth: GrayPicture) {
        let rect = PixelRect(x: 0, y: 0, width: 60, height: 50)
        var raster = Raster<UInt8>(rect: rect, layout: .rgb, repeating: 20)
        var depth = [UInt16](repeating: outside, count: rect.area)
        for y in 15..<35 {
            for x in 20..<40 {
                depth[y * 60 + x] = inside
                for channel in 0..<3 { raster.samples[raster.index(x: x, y: y) + channel] = 250 }
            }
        }
        return (.u8(raster), gray(60, depth))
    }

    @Test func `a bright thing in focus does not bleed into the blur behind it, and stays as it is`() throws {
        let (picture, depth) = Self.square(inside: 65535, outside: 0)
        let values: [String: ParameterValue] = ["radius": .number(8), "focus": .number(100)]
        #expect(try filter(values, depth: depth).render(picture) == picture)
    }

    @Test func `a bright background does not bleed over the edge of a thing in focus`() throws {
        let (picture, depth) = Self.square(inside: 0, outside: 65535)
        let values: [String: ParameterValue] = ["radius": .number(8), "focus": .number(0), "near": .word("black")]
        #expect(try filter(values, depth: depth).render(picture) == picture)
    }

    @Test func `a thing in front of the focus spreads over what is sharp, and lets it through at its border`() throws {
        let (picture, depth) = Self.square(inside: 65535, outside: 0)
        let values: [String: ParameterValue] = [
            "radius": .number(8), "focus": .number(0), "light": .word("encoded"),
        ]
        guard case .u8(let result) = try filter(values, depth: depth).render(picture) else { return }
        let row = (0..<60).map { result.samples[result.index(x: $0, y: 25)] }
        #expect(row[..<12].allSatisfy { $0 == 20 } && row[48...].allSatisfy { $0 == 20 })
        #expect(zip(row[12..<28], row[13..<29]).allSatisfy { $0 <= $1 }, "it becomes brighter without a step back")
        #expect(row[18] > 60 && row[18] < 135 && row[21] > 135 && row[21] < 230)
        // No step at the old border is larger than those around it in a disc's profile.
        #expect(zip(row, row.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 18 })
    }

    @Test func `everything at the largest distance has the blur of the whole radius`() throws {
        let picture = Pattern.noise.picture(Self.rect)
        for (shade, focus) in [(UInt16(0), 100.0), (65535, 0)] {
            let result = try filter(
                ["radius": .number(5), "focus": .number(focus)], depth: Self.gray(1, [shade])
            ).render(picture)
            let flat = try filter(["radius": .number(5)]).render(picture)
            for (found, wanted) in zip(result.doubles, flat.doubles) { #expect(abs(found - wanted) <= 1) }
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `tiles are parts of the whole`(format: SampleFormat) throws {
        let rect = PixelRect(x: 3, y: -2, width: 300, height: 41)
        let picture = Pattern.noise.picture(rect, .rgba, format)
        for depth in [nil, Self.noise(31, 12), Self.noise(300, 41)] {
            let values: [String: ParameterValue] = ["radius": .number(9), "gain": .number(3), "blades": .integer(5)]
            let filter = try filter(values, depth: depth)
            let whole = try filter.render(picture)
            for tile in [
                PixelRect(x: 3, y: -2, width: 17, height: 41), PixelRect(x: 100, y: 5, width: 77, height: 20),
                PixelRect(x: 250, y: 38, width: 53, height: 1),
            ] {
                #expect(try filter.render(picture, tile: tile).hasSameBytes(as: whole.cropped(to: tile)))
            }
        }
    }

    // MARK: Values

    @Test(arguments: [
        (
            ["threshold": ParameterValue.number(50)], "lens-blur: 'gain' needs a value"
        ),
        (["focus": .number(20)], "lens-blur: 'depth' needs a value"),
        (["near": .word("black")], "lens-blur: 'depth' needs a value"),
        (["radius": .number(100.5)], "lens-blur: 'radius' is 100.5, but must be in 0.0…100.0"),
        (["gain": .number(0.5)], "lens-blur: 'gain' is 0.5, but must be in 1.0…100.0"),
        (["blades": .integer(2)], "lens-blur: 'blades' is 2.0, but must be in 3.0…16.0"),
        (["blades": .word("disc")], "lens-blur: 'blades' cannot be 'disc'; there are none"),
        (
            ["blades": .integer(5), "shape": shapePath],
            "lens-blur: 'shape' does not go with 'blades'; leave one of them out"
        ),
    ])
    func `values that do not fit are refused`(values: [String: ParameterValue], message: String) {
        #expect {
            try filter(values)
        } throws: {
            "\($0)" == message
        }
    }

    @Test(arguments: [0.01, 0.2, 0.5, 1, 1.5, 7.77, 20])
    func `a disc's shares are its areas`(radius: Double) {
        let mask = ApertureMask(.disc, radius: radius)
        let disc = trueDisc(radius)
        let full = disc.map(\.weight).max() ?? 1
        for pixel in disc where radius >= 0.5 {
            #expect(abs(mask.share(dx: pixel.dx, dy: pixel.dy) - pixel.weight / full) <= 3e-3, "\(pixel)")
        }
        #expect(mask.share(dx: mask.reach + 1, dy: 0) == 0)
    }

    @Test func `places rise with the distance from the focus`() {
        for radius in [0.2, 3, 20, 100] {
            let layers = FocusLayers(radius: radius, focus: 0.4, range: 0.1, isWhiteNear: true)
            let places = stride(from: 0, through: 65535, by: 13).map { layers.place(of: $0) }
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(layers.place(of: 65535) == Float(layers.count) && layers.place(of: 0) < 0)
            #expect(layers.place(of: 65535 * 36 / 100) == 0 && layers.place(of: 65535 * 44 / 100) == 0)
        }
    }
}

extension SampleFormat {
    fileprivate var allowedLensError: Double {
        switch self {
        case .u8: 1
        case .u16: 12
        case .f32: 2e-4
        }
    }
}
