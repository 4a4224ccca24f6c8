package import Catalogs
import Kernels
package import Raster
import Synchronization

/// Where filters get the pictures that their parameters name: filters open no files themselves.
package struct PictureSource: Sendable {
    /// - Parameters:
    ///   - purpose: what the picture is for, as messages name it: `'mask' of variable`.
    package typealias Open<Picture> = @Sendable (_ reference: PictureReference, _ purpose: String) throws -> Picture

    let picture: Open<GrayPicture>
    /// In sRGB, or gray; its rectangle begins at 0, 0.
    let layer: Open<Layer>

    package init(picture: @escaping Open<GrayPicture>, layer: @escaping Open<Layer>) {
        self.picture = picture
        self.layer = layer
    }

    /// For chains that name no pictures.
    package static let none = PictureSource(
        picture: { throw FilterError.unreadable($0, $1) }, layer: { throw FilterError.unreadable($0, $1) })
}

extension FilterError {
    fileprivate static func unreadable(_ picture: PictureReference, _ purpose: String) -> FilterError {
        FilterError(filter: purpose, problem: .failed(reason: "\(picture.path) cannot be read here"))
    }
}

/// A picture that is seen in the output, and what its blurs along lines are: made once for all frames.
package final class Layer: Sendable {
    /// Its rectangle begins at 0, 0.
    package let raster: AnyRaster
    private let sweeps = Mutex<[Sweep]>([])

    private struct Sweep {
        let direction: Route.Point
        let radius: Double
        let layer: SweptLayer
    }

    /// Ways with more corners have the blurs that they used least recently made again.
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
