/// Writes animated PNG files of every sort, also wrong ones.
struct APNGBuilder {
    struct Frame {
        var picture: PNGBuilder
        var column = 0
        var row = 0
        var delay: (numerator: Int, denominator: Int) = (1, 10)
        /// 0 keeps the pixels, 1 clears them, 2 brings back those before.
        var disposal: UInt8 = 0
        /// 1 draws over the pixels before.
        var blend: UInt8 = 0
        /// The size that the control states. Nil for that of the picture.
        var stated: (width: Int, height: Int)?
    }

    /// A picture that is no part of the animation. Nil if the first frame is the picture.
    var hidden: PNGBuilder?
    var frames: [Frame]
    var repetitions = 0
    /// The number of frames that the file states. Nil for the true one.
    var declared: Int?
    /// What is added to each number of a part.
    var numberStep = 1
    /// Chunks before the pixels.
    var chunks: [(name: String, payload: [UInt8])] = []

    func build() -> [UInt8] {
        let first = hidden ?? frames[0].picture
        var result = first.head
        func add(_ name: String, _ payload: [UInt8]) { result += first.chunk(name, payload) }
        add("acTL", big(declared ?? frames.count) + big(repetitions))
        for (name, payload) in chunks { add(name, payload) }
        if !first.palette.isEmpty { add("PLTE", first.palette) }
        var number = 0
        func next() -> [UInt8] {
            defer { number += numberStep }
            return big(number)
        }
        if let hidden { add("IDAT", Self.data(of: hidden)) }
        for (index, frame) in frames.enumerated() {
            let size = frame.stated ?? (frame.picture.width, frame.picture.height)
            add(
                "fcTL",
                next() + big(size.width) + big(size.height) + big(frame.column) + big(frame.row)
                    + big(frame.delay.numerator, 2) + big(frame.delay.denominator, 2) + [frame.disposal, frame.blend])
            let data = Self.data(of: frame.picture)
            if index == 0, hidden == nil {
                add("IDAT", data)
            } else {
                // In two parts, as writers of large frames do.
                add("fdAT", next() + data.prefix(data.count / 2))
                add("fdAT", next() + data.dropFirst(data.count / 2))
            }
        }
        add("IEND", [])
        return result
    }

    /// The compressed pixels of a picture.
    private static func data(of picture: PNGBuilder) -> [UInt8] {
        let bytes = picture.build()
        var (offset, data): (Int, [UInt8]) = (8, [])
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[offset + 4..<offset + 8].elementsEqual("IDAT".utf8) {
                data += bytes[offset + 8..<offset + 8 + length]
            }
            offset += 12 + length
        }
        return data
    }

    private func big(_ value: Int, _ length: Int = 4) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * (length - 1 - $0))) }
    }
}

/// What an animation of RGBA frames of 8 bits shows, in float64.
struct APNGTruth {
    private let width: Int
    private(set) var samples: [Double]
    private var before: [Double]

    init(width: Int, height: Int) {
        self.width = width
        samples = Array(repeating: 0, count: 4 * width * height)
        before = samples
    }

    private func places(_ frame: APNGBuilder.Frame) -> [(pixel: Int, source: Int)] {
        (0..<frame.picture.height).flatMap { row in
            (0..<frame.picture.width).map { column in
                (4 * ((frame.row + row) * width + frame.column + column), 4 * (row * frame.picture.width + column))
            }
        }
    }

    mutating func show(_ frame: APNGBuilder.Frame) {
        before = samples
        for (pixel, source) in places(frame) {
            let above = frame.picture.data[source..<source + 4].map(Double.init)
            guard frame.blend == 1 else {
                samples.replaceSubrange(pixel..<pixel + 4, with: above)
                continue
            }
            let opacity = above[3] / 255
            let rest = (1 - opacity) * samples[pixel + 3] / 255
            guard opacity > 0 else { continue }
            for channel in 0..<3 {
                samples[pixel + channel] =
                    (above[channel] * opacity + samples[pixel + channel] * rest) / (opacity + rest)
            }
            samples[pixel + 3] = 255 * (opacity + rest)
        }
    }

    mutating func dispose(_ frame: APNGBuilder.Frame, isFirst: Bool) {
        for index in samples.indices { samples[index] = (samples[index] + 0.5).rounded(.down) }
        if frame.disposal == 2, !isFirst {
            samples = before
        } else if frame.disposal != 0 {
            for (pixel, _) in places(frame) { for sample in pixel..<pixel + 4 { samples[sample] = 0 } }
        }
    }
}
