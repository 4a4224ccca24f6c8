import Catalogs
import Filters
import Foundation
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// Frames of a picture: crossfades and moving layers, against their definitions in float64.
struct AnimationTests {
    private static let rect = PixelRect(x: -5, y: 3, width: 37, height: 29)

    private func chain(
        _ animation: String, _ values: [String: ParameterValue], frame: Int? = nil,
        after filters: [FilterInvocation] = [],
        layer: AnyRaster = .empty
    ) throws -> Chain {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(layer) })
        var all = filters + [FilterInvocation(filter: animation, values: values)]
        if let frame { all = all.showing(frame: frame) }
        return try Chain(all, registry: FilterRegistry(BuiltInFilters.all, pictures: pictures))
    }

    private func render(_ chain: Chain, _ picture: AnyRaster) throws -> AnyRaster {
        try chain.render(chain.plan(input: picture.rect, layout: picture.layout).output, from: picture)
    }

    private static let fade: [String: ParameterValue] = [
        "duration": .number(0.1), "fps": .number(30), "curve": .word("ease-out"), "filters": .integer(2),
    ]
    private static let faded: [FilterInvocation] = [.gaussian(2), .motion(4, 30)]

    // MARK: Filters that know the frame

    /// Makes every sample the number of the frame.
    private struct FrameNumber: Filter {
        var isIdentity: Bool { false }
        var edge: Edge { .clamp }
        var halo: Halo { .none }
        func extent(of input: PixelRect) -> PixelRect { input }
        func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { output }
        func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }

        func render(_ source: FilterSource, into destination: inout AnyRaster) {
            let number = Float(source.frame)
            destination = .f32(Raster(rect: destination.rect, layout: destination.layout, repeating: number))
        }
    }

    private static let frameNumber = FilterEntry(
        FilterDescriptor(
            name: "frame-number", kind: .point, summary: "The frame's", renderingVersion: 1, parameters: []),
        make: { _ in FrameNumber() })

    private static let withFrameNumber = FilterRegistry(BuiltInFilters.all + [frameNumber])

    @Test func `filters are told which frame they render, in any tile`() throws {
        let chain = try Chain(
            [.gaussian(1), FilterInvocation(filter: "frame-number", values: [:])], registry: Self.withFrameNumber)
        let picture = Pattern.noise.picture(Self.rect, .rgb, .f32)
        for (frame, chain) in [(0, chain), (5, chain.rendering(frame: 5))] {
            for tile in [Self.rect, PixelRect(x: 3, y: 9, width: 4, height: 2)] {
                #expect(try chain.render(tile, from: picture).doubles.allSatisfy { $0 == Double(frame) })
            }
        }
    }

    @Test func `filters that are faded in are told the frame of the film`() throws {
        let invocations = [FilterInvocation(filter: "frame-number", values: [:])]
        let values: [String: ParameterValue] = [
            "duration": .number(0.4), "fps": .number(10), "curve": .word("linear"), "filters": .integer(1),
        ]
        let all = invocations + [FilterInvocation(filter: "crossfade", values: values)]
        let picture = AnyRaster.f32(Raster(rect: Self.rect, layout: .gray, repeating: 0))
        let film = try render(Chain(all, registry: Self.withFrameNumber), picture)
        for frame in 0..<5 {
            let single = try render(Chain(all.showing(frame: frame), registry: Self.withFrameNumber), picture)
            let expected = Double(frame) * Double(frame) / 4
            #expect(single.doubles.allSatisfy { abs($0 - expected) < 1e-5 }, "\(frame)")
            let part = Self.rect.translated(x: 0, y: frame * Self.rect.height)
            #expect(film.cropped(to: part).doubles == single.doubles)
        }
    }

    @Test func `filters of a stream are told the frame`() throws {
        let chain = try Chain(
            [.gaussian(1), FilterInvocation(filter: "frame-number", values: [:])], registry: Self.withFrameNumber
        ).rendering(frame: 3)
        let picture = Pattern.noise.picture(Self.rect, .rgb, .f32)
        #expect(try streamed(chain, picture).allSatisfy { $0 == 3 })
    }

    /// All samples that a stream of the picture gives.
    private func streamed(_ chain: Chain, _ picture: AnyRaster) throws -> [Double] {
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        var rest = [picture]
        let stream = chain.stream(
            plan, format: picture.format, bandHeights: plan.stages.map { _ in 7 }, input: { rest.popLast() })
        var samples: [Double] = []
        while let band = try stream() { samples += band.doubles }
        #expect(samples.count == plan.output.area * plan.outputLayout.channels)
        return samples
    }

    @Test func `filters before a move are told the frame of the film`() throws {
        let values: [String: ParameterValue] = [
            "duration": .number(0.4), "fps": .number(10), "picture": .picture(PictureReference(path: "/a.png")),
            "path": .path([Point(x: .pixels(-90), y: .pixels(0)), Point(x: .pixels(-90), y: .pixels(9))]),
        ]
        let all = [
            FilterInvocation(filter: "frame-number", values: [:]), FilterInvocation(filter: "move", values: values),
        ]
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(Self.layers[0]) })
        let registry = FilterRegistry(BuiltInFilters.all + [Self.frameNumber], pictures: pictures)
        let picture = AnyRaster.f32(Raster(rect: Self.rect, layout: .rgb, repeating: 0))
        let chain = try Chain(all, registry: registry)
        let film = try render(chain, picture)
        // A tile may lie across frames.
        let across = PixelRect(x: -2, y: 3 + Self.rect.height - 4, width: 5, height: Self.rect.height + 9)
        #expect(try chain.render(across, from: picture).hasSameBytes(as: film.cropped(to: across)))
        for frame in 0..<5 {
            let part = Self.rect.translated(x: 0, y: frame * Self.rect.height)
            #expect(film.cropped(to: part).doubles.allSatisfy { $0 == Double(frame) }, "\(frame)")
            let single = try Chain(all.showing(frame: frame), registry: registry)
            #expect(try render(single, picture).doubles.allSatisfy { $0 == Double(frame) }, "\(frame)")
            #expect(try streamed(single, picture).allSatisfy { $0 == Double(frame) }, "\(frame)")
        }
    }

    // MARK: Crossfades

    @Test(arguments: PixelLayout.allCases, SampleFormat.allCases)
    func `a crossfade is both pictures, each by its share`(layout: PixelLayout, format: SampleFormat) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let filtered = try render(Chain(Self.faded, registry: .builtIn), picture)
        let (first, second) = (TruePixels(picture, light: .encoded), TruePixels(filtered, light: .encoded))
        for frame in 0..<4 {
            let chain = try chain("crossfade", Self.fade, frame: frame, after: Self.faded)
            #expect(chain.timeline?.count == 4)
            let share = Easing.easeOut.progress(at: Double(frame) / 3)
            let truth = TruePixels(
                rect: Self.rect, channels: layout.channels,
                values: zip(first.values, second.values).map { $0 * (1 - share) + $1 * share })
            #expect(worstError(try render(chain, picture), truth) <= format.allowedError, "frame \(frame)")
        }
    }

    @Test func `it begins with the picture's bytes and ends with those of its filters`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let first = try render(chain("crossfade", Self.fade, frame: 0, after: Self.faded), picture)
        #expect(first.hasSameBytes(as: picture))
        let last = try render(chain("crossfade", Self.fade, frame: 3, after: Self.faded), picture)
        #expect(last.hasSameBytes(as: try render(Chain(Self.faded, registry: .builtIn), picture)))
    }

    @Test func `filters before those that it fades in are seen in every frame`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        var values = Self.fade
        values["filters"] = .integer(1)
        let first = try render(chain("crossfade", values, frame: 0, after: Self.faded), picture)
        #expect(first.hasSameBytes(as: try render(Chain([.gaussian(2)], registry: .builtIn), picture)))
    }

    @Test func `filters that grow the picture are cropped, and fade in their alpha`() throws {
        let picture = Pattern.noise.picture(Self.rect, .gray, .u8)
        let chain = try chain(
            "crossfade", Self.fade, frame: 3, after: [.gaussian(2), .motion(4, 30, ChainCase.expand)])
        let last = try render(chain, picture)
        #expect(last.rect == Self.rect)
        #expect(last.layout == .grayAlpha)
    }

    // MARK: Moves

    /// A picture on its way by definition: bilinear samples at hundreds of places for every blur.
    private struct TrueLayer {
        let pixels: TruePixels
        let layer: AnyRaster

        init(_ layer: AnyRaster) {
            self.layer = layer
            pixels = TruePixels(layer, light: .encoded, addsAlpha: true)
        }

        /// Premultiplied, 0–1, with its first corner at a place.
        func sample(_ x: Double, _ y: Double, _ channel: Int) -> Double {
            var sum = 0.0
            let (left, top) = (x.rounded(.down), y.rounded(.down))
            for (dx, dy) in [(0.0, 0.0), (1, 0), (0, 1), (1, 1)] {
                let (column, row) = (Int(left + dx), Int(top + dy))
                guard layer.rect.contains(x: column, y: row) else { continue }
                let weight = (1 - abs(x - left - dx)) * (1 - abs(y - top - dy))
                sum += weight * pixels.value(column, row, channel, .clamp) / layer.format.full
            }
            return sum
        }

        func mean(_ x: Double, _ y: Double, _ channel: Int, over places: [(x: Double, y: Double)]) -> Double {
            places.reduce(0) { $0 + sample(x - $1.x, y - $1.y, channel) } / Double(places.count)
        }

        /// The picture of its blur, which is made once and then laid between pixels.
        func blur(_ x: Double, _ y: Double, _ channel: Int, along line: [(x: Double, y: Double)]) -> Double {
            let (left, top) = (x.rounded(.down), y.rounded(.down))
            return [(0.0, 0.0), (1, 0), (0, 1), (1, 1)].reduce(0) { sum, corner in
                let weight = (1 - abs(x - left - corner.0)) * (1 - abs(y - top - corner.1))
                return weight == 0 ? sum : sum + weight * mean(left + corner.0, top + corner.1, channel, over: line)
            }
        }
    }

    /// What lies over a pixel, the lowest first: premultiplied colour and alpha, 0–1.
    private func over(
        _ picture: AnyRaster, _ layers: (_ x: Double, _ y: Double) -> [[Double]]
    ) -> TruePixels {
        let behind = TruePixels(picture, light: .encoded)
        let full = picture.format.full
        var values: [Double] = []
        for y in picture.rect.rows {
            for x in picture.rect.columns {
                let fronts = layers(Double(x), Double(y))
                for channel in 0..<picture.layout.channels {
                    let start = behind.value(x, y, channel, .clamp) / full
                    values.append(fronts.reduce(start) { $1[channel] + $0 * (1 - $1[3]) } * full)
                }
            }
        }
        return TruePixels(rect: picture.rect, channels: picture.layout.channels, values: values)
    }

    /// From the corner of ``rect``.
    private static let path = ParameterValue.path([
        Point(x: .pixels(-6 - Double(rect.x)), y: .pixels(2 - Double(rect.y))),
        Point(x: .pixels(24.5 - Double(rect.x)), y: .percent(40)),
    ])

    private static let layers = [
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 11, height: 8), .rgba, .u8, seed: 3),
        Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 9, height: 7), .rgb, .u16, seed: 4),
    ]

    /// In coordinates: from −6, 2 to 24.5, 3 + 40 % of 29.
    private func place(_ progress: Double) -> (x: Double, y: Double) {
        (-6 + 30.5 * progress, 2 + (3 + 0.4 * 29 - 2) * progress)
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `a moving layer is itself, and over it its blur along the way by its speed`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let values: [String: ParameterValue] = [
            "path": Self.path, "picture": .picture(PictureReference(path: "/a.png")), "duration": .number(0.2),
            "fps": .number(30), "radius": .number(5), "curve": .word("linear"),
        ]
        let radians = atan2(3 + 0.4 * 29 - 2, 30.5)
        let line = (0..<400).map { step in
            let t = 5 * ((Double(step) + 0.5) / 200 - 1)
            return (x: t * cos(radians), y: t * sin(radians))
        }
        for (layer, frame) in zip(Self.layers, [3, 6]) {
            let trueLayer = TrueLayer(layer)
            let progress = Double(frame) / 6
            let here = place(progress)
            let before = place(max(0, progress - 1.0 / 60 / 0.2))
            let opacity = min(max(log2(hypot(here.x - before.x, here.y - before.y)) / 5, 0), 1)
            let truth = over(picture) { x, y in
                [
                    (0..<4).map { trueLayer.sample(x - here.x, y - here.y, $0) },
                    (0..<4).map { opacity * trueLayer.blur(x - here.x, y - here.y, $0, along: line) },
                ]
            }
            let result = try render(chain("move", values, frame: frame, layer: layer), picture)
            #expect(worstError(result, truth) <= format.allowedEffectError, "frame \(frame)")
        }
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `with a shutter it is the mean of all places while that is open`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let values: [String: ParameterValue] = [
            "path": Self.path, "picture": .picture(PictureReference(path: "/a.png")), "duration": .number(0.2),
            "fps": .number(30), "curve": .word("linear"), "shutter": .boolean(true), "shutter_angle": .number(270),
        ]
        for (layer, frame) in zip(Self.layers, [2, 0]) {
            let trueLayer = TrueLayer(layer)
            let places = (0..<800).map { step in
                let time = Double(frame) / 30 + (Double(step) + 0.5 - 400) / 800 * 0.75 / 30
                return place(min(max(time / 0.2, 0), 1))
            }
            let truth = over(picture) { x, y in [(0..<4).map { trueLayer.mean(x, y, $0, over: places) }] }
            let result = try render(chain("move", values, frame: frame, layer: layer), picture)
            #expect(worstError(result, truth) <= format.allowedEffectError, "frame \(frame)")
        }
    }

    @Test(arguments: [false, true])
    func `a white layer with clear corners is nowhere seen on white: its edges do not darken`(shutter: Bool) throws {
        let side = PixelRect(x: 0, y: 0, width: 12, height: 12)
        guard case .u8(var layer) = AnyRaster(zeroed: side, layout: .rgba, format: .u8) else { return }
        for y in 0..<12 {
            for x in 0..<12 where (x - 6) * (x - 6) + (y - 6) * (y - 6) < 30 {
                for channel in 0..<4 { layer.samples[layer.index(x: x, y: y) + channel] = 255 }
            }
        }
        guard case .u8(var white) = AnyRaster(zeroed: Self.rect, layout: .rgb, format: .u8) else { return }
        white.samples = white.samples.map { _ in 255 }
        let values: [String: ParameterValue] = [
            "path": Self.path, "picture": .picture(PictureReference(path: "/a.png")), "duration": .number(0.2),
            "shutter": .boolean(shutter),
        ]
        let film = try render(chain("move", values, layer: .u8(layer)), .u8(white))
        #expect(film.rect.height == 7 * Self.rect.height)
        guard case .u8(let pixels) = film else { return }
        #expect(pixels.samples.allSatisfy { $0 == 255 })
    }

    @Test func `a layer that rests is the layer, and nothing is blurred`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        for more in [["shutter": ParameterValue.boolean(true)], [:]] {
            let values: [String: ParameterValue] = [
                "path": .path([Point(x: .pixels(3), y: .pixels(9)), Point(x: .pixels(3), y: .pixels(9))]),
                "picture": .picture(PictureReference(path: "/a.png")),
            ]
            let chain = try chain("move", values.merging(more) { $1 }, frame: 12, layer: Self.layers[0])
            let pictures = PictureSource(
                picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(Self.layers[0]) })
            let overlay = FilterInvocation(
                filter: "overlay",
                values: [
                    "x": .length(.pixels(3)), "y": .length(.pixels(9)),
                    "picture": .picture(PictureReference(path: "/a.png")),
                ])
            let still = try Chain([overlay], registry: FilterRegistry(BuiltInFilters.all, pictures: pictures))
            #expect(try render(chain, picture).hasSameBytes(as: render(still, picture)))
        }
    }

    // MARK: There and back, and held

    /// The film's frames, each with the coordinates of the picture.
    private func frames(_ chain: Chain, _ picture: AnyRaster) throws -> [AnyRaster] {
        let film = try render(chain, picture)
        return (0..<chain.frames).map { frame in
            let height = picture.rect.height
            return film.cropped(to: picture.rect.translated(x: 0, y: frame * height))
                .translated(x: 0, y: -frame * height)
        }
    }

    private static let move: [String: ParameterValue] = [
        "path": path, "picture": .picture(PictureReference(path: "/a.png")), "duration": .number(0.1),
        "fps": .number(30), "radius": .number(5), "curve": .word("linear"),
    ]

    @Test func `the way back has the frames of the way there, with the blur of the same speed`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let back: [String: ParameterValue] = ["there_and_back": .boolean(true), "repeat": .integer(1)]
        let fade = try frames(
            chain("crossfade", Self.fade.merging(back) { $1 }, after: Self.faded), picture)
        #expect(fade.count == 7)
        for frame in 0..<3 { #expect(fade[frame].hasSameBytes(as: fade[6 - frame]), "\(frame)") }
        // An object that moves evenly is blurred alike in both directions, but at the ends.
        let moves = try frames(chain("move", Self.move.merging(back) { $1 }, layer: Self.layers[0]), picture)
        #expect(moves.count == 7)
        for frame in 1..<3 { #expect(moves[frame].hasSameBytes(as: moves[6 - frame]), "\(frame)") }
        let there = try frames(chain("move", Self.move, layer: Self.layers[0]), picture)
        for frame in 0..<4 { #expect(moves[frame].hasSameBytes(as: there[frame]), "\(frame)") }
        #expect(!moves[0].hasSameBytes(as: moves[6]))
    }

    @Test(arguments: [false, true])
    func `a held picture rests, and the frames around it stay as they are`(shutter: Bool) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let values = Self.move.merging(["shutter": .boolean(shutter)]) { $1 }
        let hold = ParameterValue.numbers(["first": 1, "last": 1])
        let held = try frames(
            chain("move", values.merging(["hold": hold]) { $1 }, layer: Self.layers[0]), picture)
        let plain = try frames(chain("move", values, layer: Self.layers[0]), picture)
        for frame in 1..<3 { #expect(held[frame].hasSameBytes(as: plain[frame]), "\(frame)") }
        #expect(!held[3].hasSameBytes(as: plain[3]))
        for (frame, point) in [
            (0, Point(x: .pixels(-1), y: .pixels(-1))), (3, Point(x: .pixels(29.5), y: .percent(40))),
        ] {
            let overlay = FilterInvocation(
                filter: "overlay",
                values: [
                    "x": .length(point.x), "y": .length(point.y),
                    "picture": .picture(PictureReference(path: "/a.png")),
                ])
            let pictures = PictureSource(
                picture: { _, _ in GrayPicture(width: 1, height: 1) }, layer: { _, _ in Layer(Self.layers[0]) })
            let still = try Chain([overlay], registry: FilterRegistry(BuiltInFilters.all, pictures: pictures))
            // The mean of equal pictures is rounded once more.
            let rest = try render(still, picture)
            #expect(zip(held[frame].doubles, rest.doubles).allSatisfy { abs($0 - $1) <= (shutter ? 1 : 0) }, "\(frame)")
        }
    }

    // MARK: Several animations

    /// Animations of two layers: `/a.png` and `/b.png`.
    private func chain(_ animations: [FilterInvocation], frame: Int? = nil, after filters: [FilterInvocation] = [])
        throws -> Chain
    {
        let pictures = PictureSource(
            picture: { _, _ in GrayPicture(width: 1, height: 1) },
            layer: { reference, _ in Layer(Self.layers[reference.path == "/a.png" ? 0 : 1]) })
        let all = filters + animations
        return try Chain(
            frame.map { all.showing(frame: $0) } ?? all,
            registry: FilterRegistry(BuiltInFilters.all, pictures: pictures))
    }

    private static func moving(_ values: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: "move", values: move.merging(values) { $1 })
    }

    private static let second = PictureReference(path: "/b.png")

    @Test func `each of several pictures has its own way and time, and the later one lies above`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
        let down = ParameterValue.path([
            Point(x: .pixels(4), y: .pixels(-3)), Point(x: .pixels(9), y: .pixels(20)),
        ])
        let late = Self.moving([
            "picture": .picture(Self.second), "path": down, "delay": .number(0.1), "duration": .number(0.2),
            "curve": .word("ease-out"),
        ])
        let film = try frames(chain([Self.moving([:]), late]), picture)
        #expect(film.count == 10)
        let first = try frames(chain([Self.moving([:])]), picture)
        let own = late.values.merging(["delay": .number(0)]) { $1 }
        for frame in 0..<10 {
            // The first one has arrived after 3 frames, and rests. The second one begins then.
            let below =
                frame < 4
                ? first[frame]
                : try render(chain([Self.moving(["hold": .numbers(["first": 0, "last": 9])])], frame: 3), picture)
            let above = FilterInvocation(filter: "move", values: own)
            let expected = try render(chain([above], frame: max(0, frame - 3)), below)
            #expect(film[frame].hasSameBytes(as: expected), "\(frame)")
        }
    }

    @Test func `a picture may move over a fade`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let fade = FilterInvocation(filter: "crossfade", values: Self.fade)
        let film = try frames(chain([fade, Self.moving([:])], after: Self.faded), picture)
        let faded = try frames(chain([fade], after: Self.faded), picture)
        for frame in 0..<4 {
            let expected = try render(chain([Self.moving([:])], frame: frame), faded[frame])
            #expect(film[frame].hasSameBytes(as: expected), "\(frame)")
        }
    }

    @Test func `the last one's frame is shown of all, and must be there`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let long = Self.moving(["duration": .number(0.3), "picture": .picture(Self.second)])
        let film = try frames(chain([Self.moving([:]), long]), picture)
        #expect(film.count == 10)
        #expect(try render(chain([Self.moving([:]), long], frame: 7), picture).hasSameBytes(as: film[7]))
        let last = Self.moving(["frame": .word("last")])
        #expect(
            try render(chain([long, last]), picture).hasSameBytes(
                as: frames(chain([long, Self.moving([:])]), picture)[9]))
        #expect(throws: FilterError(filter: "move", problem: .failed(reason: "there is no frame 11 of 10"))) {
            try chain([Self.moving([:]), long], frame: 10)
        }
    }

    // MARK: All frames in one

    private func films() throws -> [Chain] {
        let move: [String: ParameterValue] = [
            "path": Self.path, "picture": .picture(PictureReference(path: "/a.png")), "duration": .number(0.1),
            "spring": .numbers(["damping": 0.4, "velocity": 2]),
        ]
        return [
            try chain("crossfade", Self.fade, after: [.gaussian(1)] + Self.faded),
            try chain("crossfade", Self.fade, after: [.gaussian(3, ["edge": .word("wrap")]), .gaussian(x: 2, y: 9)]),
            try chain("move", move, after: [.gaussian(1)], layer: Self.layers[0]),
            try chain(
                "move", move.merging(["shutter": .boolean(true)]) { $1 }, layer: Self.layers[1]),
            try chain(
                [
                    FilterInvocation(filter: "crossfade", values: Self.fade),
                    Self.moving(["there_and_back": .boolean(true)]),
                    Self.moving([
                        "picture": .picture(Self.second), "delay": .number(0.1), "there_and_back": .boolean(true),
                    ]),
                ], after: [.gaussian(1)] + Self.faded),
        ]
    }

    @Test func `tiles have the bytes of the whole, across frames, too`() throws {
        var random = SplitMix64(seed: 7)
        for chain in try films() {
            let picture = Pattern.noise.picture(Self.rect, .rgba, .u8)
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            #expect(plan.output.height == chain.frames * Self.rect.height)
            let whole = try chain.render(plan.output, from: picture)
            for _ in 0..<20 {
                let tile = PixelRect.random(in: plan.output, using: &random)
                #expect(try chain.render(tile, from: picture).hasSameBytes(as: whole.cropped(to: tile)), "\(tile)")
            }
        }
    }

    @Test func `frames lie one below the other, each as it is alone, each a tile`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let chain = try chain("crossfade", Self.fade, after: Self.faded)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        let grid = TilePlan(.pixels(8), chain: chain, plan: plan, bytesPerSample: 1, memoryBudget: 1 << 30).grid
        #expect(grid.count == 4)
        for (frame, tile) in grid.tiles.enumerated() {
            let alone = try render(self.chain("crossfade", Self.fade, frame: frame, after: Self.faded), picture)
            let film = try chain.render(tile, from: picture)
            #expect(film.translated(x: 0, y: -frame * Self.rect.height).hasSameBytes(as: alone))
        }
    }

    @Test func `frames that are not there, and too many of them, are refused`() {
        #expect(throws: FilterError(filter: "crossfade", problem: .failed(reason: "there is no frame 5 of 4"))) {
            try chain("crossfade", Self.fade, frame: 4, after: Self.faded)
        }
        let many = "'duration' and 'fps' make 36001 frames; an animation has at most 10000"
        #expect(throws: FilterError(filter: "crossfade", problem: .failed(reason: many))) {
            try chain("crossfade", ["duration": .number(1200), "fps": .number(30)])
        }
    }
}
