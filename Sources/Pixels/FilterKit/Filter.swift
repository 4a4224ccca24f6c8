/// A filter, as its author writes it: a value that is made from what a manifest says and then renders tiles.
///
/// Authors conform to ``PointFilter``, ``AreaFilter``, ``TileFilter`` or ``GeometryFilter``, and export the type with
/// ``Plugin/export(_:to:)``. A filter of points that works out something for a whole row or tile conforms to this
/// protocol alone, and writes the tile in ``render(_:)``. What a filter writes at a pixel depends on its values, on the
/// pixels around that one and on the position, never on the tile; a value is used by several threads at once, and keeps
/// nothing between two calls.
///
/// For the same bits on every machine a filter computes with `+ − × ÷` and `squareRoot()`: sines, powers and logarithms
/// of the C library differ between CPUs. ``DeterministicMath`` has them.
public protocol Filter: Sendable {
    static var description: FilterDescription { get }

    /// Throws ``FilterFailure`` when values do not go together.
    init(_ values: FilterValues) throws

    /// True when the filter changes no pixel; it is then not called.
    var isIdentity: Bool { get }

    /// Writes every pixel of the tile. Errors reach the user in their own words.
    func render(_ tile: borrowing Tile) throws
}

extension Filter {
    public var isIdentity: Bool { false }
}

/// A filter whose pixels depend on the pixel at the same position only. Manifests can apply it `within` a region.
public protocol PointFilter: Filter {
    /// - Parameters:
    ///   - pixel: as it is stored: colours are not multiplied by alpha. Where the answer's alpha is 0 its colours
    ///     become 0.
    ///   - x, y: where it lies in the whole picture.
    func pixel(_ pixel: Pixel, x: Int, y: Int, in picture: Picture) -> Pixel
}

/// A filter that looks at a neighbourhood, and writes a whole tile by itself since many of its pixels share what was
/// worked out: the mean of a block, the tone of a dot. The host fills what lies outside of the picture as the manifest's
/// `edge` says, and offers `light` and `within`.
///
/// What many pixels share is worked out in an order that is the same for every tile, from all that it depends on.
public protocol TileFilter: Filter {
    /// What is read around a pixel, at most 16384 pixels on each side.
    var halo: Halo { get }
}

/// A filter that looks at a neighbourhood, and writes one pixel at a time. The host fills what lies outside of the
/// picture as the manifest's `edge` says, and offers `light` and `within`.
public protocol AreaFilter: TileFilter {
    /// The output's pixel, with its colours multiplied by alpha.
    ///
    /// - Parameter tile: to read from, by ``Tile/source(_:_:)``.
    func pixel(x: Int, y: Int, of tile: borrowing Tile) -> Pixel
}

/// A filter whose output can be larger than its input: the host then offers `extent: expand`.
public protocol SpreadingFilter: AreaFilter {
    /// How far the output spreads beyond the input, at most 16384 pixels on each side.
    var growth: Halo { get }
}

/// A filter that moves pixels, or reads less than a halo around each.
public protocol GeometryFilter: Filter {
    /// Where the output is defined, for an input that is defined in `input`.
    func extent(of input: PixelRect) -> PixelRect

    /// The rectangle that is read for `output`, a part of the extent. It may lie anywhere, also outside of `input`,
    /// and covers what any part of `output` needs.
    func regionOfInterest(for output: PixelRect, in input: PixelRect) -> PixelRect

    /// The output's pixel, with its colours multiplied by alpha.
    func pixel(x: Int, y: Int, of tile: borrowing Tile) -> Pixel
}
