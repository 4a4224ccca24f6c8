import Catalogs
import Digests
import FoundationEssentials
import Geometry
import JobModel
import Raster
import Rendering
import WorkerProtocol

/// The digests of a canvas's cells of 256 × 256 pixels, row by row, from the time when it was filled. A file beside the
/// canvas stores them, together with the colour profile of the pixels. The canvas's receipt has the digest of that
/// file, because disks and memory can be faulty.
struct CanvasCells: Sendable {
    static let size = BandReceipt.height

    private let rect: PixelRect
    private var digests: [Digest] = []
    /// The profile of the pixels. Empty if they have none.
    let profile: [UInt8]

    /// - Parameter rect: The canvas's rectangle.
    init(of rect: PixelRect, profile: [UInt8]) {
        self.rect = rect
        self.profile = profile
    }

    static func path(of canvas: String) -> String { "\(canvas).cells" }

    private var columns: Int { Self.columns(of: rect) }

    private static func columns(of rect: PixelRect) -> Int { (rect.width + size - 1) / size }

    /// - Parameter band: The next ``size`` rows, as wide as the canvas. The last band may have fewer.
    mutating func append(_ band: AnyRaster) {
        for column in 0..<columns {
            let left = rect.x + column * Self.size
            let cell = PixelRect(columns: left..<min(left + Self.size, rect.right), rows: band.rect.rows)
            digests.append(band.cropped(to: cell).withBytes { Digest(of: $0) })
        }
    }

    private var bytes: [UInt8] {
        digests.flatMap { digest in
            [digest.high, digest.low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        } + profile
    }

    /// - Returns: The digest of the file.
    func save(beside canvas: String) throws -> Digest {
        let bytes = bytes
        do {
            try Data(bytes).write(to: URL(filePath: Self.path(of: canvas)))
        } catch {
            throw TaskFailure(.storage, "\(Self.path(of: canvas)): the canvas's digests cannot be kept: \(error)")
        }
        return Digest(of: bytes.span.bytes)
    }

    /// - Parameter expected: The digest of the file.
    init(of rect: PixelRect, beside canvas: String, expected: Digest) throws(TaskFailure) {
        let path = Self.path(of: canvas)
        guard let bytes = (try? Data(contentsOf: URL(filePath: path))).map(Array.init),
            Digest(of: bytes.span.bytes) == expected
        else { throw TaskFailure(.damagedCanvas, "\(path): is gone, or not what was written") }
        let rows = (rect.height + Self.size - 1) / Self.size
        let length = min(bytes.count, 16 * rows * Self.columns(of: rect))
        self.init(of: rect, profile: Array(bytes[length...]))
        func word(_ start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * $1) } }
        digests = stride(from: 0, to: length - 15, by: 16).map { Digest(high: word($0), low: word($0 + 8)) }
    }

    /// The cells that contain a part of the canvas, as one rectangle.
    func cells(around part: PixelRect) -> PixelRect {
        func down(_ value: Int, _ origin: Int) -> Int { origin + (value - origin) / Self.size * Self.size }
        func up(_ value: Int, _ origin: Int) -> Int { down(value + Self.size - 1, origin) }
        return PixelRect(
            columns: down(part.x, rect.x)..<min(up(part.right, rect.x), rect.right),
            rows: down(part.y, rect.y)..<min(up(part.bottom, rect.y), rect.bottom))
    }

    /// - Parameter pixels: Whole cells.
    func check(_ pixels: AnyRaster) throws(TaskFailure) {
        for top in stride(from: pixels.rect.y, to: pixels.rect.bottom, by: Self.size) {
            for left in stride(from: pixels.rect.x, to: pixels.rect.right, by: Self.size) {
                let cell = PixelRect(
                    columns: left..<min(left + Self.size, rect.right), rows: top..<min(top + Self.size, rect.bottom))
                let index = (top - rect.y) / Self.size * columns + (left - rect.x) / Self.size
                guard index < digests.count,
                    pixels.cropped(to: cell).withBytes({ Digest(of: $0) }) == digests[index]
                else {
                    throw TaskFailure(
                        .damagedCanvas, "the canvas does not hold the pixels that were decoded, at \(cell)")
                }
            }
        }
    }
}

/// A canvas whose pixels are compared with their digests at every read.
struct CheckedCanvas: PixelSource {
    private let canvas: Canvas
    private let cells: CanvasCells

    init(_ reference: CanvasReference) throws {
        canvas = try Canvas(opening: reference)
        guard let digest = reference.cells else {
            throw TaskFailure(.damagedCanvas, "\(reference.path): a canvas without digests")
        }
        cells = try CanvasCells(of: reference.rect, beside: reference.path, expected: digest)
    }

    var rect: PixelRect { canvas.rect }
    var layout: PixelLayout { canvas.layout }
    var format: SampleFormat { canvas.format }
    /// Empty if the pixels have none.
    var profile: [UInt8] { cells.profile }

    func read(_ part: PixelRect) throws -> AnyRaster {
        guard !part.isEmpty else { return try canvas.read(part) }
        let pixels = try canvas.read(cells.cells(around: part))
        try cells.check(pixels)
        return pixels.cropped(to: part)
    }
}
