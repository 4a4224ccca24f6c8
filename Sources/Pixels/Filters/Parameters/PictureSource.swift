package import Catalogs
package import Raster

/// Where filters get the pictures that their parameters name: filters open no files themselves.
package struct PictureSource: Sendable {
    /// - Parameters:
    ///   - place: what the picture is for, as messages name it: `'mask' of variable`.
    package typealias Open = @Sendable (_ reference: PictureReference, _ place: String) throws -> GrayPicture

    let picture: Open

    package init(_ picture: @escaping Open) {
        self.picture = picture
    }

    /// For chains that name no pictures.
    package static let none = PictureSource { reference, place in
        throw FilterError(filter: place, problem: .failed(reason: "\(reference.path) cannot be read here"))
    }
}
