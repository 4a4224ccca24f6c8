import Catalogs
import CVips
import Geometry
import Raster

/// Hands the rows of a picture to libvips, which asks for them from top to bottom on one of its own threads.
///
/// One call runs at a time and the caller of the encoder waits meanwhile, so that a closure that is not `Sendable` may
/// be called: `sequential` in front of the saver sees to the first, the saver to the second.
final class RowFeed {
    private let shape: ImageShape
    private let rows: (Range<Int>) throws -> AnyRaster
    private var next = 0
    /// What the closure threw.
    private(set) var failure: (any Error)?

    init(shape: ImageShape, rows: @escaping (Range<Int>) throws -> AnyRaster) {
        self.shape = shape
        self.rows = rows
    }

    /// An image whose rows come from this feed, which must outlive it.
    func image(_ resolution: ImageMetadata.Resolution?) throws(VipsFailure) -> VipsImageReference {
        guard let image = VipsReference(adopting: vips_image_new()) else { throw VipsFailure.take() }
        vips_image_init_fields(
            image.pointer, gint(shape.width), gint(shape.height), gint(shape.layout.channels), shape.bandFormat,
            VIPS_CODING_NONE, shape.interpretation, resolution?.x ?? ImageMetadata.Resolution.nominal,
            resolution?.y ?? ImageMetadata.Resolution.nominal)
        guard penumbra_image_begin(image.pointer, VIPS_DEMAND_STYLE_FATSTRIP) == 0,
            vips_image_generate(
                image.pointer, nil,
                { region, _, _, context, _ in
                    guard let region, let context else { return -1 }
                    return Unmanaged<RowFeed>.fromOpaque(context).takeUnretainedValue().fill(region) ? 0 : -1
                },
                nil, nil, Unmanaged.passUnretained(self).toOpaque()) == 0
        else { throw VipsFailure.take() }
        return try Self.inOrder(image)
    }

    /// Without this, several threads ask for rows out of order.
    private static func inOrder(_ image: borrowing VipsImageReference) throws(VipsFailure) -> VipsImageReference {
        let call = try VipsCall("sequential")
        call.set("in", to: image)
        call.set("tile_height", to: .integer(16))
        return try call.image()
    }

    /// False after a failure, or when libvips asks for rows in another way than was agreed.
    private func fill(_ region: UnsafeMutablePointer<VipsRegion>) -> Bool {
        let valid = region.pointee.valid
        let wanted = Int(valid.top)..<Int(valid.top + valid.height)
        guard wanted.lowerBound == next, valid.left == 0, valid.width == shape.width else { return false }
        do {
            let raster = try rows(wanted)
            precondition(
                wanted.clamped(to: raster.rect.rows) == wanted && raster.rect.width == shape.width
                    && raster.layout == shape.layout
                    && raster.format == shape.sampleFormat, "rows have the shape that was announced")
            copy(wanted, of: raster, to: region)
            next = wanted.upperBound
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func copy(_ rows: Range<Int>, of raster: AnyRaster, to region: UnsafeMutablePointer<VipsRegion>) {
        let stride = shape.stride
        raster.withBytes { span in
            span.withUnsafeBytes { source in
                for row in rows {
                    let index = row - raster.rect.y
                    let bytes = UnsafeRawBufferPointer(rebasing: source[index * stride..<(index + 1) * stride])
                    let target = penumbra_region_address(region, 0, gint(row))
                    UnsafeMutableRawBufferPointer(start: target, count: stride).copyMemory(from: bytes)
                }
            }
        }
    }
}

extension ImageShape {
    fileprivate var bandFormat: VipsBandFormat {
        switch sampleFormat {
        case .u8: VIPS_FORMAT_UCHAR
        case .u16: VIPS_FORMAT_USHORT
        case .f32: VIPS_FORMAT_FLOAT
        }
    }

    /// Such that no saver converts anything.
    fileprivate var interpretation: VipsInterpretation {
        let isGray = layout.removingAlpha == .gray
        return switch sampleFormat {
        case .u8: isGray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        case .u16: isGray ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16
        case .f32: isGray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_scRGB
        }
    }
}
