import Catalogs
@testable import ImageFiles
import JobModel

/// Rewrites metadata: the first byte says what they are, and the second one which kinds are kept.
@c(LLVMFuzzerTestOneInput)
public func fuzzExif(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let policy = input.choice(256)
    let bytes = input.bytes
    let kinds: Set<MetadataKind>? =
        policy & 1 == 0
        ? nil : Set(MetadataKind.allCases.enumerated().filter { policy >> ($0.0 % 7 + 1) & 1 == 1 }.map(\.1))
    let shape = ImageShape(width: 640, height: 480, layout: .rgb, sampleFormat: .u8)
    for resolution in [nil, ImageMetadata.Resolution(x: 3, y: 4)] {
        guard
            let block = ExifRules.apply(
                to: bytes, shape: shape, resolution: resolution, kinds: kinds,
                colors: policy & 2 == 2 ? .sRGB : .asStated)
        else { continue }
        precondition(block.count <= 65_000, "an output's EXIF fits into a JPEG")
        guard let document = ExifDocument(block: block) else { preconditionFailure("an output's EXIF can be read") }
        for entry in document.entries.values.joined() {
            precondition(!entry.bytes.holdsJPEG, "an output's EXIF contains no picture")
        }
        _ = (document.orientation, document.resolution)
        // What a second conversion reads is what the first one wrote.
        let again = ExifRules.apply(
            to: block, shape: shape, resolution: resolution, kinds: kinds, colors: policy & 2 == 2 ? .sRGB : .asStated)
        precondition(again.flatMap(ExifDocument.init(block:)) == document, "a second conversion loses nothing")
    }
    if let document = ExifDocument(block: bytes) {
        _ = (document.orientation, document.resolution, document.reordered(littleEndian: policy & 4 == 4).block)
    }
    return 0
}
