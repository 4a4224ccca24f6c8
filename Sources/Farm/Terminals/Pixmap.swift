/// A picture of 8-bit RGB pixels, from a file in a binary format of Netpbm.
package struct Pixmap: Hashable, Sendable {
    package let width: Int
    package let height: Int
    /// Red, green and blue of each pixel, row by row.
    private let samples: [UInt8]

    package init?(width: Int, height: Int, samples: [UInt8]) {
        guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height),
            samples.count == width * height * 3
        else { return nil }
        (self.width, self.height, self.samples) = (width, height, samples)
    }

    package static let longestSide = 1 << 15

    /// Reads `P5` (grey) and `P6` (colours), of 8 or 16 bits. Nil for other files.
    package init?(file: [UInt8]) {
        guard file.count > 2, file[0] == UInt8(ascii: "P"), let channels = [0x35: 1, 0x36: 3][file[1]] else {
            return nil
        }
        var place = 2
        guard let width = Self.number(in: file, &place), let height = Self.number(in: file, &place),
            let maximum = Self.number(in: file, &place), (1...65535).contains(maximum),
            (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height)
        else { return nil }
        // One white space follows the header.
        let body = file.dropFirst(place + 1)
        let (bytes, count) = (maximum > 255 ? 2 : 1, width * height * channels)
        guard body.count >= count * bytes else { return nil }
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * 3)
        let start = body.startIndex
        for index in 0..<count {
            let at = start + index * bytes
            let value = bytes == 1 ? Int(body[at]) : Int(body[at]) << 8 | Int(body[at + 1])
            let sample = UInt8((min(value, maximum) * 255 + maximum / 2) / maximum)
            samples.append(sample)
            if channels == 1 { samples += [sample, sample] }
        }
        self.init(width: width, height: height, samples: samples)
    }

    /// A number behind white space and comments.
    private static func number(in file: [UInt8], _ place: inout Int) -> Int? {
        while place < file.count {
            if file[place] == UInt8(ascii: "#") {
                while place < file.count, file[place] != UInt8(ascii: "\n") { place += 1 }
            } else if " \t\r\n".utf8.contains(file[place]) {
                place += 1
            } else {
                break
            }
        }
        var (number, digits) = (0, 0)
        while place < file.count, (0x30...0x39).contains(file[place]), digits < 6 {
            number = number * 10 + Int(file[place] - 0x30)
            (place, digits) = (place + 1, digits + 1)
        }
        return digits > 0 ? number : nil
    }

    func color(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8) {
        let place = (y * width + x) * 3
        return (samples[place], samples[place + 1], samples[place + 2])
    }

    /// The picture at the size of a window or smaller: a whole number of its pixels make one, by their mean.
    package func fitted(width limit: Int, height heightLimit: Int) -> Pixmap {
        let factor = max(
            (width + max(1, limit) - 1) / max(1, limit), (height + max(1, heightLimit) - 1) / max(1, heightLimit))
        guard factor > 1 else { return self }
        let (columns, rows) = (max(1, width / factor), max(1, height / factor))
        var result: [UInt8] = []
        result.reserveCapacity(columns * rows * 3)
        for y in 0..<rows {
            for x in 0..<columns {
                for channel in 0..<3 {
                    var (sum, count) = (0, 0)
                    for row in (y * factor)..<min(height, (y + 1) * factor) {
                        for column in (x * factor)..<min(width, (x + 1) * factor) {
                            sum += Int(samples[(row * width + column) * 3 + channel])
                            count += 1
                        }
                    }
                    result.append(UInt8((sum + count / 2) / count))
                }
            }
        }
        return Pixmap(width: columns, height: rows, samples: result) ?? self
    }
}
