package import Catalogs
package import Geometry
package import JobModel

/// A finished canvas: where it is and how its bytes are to be read.
package struct CanvasReference: Hashable, Sendable, Codable {
    package let path: String
    package let rect: PixelRect
    package let layout: PixelLayout
    package let format: SampleFormat
    /// What the decoder has done of the chain's first filter; nil for nothing.
    package let shrinking: Shrinking?
    /// Of the file beside it that has its cells' digests; nil for a tile, whose receipt has its own.
    package let cells: Digest?
    /// Which frame of the input's animation it holds, from 0; nil of anything else.
    package let frame: Int?

    package init(
        path: String, rect: PixelRect, layout: PixelLayout, format: SampleFormat, shrinking: Shrinking? = nil,
        cells: Digest? = nil, frame: Int? = nil
    ) {
        self.frame = frame
        self.cells = cells
        self.path = path
        self.rect = rect
        self.layout = layout
        self.format = format
        self.shrinking = shrinking
    }
}

/// That a picture was decoded at a part of its size.
package struct Shrinking: Hashable, Sendable, Codable {
    /// 2, 4 or 8.
    package let factor: Int
    /// Of the picture in its file, upright.
    package let width: Int
    package let height: Int

    package init(factor: Int, width: Int, height: Int) {
        self.factor = factor
        self.width = width
        self.height = height
    }
}
