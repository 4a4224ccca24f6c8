package import Catalogs
package import Raster

/// Where filters get the pictures that their parameters name: filters open no files themselves.
package struct PictureSource: Sendable {
    /// - Parameters:
    ///   - place: what the picture is for, as messages name it: `'mask' of variable`.
    package typealias Open<Picture> = @Sendable (_ reference: PictureReference, _ place: String) throws -> Picture

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
    fileprivate static func unreadable(_ picture: PictureReference, _ place: String) -> FilterError {
        FilterError(filter: place, problem: .failed(reason: "\(picture.path) cannot be read here"))
    }
}
