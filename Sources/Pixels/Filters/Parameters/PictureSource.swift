package import Catalogs
import Geometry
package import Kernels
package import Raster
import Synchronization

/// The source of the pictures that parameters of filters name. Filters do not open files themselves.
package struct PictureSource: Sendable {
    /// - Parameters:
    ///   - purpose: the use of the picture for messages: `'mask' of variable`.
    package typealias Open<Picture> = @Sendable (_ reference: PictureReference, _ purpose: String) throws -> Picture

    let picture: Open<GrayPicture>
    /// Opens a picture in sRGB, or a gray one. Its rectangle begins at 0, 0.
    let layer: Open<Layer>
    let table: Open<ColorCube>
    let font: Open<Typeface>

    package init(
        picture: @escaping Open<GrayPicture>, layer: @escaping Open<Layer>,
        table: @escaping Open<ColorCube> = { throw FilterError.unreadable($0, $1) },
        font: @escaping Open<Typeface> = { throw FilterError.unreadable($0, $1) }
    ) {
        self.picture = picture
        self.layer = layer
        self.table = table
        self.font = font
    }

    /// The source for chains that name no pictures.
    package static let none = PictureSource(
        picture: { throw FilterError.unreadable($0, $1) }, layer: { throw FilterError.unreadable($0, $1) })
}

extension FilterError {
    package static func unreadable(_ picture: PictureReference, _ purpose: String) -> FilterError {
        FilterError(filter: purpose, problem: .failed(reason: "\(picture.path) cannot be read here"))
    }
}

/// A picture that is visible in the output, and its blurs along lines, which are computed once for all frames.
package final class Layer: Sendable {
    /// The pixels. The rectangle begins at 0, 0.
    package let raster: AnyRaster
    private let sweeps = Mutex<[Sweep]>([])
    /// The latest size that was asked for.
    private let scaled = Mutex<AnyRaster?>(nil)

    private struct Sweep {
        let direction: Route.Point
        let radius: Double
        let layer: SweptLayer
    }

    /// The number of cached blurs. Paths with more corners compute the least recently used blurs again.
    private static let kept = 8

    package init(_ raster: AnyRaster) { self.raster = raster }

    /// The most pixels of a scaled picture that is kept whole.
    private static let mostScaled = 16 << 20

    /// Whether the picture in this size is too large to be made whole.
    func isLarge(_ size: PictureSize) -> Bool {
        size != PictureSize(width: raster.rect.width, height: raster.rect.height) && isLargest(size)
    }

    private func isLargest(_ size: PictureSize) -> Bool { size.width * size.height > Self.mostScaled }

    /// The picture in another size. Its rectangle begins at 0, 0.
    ///
    /// - Parameter isLimited: whether its own size may be too large, too.
    /// - Throws: ``FilterError`` if it would be too large.
    func scaled(to size: PictureSize, isLimited: Bool = false) throws(FilterError) -> AnyRaster {
        guard !(isLimited ? isLargest(size) : isLarge(size)) else {
            throw FilterError(
                filter: "overlay",
                problem: .failed(
                    reason: "repeated, or with a shadow, the other picture may have 16 megapixels, and would have "
                        + "\(size.width) × \(size.height) pixels; make it smaller by 'width'"))
        }
        guard size != PictureSize(width: raster.rect.width, height: raster.rect.height) else { return raster }
        let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        return scaled.withLock { scaled in
            if let scaled, scaled.rect == whole { return scaled }
            let made = scaledPart(whole, of: size)
            scaled = made
            return made
        }
    }

    /// A part of the picture in another size. The rectangle of the result begins at 0, 0.
    func scaledPart(_ part: PixelRect, of size: PictureSize) -> AnyRaster {
        let resampler = Resampler(
            horizontal: AxisResampling(
                scale: Double(raster.rect.width) / Double(size.width), kernel: .lanczos3),
            vertical: AxisResampling(
                scale: Double(raster.rect.height) / Double(size.height), kernel: .lanczos3))
        let reach = Halo(horizontal: resampler.horizontal.reach, vertical: resampler.vertical.reach)
        var result = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: part.width, height: part.height), layout: raster.layout,
            format: raster.format)
        resampler.render(
            KernelSource(clamping: raster, reach: reach), corner: (0, 0), shift: (part.x, part.y), light: .encoded,
            into: &result)
        return result
    }

    /// See ``SweptLayer``.
    func swept(along direction: Route.Point, radius: Double) -> SweptLayer {
        sweeps.withLock { sweeps in
            let known = sweeps.firstIndex { $0.direction == direction && $0.radius == radius }
            let sweep =
                known.map { sweeps.remove(at: $0) }
                ?? Sweep(
                    direction: direction, radius: radius,
                    layer: SweptLayer(raster, direction: direction, radius: radius))
            sweeps.append(sweep)
            if sweeps.count > Self.kept { sweeps.removeFirst() }
            return sweep.layer
        }
    }
}
