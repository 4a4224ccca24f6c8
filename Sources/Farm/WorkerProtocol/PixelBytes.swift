import Catalogs
import Geometry

/// Upper bounds for the bytes of a task's pixels. The limits of a worker's process are multiples of them.
///
/// Every pixel counts as four samples: conversions may add colours and transparency.
extension ProbeReceipt {
    private static let samples = 4.0

    /// The bytes of the frame's pixels: of its picture, of all outputs, and of the rows and pictures that a worker holds. Nil if
    /// there are more than any file can have.
    ///
    /// The picture counts once for each output, because each output may need the picture decoded in another way.
    package var pixelBytes: Int? {
        let decoded = Double(source.width) * Double(source.height) * Double(source.frames)
        let stored = shrinking.map { Double($0.width) * Double($0.height) } ?? 0
        let written = outputs.reduce(0) { $0 + Double($1.extent.width) * Double($1.extent.height) * Double($1.frames) }
        let pixels = max(decoded, stored) * Double(max(1, outputs.count)) + written
        return Int(ifPossible: pixels * Self.samples * Double(source.format.bytes) + Double(passage.bytes))
    }
}

extension TaskSpec {
    /// The bytes of a pixel with four samples of the largest format.
    private static let largestPixel = 16.0

    /// The same before the frame's probe: as if each picture that the task reads, and each output, had as many pixels as
    /// `max_pixels` allows. A task that renders only small pictures has their bound. Nil if that is not limited, or if the task is only given
    /// after a probe.
    package var largestPixelBytes: Int? {
        switch self {
        case .compare: 0
        case .probe(let task): Self.bytes(task.input, pictures: readFiles)
        case .frame(let task) where task.opening != nil:
            Int(ifPossible: Double(FrameTask.Opening.mostPixels) * Double(1 + task.outputs.count) * Self.largestPixel)
        case .frame(let task): Self.bytes(task.input, pictures: readFiles + task.outputs.count)
        case .preview(let task): Self.bytes(task.input, pictures: readFiles + task.chains.count)
        case .canvas, .tile, .stitch, .audit, .check: nil
        }
    }

    /// The number of pictures: the input and those of filters.
    private var readFiles: Int { files(folderFormats: []).count { $0.use == .read } }

    private static func bytes(_ input: InputSpec, pictures: Int) -> Int? {
        Int(ifPossible: Double(input.maxPixels) * Double(pictures) * largestPixel)
    }

    /// Whether ``largestPixelBytes`` bounds the files that the task writes, too: it writes scratch files for pictures alone, or outputs
    /// of a small picture.
    package var boundsWrittenFiles: Bool {
        switch self {
        case .probe, .audit, .check, .compare: true
        case .frame(let task): task.opening != nil
        case .canvas, .tile, .stitch, .preview: false
        }
    }
}

extension Int {
    /// 256 PB. Larger numbers limit nothing.
    private static let most = Double(1 << 58)

    /// - Parameter bytes: not negative.
    fileprivate init?(ifPossible bytes: Double) {
        guard bytes < Self.most else { return nil }
        self = Int(bytes)
    }
}
