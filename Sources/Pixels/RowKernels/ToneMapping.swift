// Tone mapping of bytes. `ToneMapping` of `Kernels` defines the curves.

/// Replaces each byte by that of a table, in the row of the brightest channel of its pixel.
///
/// - Parameters:
///   - channels: 1 to 4. Two and four have an alpha. Where it is 0, colours become 0.
///   - table: 256 rows of 256 bytes.
@inline(never) public func mapByteTones(
    _ pixels: UnsafeMutablePointer<UInt8>, channels: Int, table: UnsafePointer<UInt8>, count: Int
) {
    let hasAlpha = channels & 1 == 0
    var pixel = pixels
    let end = pixels + count &* channels
    while pixel < end {
        if hasAlpha && pixel[channels &- 1] == 0 {
            pixel[0] = 0
            if channels == 4 {
                pixel[1] = 0
                pixel[2] = 0
            }
        } else if channels < 3 {
            pixel[0] = table[Int(pixel[0]) &* 257]
        } else {
            let (red, green, blue) = (Int(pixel[0]), Int(pixel[1]), Int(pixel[2]))
            let larger = red > green ? red : green
            let row = table + (larger > blue ? larger : blue) &* 256
            pixel[0] = row[red]
            pixel[1] = row[green]
            pixel[2] = row[blue]
        }
        pixel += channels
    }
}
