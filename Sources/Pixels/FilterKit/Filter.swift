/// A filter of a plugin: a value that is created from the parameters of a manifest, and then renders tiles.
///
/// Authors conform to ``PointFilter``, ``AreaFilter``, ``TileFilter`` or ``GeometryFilter``, and export the type with
/// ``Plugin/export(_:to:)``. A point filter that shares computations within a row or tile conforms to this protocol alone, and
/// writes the tile in ``render(_:)``.
///
/// A filter's output at a pixel depends on its values, on the surrounding pixels and on the position, never on the tile.
/// Several threads use one value at the same time, so a filter must not store anything between two calls.
///
/// For the same bits on every machine, a filter computes with `+ − × ÷` and `squareRoot()`. Sines, powers and logarithms of
/// the C library differ between CPUs; use those of ``DeterministicMath``.
public protocol Filter: Sendable {
    static var description: FilterDescription { get }

    /// Throws ``FilterFailure`` if the values are not valid together.
    init(_ values: FilterValues) throws

    /// Whether the filter changes no pixel. It is then not called.
    var isIdentity: Bool { get }

    /// Writes every pixel of the tile. The user sees the text of thrown errors.
    func render(_ tile: borrowing Tile) throws
}

extension Filter {
    public var isIdentity: Bool { false }
}

/// A filter whose output pixels depend only on the pixel at the same position. Manifests can apply it `within` a region.
public protocol PointFilter: Filter {
    /// - Parameters:
    ///   - pixel: the pixel as it is stored, with colours that are not premultiplied. If the result has an alpha of 0, its
    ///     colours become 0.
    ///   - x, y: the position in the whole picture.
    func pixel(_ pixel: Pixel, x: Int, y: Int, in picture: Picture) -> Pixel
}

/// A filter that reads a neighbourhood and writes a whole tile, because many pixels share computations: the mean of a block,
/// or the tone of a dot. The host extends the picture according to the manifest's `edge`, and offers `light` and `within`.
///
/// Shared computations must have the same order for every tile, and include everything that they depend on.
public protocol TileFilter: Filter {
    /// The halo around a pixel that is read, at most 16384 pixels on each side.
    var halo: Halo { get }
}

/// A filter that reads a neighbourhood, and writes one pixel at a time. The host extends the picture according to the
/// manifest's `edge`, and offers `light` and `within`.
public protocol AreaFilter: TileFilter {
    /// The output pixel, with premultiplied colours.
    ///
    /// - Parameter tile: the input; read it with ``Tile/source(_:_:)``.
    func pixel(x: Int, y: Int, of tile: borrowing Tile) -> Pixel
}

/// A filter whose output can be larger than its input. The host then offers `extent: expand`.
public protocol SpreadingFilter: AreaFilter {
    /// The growth of the output beyond the input, at most 16384 pixels on each side.
    var growth: Halo { get }
}

/// A filter that moves pixels, or whose region of interest is not a halo.
public protocol GeometryFilter: Filter {
    /// The extent of the output for an input with the extent `input`.
    func extent(of input: PixelRect) -> PixelRect

    /// The rectangle that is read for `output`, a part of the extent. It may lie anywhere, also outside of `input`. It must
    /// contain the rectangles that are read for all parts of `output`.
    func regionOfInterest(for output: PixelRect, in input: PixelRect) -> PixelRect

    /// The output pixel, with premultiplied colours.
    func pixel(x: Int, y: Int, of tile: borrowing Tile) -> Pixel
}
