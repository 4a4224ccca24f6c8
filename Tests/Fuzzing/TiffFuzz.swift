@testable import ImageFiles

/// Looks through a TIFF file, before and after its decoder.
@c(LLVMFuzzerTestOneInput)
public func fuzzTIFF(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    guard let directories = TIFFDirectories(block: bytes), let file = try? InputFile(path: MemoryFile.path(of: bytes))
    else {
        return 0
    }
    let own = TIFFDirectories(size: file.size) { file.bytes(in: $0) }
    precondition(own?.damage == directories.damage, "a file is read as its bytes are")
    for entries in directories.pages + [directories.directory(at: directories.offsetAfterMain)] {
        for entry in entries {
            precondition(entry.range.upperBound <= bytes.count && !entry.range.isEmpty, "values are in the file")
            _ = (directories.numbers(of: entry), directories.number(of: entry), directories.directory(under: entry))
        }
    }
    // Samples that cannot be read are an ordinary result.
    if let floats = try? FloatTIFF(file),
        let patched = try? InputFile(file, patches: floats.patches, floats: floats.samples)
    {
        _ = patched.bytes(in: 0..<patched.size)
        _ = TIFFDirectories(size: patched.size) { patched.bytes(in: $0) }?.pages
    }
    if let strips = TIFFStrips(file) { precondition(strips.rowsPerStrip > 0, "a strip has rows") }
    var metadata = ImageMetadata(animation: nil, isConverted: false)
    metadata.takeTags(from: directories)
    return 0
}
