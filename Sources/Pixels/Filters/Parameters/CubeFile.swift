package import Kernels

/// Reads `.cube` files: tables of colours by the Cube LUT Specification 1.0 (Adobe, 2013), with the input ranges of DaVinci
/// Resolve.
package enum CubeFile {
    /// The largest file that is read, in bytes. A table of 129³ colours has up to 60 MB.
    package static let largest = 128 << 20
    /// The most points along an axis of a table of whole colours, and of one of channels.
    static let (mostColors, mostChannels) = (129, 65536)

    /// What is wrong with a file, and in which line.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// From 1; nil for the whole file.
        package let line: Int?
        package let reason: String
        package var description: String { (line.map { "line \($0): " } ?? "") + reason }
    }

    /// - Parameter bytes: the file. Its text is ASCII but for comments and titles.
    package static func table(_ bytes: [UInt8]) throws(Problem) -> ColorCube {
        var reader = Reader()
        var (number, rest) = (0, bytes[...])
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if rest.starts(with: byteOrderMark) { rest = rest.dropFirst(byteOrderMark.count) }
        while !rest.isEmpty {
            number += 1
            let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
            let line = rest[..<end]
            guard line.count <= Self.longestLine else {
                throw Problem(line: number, reason: "the line is too long for a table")
            }
            try reader.read(line, number)
            rest = rest[end...].dropFirst()
            // The end of a line may have two characters.
            if end < bytes.endIndex, bytes[end] == 0x0D, rest.first == 0x0A { rest = rest.dropFirst() }
        }
        return try reader.table()
    }

    private static let longestLine = 4096

    private struct Reader {
        private var grid: ColorCube.Grid?
        private var size = 0
        private var minimum = SIMD3<Float>(repeating: 0)
        private var maximum = SIMD3<Float>(repeating: 1)
        private var points: [SIMD3<Float>] = []
        private var count: Int { grid == .colors ? size * size * size : size }

        mutating func read(_ line: ArraySlice<UInt8>, _ number: Int) throws(Problem) {
            let words = line.split(maxSplits: 4) { $0 == 0x20 || $0 == 0x09 }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { return }
            let key = String(decoding: first, as: UTF8.self)
            switch key {
            case "TITLE": return
            case "LUT_1D_SIZE": try start(.channels, words, 2...mostChannels, key, number)
            case "LUT_3D_SIZE": try start(.colors, words, 2...mostColors, key, number)
            case "DOMAIN_MIN": minimum = try color(words.dropFirst(), number)
            case "DOMAIN_MAX": maximum = try color(words.dropFirst(), number)
            case "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE":
                guard words.count == 3 else { throw Problem(line: number, reason: "'\(key)' needs two numbers") }
                minimum = SIMD3(repeating: try value(words[1], number))
                maximum = SIMD3(repeating: try value(words[2], number))
            case _ where first.first.map(Self.startsNumber) == true:
                try add(words, number)
            default:
                throw Problem(
                    line: number,
                    reason: "'\(key.prefix(40))' is no keyword of a .cube file; is it another kind of file?")
            }
        }

        private static func startsNumber(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || [0x2b, 0x2d, 0x2e].contains(byte)
        }

        private mutating func start(
            _ kind: ColorCube.Grid, _ words: [ArraySlice<UInt8>], _ sizes: ClosedRange<Int>, _ key: String,
            _ number: Int
        ) throws(Problem) {
            guard grid == nil else {
                throw Problem(line: number, reason: "a second table; each file has one, so write two filters 'lut'")
            }
            let text = words.count == 2 ? String(decoding: words[1], as: UTF8.self) : ""
            guard let size = Int(text), sizes.contains(size) else {
                throw Problem(
                    line: number, reason: "'\(key)' needs a whole number of \(sizes.lowerBound) to \(sizes.upperBound)")
            }
            (grid, self.size) = (kind, size)
            points.reserveCapacity(count)
        }

        private mutating func add(_ words: [ArraySlice<UInt8>], _ number: Int) throws(Problem) {
            guard grid != nil else {
                throw Problem(line: number, reason: "numbers before 'LUT_3D_SIZE' or 'LUT_1D_SIZE'")
            }
            guard points.count < count else {
                throw Problem(line: number, reason: "more than \(count) colours, which its size allows")
            }
            points.append(try color(words[...], number))
        }

        private func color(_ words: ArraySlice<ArraySlice<UInt8>>, _ number: Int) throws(Problem) -> SIMD3<Float> {
            guard words.count == 3 else { throw Problem(line: number, reason: "three numbers belong here") }
            var result = SIMD3<Float>()
            for (channel, word) in words.enumerated() { result[channel] = try value(word, number) }
            return result
        }

        private func value(_ word: ArraySlice<UInt8>, _ number: Int) throws(Problem) -> Float {
            let text = String(decoding: word, as: UTF8.self)
            guard let value = Float(text), value.magnitude <= 1e6 else {
                throw Problem(line: number, reason: "'\(text.prefix(40))' is no number of a table")
            }
            return value
        }

        func table() throws(Problem) -> ColorCube {
            guard let grid else {
                throw Problem(line: nil, reason: "it has no 'LUT_3D_SIZE' or 'LUT_1D_SIZE'; is it a .cube file?")
            }
            guard points.count == count else {
                throw Problem(
                    line: nil,
                    reason: "it has \(points.count) colours, and its size needs \(count). Is the file cut short?")
            }
            guard (0..<3).allSatisfy({ minimum[$0] < maximum[$0] }) else {
                throw Problem(line: nil, reason: "its domain ends before it begins")
            }
            return ColorCube(grid, size: size, points: points, minimum: minimum, maximum: maximum)
        }
    }
}
