import Catalogs
import Digests
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

struct BandDigestsTests {
    private let picture = Pattern.noise.picture(PixelRect(x: -3, y: -2, width: 7, height: 700), .rgb, .u16)

    private func digests(bandHeight: Int) -> [Digest] {
        var digests = BandDigests()
        for band in TileGrid(extent: picture.rect, tileWidth: 7, tileHeight: bandHeight).tiles {
            digests.append(picture.cropped(to: band))
        }
        return digests.finish()
    }

    @Test(arguments: [1, 100, 256, 300, 700])
    func `bands of any height give one digest for every 256 rows`(bandHeight: Int) {
        let expected = [-2..<254, 254..<510, 510..<698].map { rows in
            picture.cropped(to: PixelRect(columns: -3..<4, rows: rows)).withBytes { Digest(of: $0) }
        }
        #expect(digests(bandHeight: bandHeight) == expected)
    }

    @Test func `no rows, no digests`() {
        #expect(BandDigests().finish().isEmpty)
    }
}
