package import Catalogs
package import Geometry
package import Kernels

/// The parameters that all area filters share, and their effect on geometry.
package struct AreaOptions: Hashable, Sendable {
    package let edge: Edge
    /// Whether the output grows by the filter's reach (`extent: expand`).
    package let expands: Bool
    package let light: Light
    /// Nil for the whole picture.
    package let masking: MaskOptions?

    /// - Parameter masks: the parameters of ``MaskOptions`` that the filter takes.
    /// - Throws: ``FilterError``, or the errors of the source of pictures.
    package init(
        _ arguments: FilterArguments, masks: [ParameterDescriptor] = MaskOptions.parameters
    ) throws {
        edge = Edge(rawValue: try arguments.word("edge")) ?? .clamp
        expands = arguments.isWord("extent") ? try arguments.word("extent") == "expand" : false
        light = Light(rawValue: try arguments.word("light")) ?? .encoded
        masking = try MaskOptions(arguments, of: masks)
    }

    package static let parameters = [edge, extent, light] + MaskOptions.parameters

    package static let edge = ParameterDescriptor(
        "edge", .choice(Edge.allCases.map(\.rawValue)), fallback: .word("clamp"),
        summary:
            "Chooses the pixels outside of the input. 'clamp' repeats the border, 'mirror' reflects the "
            + "picture, 'wrap' continues at the other side, and 'transparent' is empty")

    /// A filter that cannot grow omits this parameter, together with its rules.
    package static let extent = ParameterDescriptor(
        "extent", .choice(["crop", "expand"]), fallback: .word("crop"),
        summary:
            "Chooses the size of the output. 'crop' keeps the size of the input, and 'expand' adds the "
            + "reach of the filter on each side")

    package static let light = light(fallback: .encoded)

    package static func light(fallback: Light) -> ParameterDescriptor {
        ParameterDescriptor(
            "light", .choice(Light.allCases.map(\.rawValue)), fallback: .word(fallback.rawValue),
            summary:
                "Chooses what is filtered. 'encoded' means the stored values, and 'linear' means linear "
                + "light")
    }

    package static let rules = rules(with: MaskOptions.parameters)

    /// The rules of a filter that can grow.
    ///
    /// - Parameter masks: the parameters of ``MaskOptions`` that the filter takes.
    package static func rules(with masks: [ParameterDescriptor]) -> [ParameterRule] {
        [.implies(parameter: "extent", value: "expand", other: "edge", required: "transparent")]
            + MaskOptions.limits(of: masks).map { .excludes(parameter: "extent", value: "expand", other: $0) }
            + MaskOptions.rules(of: masks)
    }
}

extension AreaOptions {
    /// The cost of a pixel in nanoseconds, from the cost of a sample in fixed point and in single precision.
    ///
    /// - Parameter words: the cost of a 16-bit sample without alpha, for filters that have special loops for them.
    package func cost(
        _ layout: PixelLayout, _ format: SampleFormat, fixedPoint: Double, words: Double? = nil, floating: Double
    ) -> Double {
        let output = outputLayout(for: layout)
        let whole = format == .u8 ? fixedPoint : format == .u16 && !output.hasAlpha ? words : nil
        return Double(output.channels) * (light == .encoded ? whole ?? floating : floating)
    }

    package func extent(of input: PixelRect, growth: Halo) -> PixelRect { expands ? input.expanded(by: growth) : input }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout {
        edge == .transparent ? layout.addingAlpha : layout
    }

    /// The rectangle that is read for the output: the output itself, because a mask keeps or blends its originals, and the
    /// input of its pixels that change.
    package func needed(for output: PixelRect, in input: PixelRect, halo: Halo) -> PixelRect {
        needed(for: output, in: input) { $0.expanded(by: halo) }
    }

    /// - Parameter reading: returns the rectangle that the filter reads for a rectangle that changes.
    package func needed(for output: PixelRect, in input: PixelRect, reading: (PixelRect) -> PixelRect) -> PixelRect {
        masking.needed(for: output, in: input, reading: reading)
    }

    /// Where the filter applies, in coordinates.
    package func mask(in input: PixelRect) -> Mask? { masking?.mask(in: input) }
}

/// A filter with the parameters of all area filters, which decide its geometry.
package protocol AreaFilter: Filter {
    var options: AreaOptions { get }
    /// The growth on each side with `extent: expand`.
    var growth: Halo { get }
}

extension AreaFilter {
    package var growth: Halo { halo }
    package var masking: MaskOptions? { options.masking }
    package var edge: Edge { options.edge }

    package func extent(of input: PixelRect) -> PixelRect { options.extent(of: input, growth: growth) }

    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.needed(for: output, in: input, halo: halo)
    }

    package func outputLayout(for layout: PixelLayout) -> PixelLayout { options.outputLayout(for: layout) }
}

extension RoundedRect {
    /// Places a region relative to the corner of `input`. Percents refer to the sides of the input. For corner radii they
    /// refer to the region's shorter side (50 % makes a pill).
    package init(_ region: Region, in input: PixelRect) {
        let width = region.width.pixels(of: input.width)
        let height = region.height.pixels(of: input.height)
        self.init(
            left: region.x.coordinate(along: input.columns), top: region.y.coordinate(along: input.rows), width: width,
            height: height, cornerRadius: Self.radius(region.cornerRadius, shorterSide: min(width, height)))
    }

    private static func radius(_ length: Length, shorterSide: Double) -> Double {
        switch length {
        case .pixels(let value): value
        case .percent(let value): value * shorterSide / 100
        }
    }
}

extension Length {
    /// The coordinate of a length along one side of a filter's input. All lengths, in pixels or percents, count from the
    /// side's first pixel, whatever an earlier filter cropped or added there.
    func coordinate(along side: Range<Int>) -> Double { Double(side.lowerBound) + pixels(of: side.count) }
}

// The common part of `zoom` and `spin`.

extension SweepCenter {
    /// The largest distance of a centre. The pixels that are read, and the time, grow with the distance. At larger distances,
    /// arcs and rays are equivalent to the straight lines of `motion`.
    private static let farthest = LengthLimit(pixels: 100_000, percent: 1000)

    static let parameters = [
        ParameterDescriptor(
            "x", .length(within: farthest), fallback: .length(.percent(50)),
            summary: "Sets the centre, from the left side of the picture"),
        ParameterDescriptor(
            "y", .length(within: farthest), fallback: .length(.percent(50)),
            summary: "Sets the centre, from the top side of the picture"),
    ]

    /// Lengths are measured from the corner of `input`, where its first pixel begins. The centre of that pixel is half a pixel
    /// further, so that 50 % is (width − 1)/2 in coordinates of pixels.
    init(_ x: Length, _ y: Length, in input: PixelRect) {
        self.init(x: x.coordinate(along: input.columns) - 0.5, y: y.coordinate(along: input.rows) - 0.5)
    }
}

extension Halo {
    /// The largest halo of any rectangle in `output`. Paths grow with the distance from the centre along each axis, so that
    /// the corners have the longest paths.
    static func ofSweep(over output: PixelRect, needed: (PixelRect) -> PixelRect) -> Halo {
        guard !output.isEmpty else { return .none }
        let sides = [output.x, output.right - 1].flatMap { x in
            [output.y, output.bottom - 1].map { y in
                let own = PixelRect(x: x, y: y, width: 1, height: 1)
                let read = needed(own)
                return (own.x - read.x, own.y - read.y, read.right - own.right, read.bottom - own.bottom)
            }
        }
        func most(_ values: [Int]) -> Int { (values.max() ?? 0) + 1 }  // plus a pixel for rounding
        return Halo(
            left: most(sides.map(\.0)), top: most(sides.map(\.1)), right: most(sides.map(\.2)),
            bottom: most(sides.map(\.3))) ?? .none
    }
}

extension AreaOptions {
    /// An estimate of the cost in linear light, which looks up every sample.
    ///
    /// - Parameter encoded: the cost in encoded light, measured for 12 megapixels of RGB on a busy core.
    func sweepCost(_ layout: PixelLayout, encoded: Double) -> Double {
        light == .encoded ? encoded + 10 * Double(outputLayout(for: layout).channels) : 300
    }
}
