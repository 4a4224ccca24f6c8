import FileAccess
import Geometry
import JobModel
import Raster

extension ImageEncoder {
    /// Writes an animated PNG: libvips encodes each frame as a PNG, and the chunks with their data go into one file.
    ///
    /// - Parameters:
    ///   - metadata: those that the output has.
    ///   - rows: gives the rows of all frames, one below the other.
    static func write(
        _ frames: Int, of shape: ImageShape, as format: APNGFormat, by saver: Saver, _ metadata: ImageMetadata,
        to path: String, openedBy opener: FileOpener, rows: (Range<Int>) throws -> AnyRaster
    ) throws {
        var parts = APNGParts(shape: shape, frames: frames, timing: metadata.animation)
        let further = format.insertion(of: metadata, in: shape.layout)?.bytes ?? []
        let file = try OutputFile(path: path, openedBy: opener)
        do {
            try withoutActuallyEscaping(rows) { rows in
                for frame in 0..<frames {
                    let top = frame * shape.height
                    let feed = RowFeed(shape: shape) { wanted in
                        try rows(wanted.lowerBound + top..<wanted.upperBound + top).translated(x: 0, y: -top)
                    }
                    try withExtendedLifetime(feed) {
                        let picture = try OutputFile(inMemoryFor: path)
                        try run(saver, feed, frame == 0 ? metadata : ImageMetadata(), 1, into: picture, format)
                        if frame == 0 {
                            parts.begin(file, with: picture, further)
                        } else {
                            parts.append(frame, picture, to: file)
                        }
                        if let errno = picture.failure ?? file.failure {
                            throw ImageFileError(path: path, .write, errno: errno)
                        }
                        picture.discard()
                    }
                }
            }
            parts.end(file)
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }
}

/// The chunks of an animated PNG.
private struct APNGParts {
    let shape: ImageShape
    let frames: Int
    let repetitions: Int
    let durations: [APNGDuration]
    /// The number of the next control or data of a frame.
    private var number = 0

    init(shape: ImageShape, frames: Int, timing: ImageMetadata.Animation?) {
        (self.shape, self.frames) = (shape, frames)
        repetitions = max(0, timing?.repetitions ?? 0)
        durations = APNGDuration.all(timing?.durations ?? [])
    }

    private static let end = PNGChunks.chunk("IEND", [])

    private func big(_ value: Int, _ length: Int = 4) -> [UInt8] { .number(value, length: length, littleEndian: false) }

    /// The number of frames, and how often they are shown.
    private var control: [UInt8] { PNGChunks.chunk("acTL", big(frames) + big(repetitions)) }

    private mutating func nextNumber() -> [UInt8] {
        defer { number += 1 }
        return big(number)
    }

    /// The rectangle and the time of a frame.
    private mutating func control(of frame: Int) -> [UInt8] {
        let duration = frame < durations.count ? durations[frame] : .usual
        let (keep, replace): (UInt8, UInt8) = (0, 0)
        return PNGChunks.chunk(
            "fcTL",
            nextNumber() + big(shape.width) + big(shape.height) + big(0) + big(0)
                + big(duration.numerator, 2) + big(duration.denominator, 2) + [keep, replace])
    }

    /// The chunks of a PNG without its end. Both files store failures.
    private func chunks(of picture: OutputFile, _ body: (_ name: String, _ chunk: [UInt8]) -> Void) {
        var offset = PNGChunks.signature.count
        while let head = picture.bytes(in: offset..<offset + 8) {
            let length = 12 + head[..<4].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: head[4...], as: UTF8.self)
            guard name != "IEND", let chunk = picture.bytes(in: offset..<offset + length) else { return }
            body(name, chunk)
            offset += length
        }
    }

    /// Writes the first frame.
    ///
    /// Some readers expect its control right before its data, behind all chunks of the whole file.
    ///
    /// - Parameter further: chunks of metadata.
    mutating func begin(_ file: OutputFile, with picture: OutputFile, _ further: [UInt8]) {
        file.put(PNGChunks.signature, at: 0)
        let (control, first) = (control, control(of: 0))
        var hasData = false
        chunks(of: picture) { name, chunk in
            if name == "IDAT", !hasData {
                file.put(first, at: file.size)
                hasData = true
            }
            file.put(chunk, at: file.size)
            if name == "IHDR" { file.put(control + further, at: file.size) }
        }
    }

    /// Adds the data of another frame.
    mutating func append(_ frame: Int, _ picture: OutputFile, to file: OutputFile) {
        file.put(control(of: frame), at: file.size)
        var number = number
        chunks(of: picture) { name, chunk in
            guard name == "IDAT" else { return }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(chunk.count + 4)
            PNGChunks.append("fdAT", beginning: big(number), chunk[8..<chunk.count - 4], to: &bytes)
            file.put(bytes, at: file.size)
            number += 1
        }
        self.number = number
    }

    func end(_ file: OutputFile) { file.put(Self.end, at: file.size) }
}

/// The time of a frame as an animated PNG stores it: two numbers of 16 bits.
private struct APNGDuration {
    let numerator: Int
    let denominator: Int

    private static let largest = 65_535

    static let usual = APNGDuration(exact: ImageMetadata.Animation.usualDuration)

    private init(exact duration: FrameDuration) {
        (numerator, denominator) = (duration.numerator, duration.denominator)
    }

    private init(milliseconds: Int) {
        var (numerator, denominator) = (milliseconds, 1000)
        while numerator > Self.largest, denominator > 1 {
            (numerator, denominator) = ((numerator + 5) / 10, denominator / 10)
        }
        (self.numerator, self.denominator) = (min(numerator, Self.largest), denominator)
    }

    /// The times of all frames. They are exact if their numbers have 16 bits. Otherwise all of them are rounded to
    /// milliseconds, and those of more than a minute to hundredths, tenths or whole seconds.
    static func all(_ durations: [FrameDuration]) -> [APNGDuration] {
        let isExact = durations.allSatisfy { max($0.numerator, $0.denominator) <= largest }
        return isExact
            ? durations.map(Self.init(exact:))
            : FrameDuration.delays(of: durations, unit: 1).map(Self.init(milliseconds:))
    }
}
