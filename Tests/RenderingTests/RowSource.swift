import Geometry
import Raster

/// Gives the rows of a picture in bands.
final class RowSource {
    private let picture: AnyRaster
    private let bandHeight: Int
    private(set) var given = 0
    private(set) var isAtEnd = false

    init(_ picture: AnyRaster, bandHeight: Int) {
        self.picture = picture
        self.bandHeight = bandHeight
    }

    func next() -> AnyRaster? {
        guard given < picture.rect.height else {
            isAtEnd = true
            return nil
        }
        let rows = given..<min(given + bandHeight, picture.rect.height)
        given = rows.upperBound
        let top = picture.rect.y
        return picture.cropped(
            to: PixelRect(columns: picture.rect.columns, rows: top + rows.lowerBound..<top + rows.upperBound))
    }
}
