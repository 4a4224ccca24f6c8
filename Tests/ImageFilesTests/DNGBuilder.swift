import ImageFiles

/// Writes raw pictures in DNG, as a camera without compression would: <https://helpx.adobe.com/camera-raw/digital-negative.html>.
struct DNGBuilder {
    /// The colours of the filter over the sensor: the first two of a row, and the two below them. 0 is red, 1 green, 2 blue.
    enum Pattern: String, CaseIterable {
        case rggb
        case bggr
        case grbg
        case gbrg

        var colors: [Int] { rawValue.map { $0 == "r" ? 0 : $0 == "g" ? 1 : 2 } }
    }

    var width: Int
    var height: Int
    var pattern = Pattern.rggb
    /// The samples of the sensor, row by row.
    var samples: [UInt16]
    var orientation = 1
    var black = 0
    var white = 65535
    /// The matrix from XYZ to the camera's colours, for daylight. Nil if the file does not tell it.
    var matrix: [Double]? = Self.matrix
    /// The camera's colour of the white that it has found. Nil if it has none.
    var neutral: [Double]? = Self.neutral
    /// 32803 for a sensor with a filter, 34892 for one without.
    var photometric = 32803
    /// The codes and flags of opcodes for linear values.
    var opcodes: [(code: Int, flags: Int)] = []
    /// Whether the sensor is in a second directory, behind one with a small preview.
    var hasPreview = false

    static let matrix = [0.9, -0.3, -0.1, -0.5, 1.3, 0.2, -0.1, 0.2, 0.6]
    static let neutral = [0.5, 1, 0.625]

    /// A picture whose pixels are those of a function of the colour, the column and the row.
    init(
        width: Int, height: Int, pattern: Pattern = .rggb,
        _ sample: (_ color: Int, _ x: Int, _ y: Int) -> Int
    ) {
        self.width = width
        self.height = height
        self.pattern = pattern
        let colors = pattern.colors
        samples = (0..<width * height).map { index in
            let (x, y) = (index % width, index / width)
            return UInt16(clamping: sample(colors[y % 2 * 2 + x % 2], x, y))
        }
    }

    private struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        let bytes: [UInt8]

        init(_ tag: Int, _ type: Int, _ count: Int, _ bytes: [UInt8]) {
            (self.tag, self.type, self.count, self.bytes) = (tag, type, count, bytes)
        }

        static func short(_ tag: Int, _ values: Int...) -> Entry {
            Entry(tag, 3, values.count, values.flatMap { DNGBuilder.number($0, 2) })
        }

        static func long(_ tag: Int, _ value: Int) -> Entry { Entry(tag, 4, 1, DNGBuilder.number(value, 4)) }

        static func bytes(_ tag: Int, _ values: [Int]) -> Entry {
            Entry(tag, 1, values.count, values.map { UInt8($0) })
        }

        static func text(_ tag: Int, _ text: String) -> Entry {
            Entry(tag, 2, text.utf8.count + 1, Array(text.utf8) + [0])
        }

        static func quotients(_ tag: Int, _ values: [Double], isSigned: Bool = false) -> Entry {
            Entry(
                tag, isSigned ? 10 : 5, values.count,
                values.flatMap {
                    DNGBuilder.number(Int(($0 * 1_000_000).rounded()), 4) + DNGBuilder.number(1_000_000, 4)
                })
        }
    }

    fileprivate static func number(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    func build() -> [UInt8] {
        // The directories lie one behind the other, and the samples behind them. Sizes do not depend on offsets.
        let exif = [
            Entry.quotients(33434, [0.008]), .quotients(33437, [2.8]), .short(34855, 400),
            .text(36867, "2021:03:04 05:06:07"), .quotients(37386, [50]), .text(42036, "Test 50mm"),
        ]
        var length = 8
        let exifStart = length
        length += Self.size(exif)
        let sensorStart = length
        length += Self.size(sensor(at: 0, exif: exifStart))
        let previewStart = length
        if hasPreview { length += Self.size(preview(at: 0, sensor: sensorStart, exif: exifStart)) }
        let previewPixels = length
        if hasPreview { length += 4 }
        let pixels = samples.flatMap { Self.number(Int($0), 2) }
        var file: [UInt8] = [0x49, 0x49, 42, 0] + Self.number(hasPreview ? previewStart : sensorStart, 4)
        file += Self.directory(exif, at: exifStart)
        file += Self.directory(sensor(at: length, exif: exifStart), at: sensorStart)
        if hasPreview {
            file += Self.directory(
                preview(at: previewPixels, sensor: sensorStart, exif: exifStart), at: previewStart)
            file += [9, 9, 9, 0]
        }
        return file + pixels
    }

    private func sensor(at pixels: Int, exif: Int) -> [Entry] {
        let size = samples.count * 2
        var entries: [Entry] = [
            .long(254, 0), .long(256, width), .long(257, height), .short(258, 16), .short(259, 1),
            .short(262, photometric), .long(273, pixels), .short(277, 1), .long(278, height), .long(279, size),
            .short(284, 1), .long(50714, black), .long(50717, white),
        ]
        if !opcodes.isEmpty {
            // The highest byte comes first, whatever the order of the file is.
            func word(_ value: Int) -> [UInt8] { Self.number(value, 4).reversed() }
            let list =
                word(opcodes.count)
                + opcodes.flatMap { word($0.code) + word(0x0103_0000) + word($0.flags) + word(4) + word(0) }
            entries.append(Entry(51009, 7, list.count, list))
        }
        if photometric == 32803 { entries += [.short(33421, 2, 2), .bytes(33422, pattern.colors)] }
        return hasPreview ? entries : entries + ofPicture(exif)
    }

    private func preview(at pixels: Int, sensor: Int, exif: Int) -> [Entry] {
        [
            .long(254, 1), .long(256, 1), .long(257, 1), .short(258, 8, 8, 8), .short(259, 1), .short(262, 2),
            .long(273, pixels), .short(277, 3), .long(278, 1), .long(279, 3), .short(284, 1), .long(330, sensor),
        ] + ofPicture(exif)
    }

    private func ofPicture(_ exif: Int) -> [Entry] {
        var entries: [Entry] = [
            .text(271, "Test"), .text(272, "Camera"), .short(274, orientation), .text(33432, "Somebody"),
            .long(34665, exif), .bytes(50706, [1, 4, 0, 0]), .text(50708, "Test Camera"),
            .short(50778, 21),
        ]
        if let matrix { entries.append(.quotients(50721, matrix, isSigned: true)) }
        if let neutral { entries.append(.quotients(50728, neutral)) }
        return entries
    }

    private static func size(_ entries: [Entry]) -> Int {
        entries.reduce(2 + 12 * entries.count + 4) { $0 + ($1.bytes.count > 4 ? ($1.bytes.count + 1) & ~1 : 0) }
    }

    private static func directory(_ entries: [Entry], at start: Int) -> [UInt8] {
        let behind = start + 2 + 12 * entries.count + 4
        var (rows, values) = (number(entries.count, 2), [UInt8]())
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            rows += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            if entry.bytes.count <= 4 {
                rows += entry.bytes + Array(repeating: 0, count: 4 - entry.bytes.count)
            } else {
                rows += number(behind + values.count, 4)
                values += entry.bytes + (entry.bytes.count % 2 == 1 ? [0] : [])
            }
        }
        return rows + number(0, 4) + values
    }
}

/// What a developed pixel must be, in float64: the camera's light, balanced to its white, in the primaries of sRGB.
struct DevelopedLight {
    /// The columns are those of red, green and blue of the camera.
    private let toSRGB: [[Double]]
    private let balance: [Double]

    /// The primaries of sRGB in XYZ, with the white D65.
    private static let primaries = [
        [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041],
    ]

    init(matrix: [Double], neutral: [Double]) {
        let camera = (0..<3).map { Array(matrix[3 * $0..<3 * $0 + 3]) }
        // Each channel of the camera has the value 1 for white.
        let fromSRGB = (0..<3).map { row -> [Double] in
            let values = (0..<3).map { column in (0..<3).reduce(0) { $0 + camera[row][$1] * Self.primaries[$1][column] }
            }
            let sum = values.reduce(0, +)
            return values.map { $0 / sum }
        }
        toSRGB = Self.inverse(fromSRGB)
        // The weakest channel keeps its light, so that white is reached by all.
        let factors = neutral.map { 1 / $0 }
        balance = factors.map { $0 / (factors.min() ?? 1) }
    }

    /// - Parameter camera: the light of each channel, from 0 to 1.
    func callAsFunction(_ camera: [Double]) -> [Double] {
        let balanced = zip(camera, balance).map { min(1, $0 * $1) }
        return toSRGB.map { row in min(1, max(0, zip(row, balanced).reduce(0) { $0 + $1.0 * $1.1 })) }
    }

    private static func inverse(_ m: [[Double]]) -> [[Double]] {
        func minor(_ row: Int, _ column: Int) -> Double {
            let rows = (0..<3).filter { $0 != row }
            let columns = (0..<3).filter { $0 != column }
            return m[rows[0]][columns[0]] * m[rows[1]][columns[1]] - m[rows[0]][columns[1]] * m[rows[1]][columns[0]]
        }
        func cofactor(_ row: Int, _ column: Int) -> Double { ((row + column) % 2 == 0 ? 1 : -1) * minor(row, column) }
        let determinant = (0..<3).reduce(0) { $0 + m[0][$1] * cofactor(0, $1) }
        return (0..<3).map { row in (0..<3).map { cofactor($0, row) / determinant } }
    }
}
