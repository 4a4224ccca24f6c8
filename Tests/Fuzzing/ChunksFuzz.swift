import Catalogs
@testable import ImageFiles
import JobModel

/// Looks through the parts of JPEG, PNG, animated PNG and GIF files, recognises formats, and adds metadata to WebP and TIFF files.
@c(LLVMFuzzerTestOneInput)
public func fuzzChunks(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    let path = MemoryFile.path(of: bytes)
    guard let file = try? InputFile(path: path) else { return 0 }
    for format in ImageFormats.all where format.recognizes(Array(bytes.prefix(ImageFormats.headLength))) {
        _ = format.unsupportedFeature(in: Array(bytes.prefix(ImageFormats.headLength)))
    }
    _ = MultiPictureIndex(file)?.holdsFurther
    var blocks = GIFBlocks(file)
    _ = blocks.damage()
    let chunks = PNGContents(file, readsTexts: true)
    // Colours that cannot be kept are an ordinary result.
    _ = (chunks.isAnimation, (try? chunks.color)?.profile(isGray: true))
    if let frames = try? APNGFrames(file) {
        for (index, frame) in frames.all.enumerated() {
            precondition(
                frame.column >= 0 && frame.column + frame.width <= frames.width && frame.row >= 0
                    && frame.row + frame.height <= frames.height, "a frame lies in its picture")
            // Data may be damaged.
            _ = try? frames.picture(of: index, in: file)
        }
    }
    var metadata = ImageMetadata(animation: nil, isConverted: false)
    chunks.complete(&metadata) { _ in "exif\n4\n49492a00" }
    let shape = ImageShape(width: 64, height: 48, layout: .rgb, sampleFormat: .u8)
    for policy in [MetadataPolicy.keep, .strip] { _ = metadata.carried(by: policy, shape: shape) }
    return 0
}
