/// Writes tiny OpenEXR files: one part, scan lines, no compression, 32-bit floats.
/// <https://openexr.com/en/latest/OpenEXRFileLayout.html>
package struct OpenEXRBuilder {
    let width: Int
    let rgba: [[Float]]

    package init(width: Int, rgba: [[Float]]) {
        self.width = width
        self.rgba = rgba
    }

    package func build() -> [UInt8] {
        let height = rgba.count / width
        var header: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0]
        var channels: [UInt8] = []
        for name in ["A", "B", "G", "R"] {
            channels += text(name) + int(2) + [0, 0, 0, 0] + int(1) + int(1)
        }
        let box = int(0) + int(0) + int(width - 1) + int(height - 1)
        header += attribute("channels", "chlist", channels + [0]) + attribute("compression", "compression", [0])
        header += attribute("dataWindow", "box2i", box) + attribute("displayWindow", "box2i", box)
        header += attribute("lineOrder", "lineOrder", [0]) + attribute("pixelAspectRatio", "float", float(1))
        header += attribute("screenWindowCenter", "v2f", float(0) + float(0))
        header += attribute("screenWindowWidth", "float", float(1)) + [0]
        let lineBytes = 8 + 16 * width
        var result = header
        for line in 0..<height {
            let offset = header.count + 8 * height + line * lineBytes
            result += int(offset) + int(0)
        }
        for line in 0..<height {
            result += int(line) + int(16 * width)
            for channel in [3, 2, 1, 0] { result += (0..<width).flatMap { float(rgba[line * width + $0][channel]) } }
        }
        return result
    }

    private func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
        text(name) + text(type) + int(value.count) + value
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
    private func int(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    private func float(_ value: Float) -> [UInt8] { int(Int(value.bitPattern)) }
}
