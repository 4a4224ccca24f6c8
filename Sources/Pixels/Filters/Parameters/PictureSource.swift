package import Catalogs
import Kernels
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

    package init(picture: @escaping Open<GrayPicture>, layer: @escaping Open<Layer>) {
        self.picture = picture
        self.layer = layer
    }

    /// The source for chains that name no pictures.
    package static let none = PictureSource(
        picture: { throw FilterError.unreadable($0, $1) }, layer: { throw FilterError.unreadable($0, $1) })
}

extension FilterError {
    fileprivate static func unreadable(_ picture: PictureReference, _ purpose: String) -> FilterError {
        FilterError(filter: purpose, problem: .failed(reason: "\(picture.path) cannot be read here"))
    }
}

/// A picture that is visible in the output, and its blurs along lines, which are computed once for all frames.
package final class Layer: Sendable {
    /// The pixels. The rectangle begins at 0, 0.
    package let raster: AnyRaster
    private let sweeps = Mutex<[Sweep]>([])

    private struct Sweep {
        let direction: Route.Point
        let radius: Double
        let layer: SweptLayer
    }

    /// The number of cached blurs. Paths with more corners compute the least recently used blurs again.
    private static let kept = 8

    package init(_ raster: AnyRaster) { self.raster = raster }

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
