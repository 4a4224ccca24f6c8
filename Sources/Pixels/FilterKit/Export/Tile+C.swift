import CPenumbraPlugin
import Geometry

extension Tile {
    /// Nil when the host hands over something that this interface does not know.
    init?(_ tile: penumbra_tile) {
        guard let format = TileFormat(tile.format), let from = tile.source.data, let to = tile.target.data else {
            return nil
        }
        let pixelBytes = Int(tile.channels) * format.bytes
        let (ask, context) = (tile.is_cancelled, tile.context)
        self.init(
            picture: Picture(
                extent: PixelRect(tile.image), channels: Int(tile.channels), hasAlpha: tile.has_alpha != 0,
                frame: Int(tile.frame)),
            area: PixelRect(tile.target.rect), readable: PixelRect(tile.source.rect), format: format,
            input: TileRows(
                start: UnsafeMutableRawPointer(mutating: from), rowBytes: Int(tile.source.row_bytes),
                pixelBytes: pixelBytes),
            output: TileRows(start: to, rowBytes: Int(tile.target.row_bytes), pixelBytes: pixelBytes),
            cancellation: { ask.map { $0(context) != 0 } ?? false })
    }
}

extension TileFormat {
    fileprivate init?(_ format: penumbra_format) {
        switch Int(format) {
        case Int(PENUMBRA_U8): self = .u8
        case Int(PENUMBRA_U16): self = .u16
        case Int(PENUMBRA_F32): self = .f32
        default: return nil
        }
    }

    fileprivate var bytes: Int {
        switch self {
        case .u8: 1
        case .u16: 2
        case .f32: 4
        }
    }
}

extension penumbra_tile {
    /// What of a tile its host says that there is; zeros for the rest.
    init?(_ pointer: UnsafePointer<penumbra_tile>?) {
        // The size comes first, whatever else there is.
        guard let pointer else { return nil }
        let bytes = UnsafeRawPointer(pointer)
        let size = Int(bytes.load(as: UInt32.self))
        self.init()
        withUnsafeMutableBytes(of: &self) { own in
            own.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: min(size, own.count)))
        }
    }

    /// Puts a sentence where the host looks for the reason of a failure.
    func say(_ text: String) {
        guard let error, error_capacity > 0 else { return }
        let bytes = Array(text.utf8.prefix(error_capacity - 1)) + [0]
        for (index, byte) in bytes.enumerated() { error[index] = CChar(bitPattern: byte) }
    }
}

extension PixelRect {
    init(_ rect: penumbra_rect) {
        self.init(
            x: Int(rect.x), y: Int(rect.y), width: max(0, Int(rect.width)), height: max(0, Int(rect.height)))
    }
}

extension penumbra_rect {
    init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}

extension penumbra_margins {
    init(_ halo: Halo) {
        self.init(
            left: Int32(clamping: halo.left), top: Int32(clamping: halo.top), right: Int32(clamping: halo.right),
            bottom: Int32(clamping: halo.bottom))
    }
}
