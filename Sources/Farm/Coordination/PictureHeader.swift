import JobModel
import SafeFiles
import Scheduling

/// What a picture says of itself before its pixels.
package struct PictureHeader: Hashable, Sendable {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Of a Deep Zoom folder `a`, as `a/a.dzi` tells it: `<Size Height="400" Width="700"/>`.
    init(ofFolder path: String) throws(FrameFailure) {
        let name = PathNames.last(of: path)
        // A file that cannot be read says as little as an empty one.
        let bytes = try? SafeFolder(path, trusting: .everybody).contents(of: "\(name).dzi", limit: Self.largest)
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        guard let width = Self.number("Width", in: text), let height = Self.number("Height", in: text) else {
            throw FrameFailure(.data, "\(path): \(name).dzi in it does not tell the picture's size")
        }
        self.init(width: width, height: height)
    }

    /// Of a `.dzi`, in bytes.
    private static let largest = 1 << 16
    /// No side of a picture is longer.
    private static let longestSide = 10_000_000

    /// The value of an attribute, in digits.
    private static func number(_ attribute: String, in text: String) -> Int? {
        guard let start = text.firstRange(of: "\(attribute)=\"")?.upperBound else { return nil }
        return Int(text[start...].prefix { $0 != "\"" }).flatMap { (1...longestSide).contains($0) ? $0 : nil }
    }
}
