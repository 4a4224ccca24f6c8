import Glibc

extension ImageFileError: CustomStringConvertible {
    /// One sentence: the file, the reason, and where there is one the setting that bounds it.
    package var description: String {
        path.isEmpty ? reason : "\(path): \(reason)"
    }

    private var reason: String {
        switch problem {
        case .missing: "no such file"
        case .notAFile: "not a file"
        case .permission(let action): "may not be \(action.rawValue) (permission denied)"
        case .empty: "empty file"
        case .notAnImage: "not an image that Penumbra reads ('penumbra formats' lists them)"
        case .tooManyPixels(let width, let height, let limit):
            "\(width) × \(height) pixels are more than max_pixels: \(Self.short(limit)); "
                + "raise it if the picture is meant"
        case .brokenHeader(let format, let detail): "broken \(format): \(detail)"
        case .broken(let format, let rows, let height, let detail):
            "broken \(format): only \(Self.grouped(rows)) of \(Self.grouped(height)) rows could be read (\(detail))"
        case .noDecoder(let format): "\(format), which the libvips of this machine cannot read"
        case .unsupported(let format, let feature, let remedy):
            "\(format) with \(feature), which Penumbra does not read" + (remedy.map { "; \($0)" } ?? "")
        case .slowDrawing(let format, let seconds):
            "\(format) that takes more than \(seconds) s of processor time to draw; \(Self.drawingRemedy)"
        case .costlyDrawing(let format, let work, let seconds):
            "\(format) with \(work) (the limit is \(seconds) s); \(Self.drawingRemedy)"
        case .tooLarge(let format, let width, let height, let largestSide):
            "\(width) × \(height) pixels are more than \(format) can hold (\(Self.grouped(largestSide)) on a side)"
        case .unsuitable(let format, let reason): "cannot be written as \(format): \(reason)"
        case .option(let format, let name): "save.\(name) has no such value for \(format)"
        case .encoder(let format, let detail): "cannot be written as \(format): \(detail)"
        case .system(let action, let errno): "cannot be \(action.rawValue): \(Self.words(for: errno))"
        case .library(let detail): "libvips does not start: \(detail)"
        }
    }

    private static let drawingRemedy =
        "simplify it, draw it to a PNG first, or set \(DrawingTime.variable) to more seconds"

    /// `3,000`.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        let groups = stride(from: digits.count, to: 0, by: -3).reversed().map { String(digits[max(0, $0 - 3)..<$0]) }
        return (number < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// As a manifest would say it: `2000M`.
    private static func short(_ number: Int) -> String {
        number > 0 && number % 1_000_000 == 0 ? "\(number / 1_000_000)M" : "\(number)"
    }

    private static func words(for code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text).lowercased()
    }
}
