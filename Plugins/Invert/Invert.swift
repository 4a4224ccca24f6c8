// `invert`: the negative of a picture. Each colour becomes full intensity minus itself; alpha is kept.

public import CPenumbraPlugin

/// The library's entry: see `penumbra_plugin.h`.
@c(penumbra_plugin_entry)
public func penumbraPluginEntry(_ hostABI: UInt32) -> UnsafePointer<penumbra_plugin>? {
    hostABI >= PENUMBRA_PLUGIN_ABI ? UnsafePointer(description) : nil
}

/// Made once, never changed and never freed: the host reads it as long as the library is open.
nonisolated(unsafe) private let description: UnsafeMutablePointer<penumbra_plugin> = {
    let description = UnsafeMutablePointer<penumbra_plugin>.allocate(capacity: 1)
    description.initialize(
        to: penumbra_plugin(
            abi: PENUMBRA_PLUGIN_ABI, struct_size: UInt32(MemoryLayout<penumbra_plugin>.size),
            name: text("invert"), version: text("1.0.0"), summary: text("Negative of a picture"),
            rendering_version: 1, kind: penumbra_kind(PENUMBRA_POINT),
            formats: penumbra_format(PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32),
            parameter_count: 0, parameter_size: UInt32(MemoryLayout<penumbra_parameter>.size), parameters: nil,
            halo: nil, growth: nil, render: render))
    return description
}()

/// A constant C string.
private func text(_ literal: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
}

private let render: @convention(c) (UnsafePointer<penumbra_tile>?) -> Int32 = { tile in
    guard let tile = tile?.pointee else { return -1 }
    for row in 0..<Int(tile.target.rect.height) {
        switch tile.format {
        case penumbra_format(PENUMBRA_U8): invert(tile, row: row) { (sample: UInt8) in 255 - sample }
        case penumbra_format(PENUMBRA_U16): invert(tile, row: row) { (sample: UInt16) in 65535 - sample }
        default: invert(tile, row: row) { (sample: Float) in 1 - sample }
        }
    }
    return Int32(PENUMBRA_OK)
}

/// Inverts the colours of one row; a point filter's source and target have the same rectangle.
@inline(__always)
private func invert<Sample>(_ tile: penumbra_tile, row: Int, _ negative: (Sample) -> Sample) {
    guard let data = tile.source.data, let target = tile.target.data else { return }
    let source = (data + row * Int(tile.source.row_bytes)).assumingMemoryBound(to: Sample.self)
    let result = (target + row * Int(tile.target.row_bytes)).assumingMemoryBound(to: Sample.self)
    let channels = Int(tile.channels)
    let colors = tile.has_alpha == 0 ? channels : channels - 1
    for pixel in 0..<Int(tile.target.rect.width) {
        let start = pixel * channels
        for channel in start..<start + colors { result[channel] = negative(source[channel]) }
        if colors < channels { result[start + colors] = source[start + colors] }
    }
}
