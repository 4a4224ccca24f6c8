import Geometry
@testable import ImageFiles

/// Decodes files of formats that Penumbra decodes itself.
@c(LLVMFuzzerTestOneInput)
public func fuzzOwn(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    guard let file = try? InputFile(path: MemoryFile.path(of: bytes)) else { return 0 }
    for format in ImageFormats.all where format.recognizes(Array(bytes.prefix(ImageFormats.headLength))) {
        guard let picture = try? format.picture(in: file) else { continue }
        let shape = picture.feed.shape
        // A small file may state a large picture.
        guard shape.width <= 4096, shape.height <= 4096 else { continue }
        for top in stride(from: 0, to: shape.height, by: 16) {
            let rows = top..<min(top + 16, shape.height)
            guard let raster = try? picture.feed.rows(rows) else { break }
            precondition(
                raster.rect == PixelRect(columns: 0..<shape.width, rows: rows) && raster.layout == shape.layout
                    && raster.format == shape.sampleFormat, "rows have the shape that was announced")
        }
    }
    return 0
}
