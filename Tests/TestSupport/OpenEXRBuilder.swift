/// Writes tiny OpenEXR files: one part, scan lines of 32-bit floats, not compressed unless `stored` compresses them.
/// <https://openexr.com/en/latest/OpenEXRFileLayout.html>
package struct OpenEXRBuilder {
    let width: Int
    let rgba: [[Float]]
    /// The width that the header names.
    let statedWidth: Int
    let compression: UInt8
    let stored: @Sendable ([UInt8]) -> [UInt8]
    /// The x and y of red, green, blue and white. Empty for none.
    package var chromaticities: [Float] = []
    package var typeOfChromaticities = "chromaticities"

    /// - Parameters:
    ///   - statedWidth: another width for the header.
    ///   - compression: the number of a compression with one line in each part.
    ///   - stored: the bytes that are stored for the samples of a line.
    package init(
        width: Int, rgba: [[Float]], statedWidth: Int? = nil, compression: UInt8 = 0,
        stored: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
    ) {
        self.width = width
        self.rgba = rgba
        self.statedWidth = statedWidth ?? width
        self.compression = compression
        self.stored = stored
    }

    package func build() -> [UInt8] {
        let height = rgba.count / width
        var header: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0]
        var channels: [UInt8] = []
        for name in ["A", "B", "G", "R"] {
            channels += text(name) + int(2) + [0, 0, 0, 0] + int(1) + int(1)
        }
        let box = int(0) + int(0) + int(statedWidth - 1) + int(height - 1)
        header +=
            attribute("channels", "chlist", channels + [0]) + attribute("compression", "compression", [compression])
        if !chromaticities.isEmpty {
            header += attribute("chromaticities", typeOfChromaticities, chromaticities.flatMap(float))
        }
        header += attribute("dataWindow", "box2i", box) + attribute("displayWindow", "box2i", box)
        header += attribute("lineOrder", "lineOrder", [0]) + attribute("pixelAspectRatio", "float", float(1))
        header += attribute("screenWindowCenter", "v2f", float(0) + float(0))
        header += attribute("screenWindowWidth", "float", float(1)) + [0]
        let lines = (0..<height).map { line in
            stored([3, 2, 1, 0].flatMap { channel in (0..<width).flatMap { float(rgba[line * width + $0][channel]) } })
        }
        var result = header
        var offset = header.count + 8 * height
        for line in lines {
            result += int(offset) + int(0)
            offset += 8 + line.count
        }
        for (number, line) in lines.enumerated() { result += int(number) + int(line.count) + line }
        return result
    }

    private func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
        text(name) + text(type) + int(value.count) + value
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
    private func int(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    private func float(_ value: Float) -> [UInt8] { int(Int(value.bitPattern)) }
}
