import CPenumbraPlugin
import Catalogs
import Geometry
import Raster

/// Hands one tile to a plugin's code.
struct PluginCall {
    let render: PluginFunctions.Render
    let values: [Double]
    /// The extent of the filter's whole input.
    let image: PixelRect

    /// How much room a plugin has to say what failed.
    private static let errorCapacity = 1024

    /// What the plugin writes at `area`.
    ///
    /// - Parameter source: covers `area` and the halo; the result has its layout and sample format.
    /// - Throws: ``PluginProblem`` with the plugin's own words, or `CancellationError`.
    func render(_ source: AnyRaster, area: PixelRect) throws -> AnyRaster {
        switch source {
        case .u8(let raster): .u8(try render(raster, area: area))
        case .u16(let raster): .u16(try render(raster, area: area))
        case .f32(let raster): .f32(try render(raster, area: area))
        }
    }

    private func render<Sample: PixelSample>(_ source: Raster<Sample>, area: PixelRect) throws -> Raster<Sample> {
        var result = Raster<Sample>(rect: area, layout: source.layout, samples: Self.zeros(area, source.layout))
        let rowBytes = result.stride * MemoryLayout<Sample>.stride
        var message = [CChar](repeating: 0, count: Self.errorCapacity)
        let status = source.samples.withUnsafeBytes { from in
            result.samples.withUnsafeMutableBytes { to in
                message.withUnsafeMutableBufferPointer { error in
                    let target = penumbra_target(
                        data: to.baseAddress, row_bytes: Int64(rowBytes), rect: penumbra_rect(area))
                    return call(source, from, target, error)
                }
            }
        }
        switch Int(status) {
        case Int(PENUMBRA_OK): return result
        case Int(PENUMBRA_CANCELLED): throw CancellationError()
        default: throw Self.failure(message, status)
        }
    }

    private func call<Sample: PixelSample>(
        _ source: Raster<Sample>, _ bytes: UnsafeRawBufferPointer, _ target: penumbra_target,
        _ error: UnsafeMutableBufferPointer<CChar>
    ) -> Int32 {
        values.withUnsafeBufferPointer { values in
            var tile = penumbra_tile(
                struct_size: UInt32(MemoryLayout<penumbra_tile>.size), format: Sample.format.pluginFormat,
                channels: Int32(source.layout.channels), has_alpha: source.layout.hasAlpha ? 1 : 0,
                image: penumbra_rect(image),
                source: penumbra_source(
                    data: bytes.baseAddress, row_bytes: Int64(source.stride * MemoryLayout<Sample>.stride),
                    rect: penumbra_rect(source.rect)),
                target: target, values: values.baseAddress, is_cancelled: { _ in Task.isCancelled ? 1 : 0 },
                context: nil, error: error.baseAddress, error_capacity: error.count)
            return render(&tile)
        }
    }

    private static func zeros<Sample: PixelSample>(_ rect: PixelRect, _ layout: PixelLayout) -> [Sample] {
        [Sample](repeating: Sample(rounding: 0), count: rect.area * layout.channels)
    }

    /// The text up to the zero byte, or to the end when the plugin forgot that.
    private static func failure(_ message: [CChar], _ status: Int32) -> PluginProblem {
        let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PluginProblem(text.isEmpty ? "failed with status \(status) and no reason" : text)
    }
}

extension penumbra_rect {
    fileprivate init(_ rect: PixelRect) {
        self.init(x: Int64(rect.x), y: Int64(rect.y), width: Int64(rect.width), height: Int64(rect.height))
    }
}
