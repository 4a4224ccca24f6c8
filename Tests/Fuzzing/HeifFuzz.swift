@testable import ImageFiles

/// Looks for the pages and colours of a HEIF file, and for the header of JPEG XL.
@c(LLVMFuzzerTestOneInput)
public func fuzzHEIF(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    guard let file = try? InputFile(path: MemoryFile.path(of: bytes)) else { return 0 }
    _ = HEIFBrands.of(bytes)
    let contents = HEIFContents(file)
    for page in [nil, 0, 1] {
        let picture = LoadedPicture(page: page, pages: 2, hasProfile: false)
        // Colours that are unclear are an ordinary result.
        _ = (try? HEIFColor.stated(in: contents, of: picture, file))?.profile(isGray: false)
    }
    for page in contents.pages.prefix(16) { _ = contents.origins(of: page) }
    _ = AV1Color.codes(in: bytes[...])
    if let header = JPEGXLHeader(file) { _ = (header.isAnimation, header.transfer) }
    return 0
}
