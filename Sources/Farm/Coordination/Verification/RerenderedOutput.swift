package import JobModel
import JobStorage

/// What came of rendering an output once more.
package enum RerenderedCondition: Hashable, Sendable {
    /// The same bytes came out.
    case asPublished
    /// The file has other bytes, written by another encoder of the same pixels.
    case encoderDiffers(recorded: String, now: String)
    /// The same encoder wrote other bytes of the same pixels.
    case bytesDiffer
    case pixelsDiffer
    /// Other pixels, as is to be expected of other versions of the filters: `gaussian 1, this is gaussian 2`.
    case versionsDiffer(String)
    /// Other bytes, and nobody knows what the pixels were.
    case unknownDiffers
    /// It cannot be compared, which is no fault of the output: its input has changed.
    case skipped(reason: String)
    case failed(String)

    package var isDamage: Bool {
        switch self {
        case .asPublished, .encoderDiffers, .versionsDiffer, .skipped: false
        case .bytesDiffer, .pixelsDiffer, .unknownDiffers, .failed: true
        }
    }

    /// - Parameter versions: how the filters' versions differ; nil when they do not.
    init(of record: OutputRecord, digest: Digest, pixels: EncodedPixels, versions: String?) {
        let recorded = record.pixels
        if digest == record.file.digest {
            self = .asPublished
        } else if let recorded, recorded.digest == pixels.digest {
            let (before, now) = (recorded.encoding.encoder, pixels.encoding.encoder)
            self = before == now ? .bytesDiffer : .encoderDiffers(recorded: before, now: now)
        } else if let versions {
            self = .versionsDiffer(versions)
        } else {
            self = recorded == nil ? .unknownDiffers : .pixelsDiffer
        }
    }
}

/// An output, and what came of rendering it once more.
package struct RerenderedOutput: Hashable, Sendable {
    package let output: RecordedOutput
    package let condition: RerenderedCondition
    /// The digests that came out; nil when it was not rendered.
    package let digest: Digest?
    package let pixels: EncodedPixels?

    init(_ output: RecordedOutput, _ condition: RerenderedCondition) {
        (self.output, self.condition, digest, pixels) = (output, condition, nil, nil)
    }

    init(_ output: RecordedOutput, _ condition: RerenderedCondition, _ digest: Digest, _ pixels: EncodedPixels) {
        (self.output, self.condition, self.digest, self.pixels) = (output, condition, digest, pixels)
    }
}
