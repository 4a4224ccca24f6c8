import CVips
import Catalogs
import Geometry
import JobModel
import Raster

/// Puts the frames of an animated PNG together. libvips decodes each of them, as a PNG of its own.
///
/// One thread at a time may use it. It asks for rows from the top to the bottom, each once. No pixel is decoded, and no memory
/// for pixels is allocated, before the first row is asked for.
final class APNGPlayer {
    /// The shape of one frame.
    let shape: ImageShape
    private let file: InputFile
    private let frames: APNGFrames
    /// The frames that are shown.
    private let chosen: Range<Int>
    private var canvas: Canvas?

    private enum Canvas {
        case u8(APNGCanvas<UInt8>)
        case u16(APNGCanvas<UInt16>)
    }

    /// What libvips reads of the whole file: its metadata, and how its samples are stored.
    static func header(of file: InputFile) throws(OwnDecodingError) -> LoadedHeader {
        do throws(VipsError) {
            return LoadedHeader(try load(file))
        } catch {
            throw .broken(error.line)
        }
    }

    init(
        _ file: InputFile, _ frames: APNGFrames, _ chosen: Range<Int>, like header: LoadedHeader
    ) throws(OwnDecodingError) {
        self.file = file
        self.frames = frames
        self.chosen = chosen
        let (imageWidth, imageHeight, bands) = (header.image.width, header.image.height, header.image.bands)
        guard imageWidth == frames.width, imageHeight == frames.height,
            let stored = PixelLayout.allCases.first(where: { $0.channels == bands }),
            let samples = Self.samples(of: header.image)
        else { throw .broken("its header is not that of a PNG") }
        shape = ImageShape(
            width: frames.width, height: frames.height, layout: frames.alwaysCover ? stored : stored.addingAlpha,
            sampleFormat: samples)
    }

    private static func samples(of image: borrowing VipsImageReference) -> SampleFormat? {
        switch image.bandFormat {
        case VIPS_FORMAT_UCHAR: .u8
        case VIPS_FORMAT_USHORT: .u16
        default: nil
        }
    }

    private static func load(_ file: InputFile) throws(VipsError) -> VipsImageReference {
        let call = try VipsCall("pngload_source")
        call.set("source", to: try VipsReference.reading(file))
        call.set("access", to: .integer(Int(VIPS_ACCESS_SEQUENTIAL.rawValue)))
        call.set("fail_on", to: .integer(Int(VIPS_FAIL_ON_WARNING.rawValue)))
        call.set("memory", to: .boolean(true))
        return try call.image()
    }

    /// Gives rows of the chosen frames, which are one below the other.
    func rows(_ rows: Range<Int>) throws -> AnyRaster {
        let rect = PixelRect(columns: 0..<shape.width, rows: rows)
        switch shape.sampleFormat {
        case .u8:
            var canvas = if case .u8(let canvas) = canvas { canvas } else { APNGCanvas<UInt8>(shape) }
            self.canvas = nil
            let samples = try self.samples(of: rows, on: &canvas)
            self.canvas = .u8(canvas)
            return .u8(Raster(rect: rect, layout: shape.layout, samples: samples))
        case .u16, .f32:
            var canvas = if case .u16(let canvas) = canvas { canvas } else { APNGCanvas<UInt16>(shape) }
            self.canvas = nil
            let samples = try self.samples(of: rows, on: &canvas)
            self.canvas = .u16(canvas)
            return .u16(Raster(rect: rect, layout: shape.layout, samples: samples))
        }
    }

    private func samples<Sample>(of rows: Range<Int>, on canvas: inout APNGCanvas<Sample>) throws -> [Sample] {
        var samples: [Sample] = []
        samples.reserveCapacity(rows.count * shape.width * shape.layout.channels)
        for row in rows {
            let frame = chosen.lowerBound + row / shape.height
            while canvas.shown < frame { try show(canvas.shown + 1, on: &canvas) }
            samples += canvas.row(row % shape.height)
        }
        return samples
    }

    private func show<Sample>(_ index: Int, on canvas: inout APNGCanvas<Sample>) throws {
        let frame = frames.all[index]
        canvas.begin(frame)
        let name = "frame \(index + 1)"
        let picture = try InputFile(try frames.picture(of: index, in: file), name: file.path)
        do throws(VipsError) {
            let image = try Self.load(picture)
            guard image.width == frame.width, image.height == frame.height,
                Self.samples(of: image) == shape.sampleFormat,
                let layout = PixelLayout.allCases.first(where: { $0.channels == image.bands }),
                layout == shape.layout || layout.addingAlpha == shape.layout
            else { throw VipsError(line: "its pixels have another form than the picture's") }
            guard let region = VipsReference(adopting: vips_region_new(image.pointer)) else { throw VipsError.take() }
            for top in stride(from: 0, to: frame.height, by: 16) {
                let some = top..<min(top + 16, frame.height)
                var rect = VipsRect(left: 0, top: gint(top), width: gint(frame.width), height: gint(some.count))
                guard vips_region_prepare(region.pointer, &rect) == 0 else { throw VipsError.take() }
                for row in some {
                    let bytes = UnsafeRawBufferPointer(
                        start: penumbra_region_address(region.pointer, 0, gint(row)),
                        count: frame.width * layout.channels * MemoryLayout<Sample>.size)
                    canvas.draw(bytes.assumingMemoryBound(to: Sample.self), row: row, of: frame, layout)
                }
            }
        } catch {
            throw OwnDecodingError.broken("\(name): \(error.line)")
        }
    }
}

/// The pixels that an animation shows at a time.
struct APNGCanvas<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable> {
    private let width: Int
    private let height: Int
    private let layout: PixelLayout
    private var samples: [Sample]
    /// The rows of the frame's rectangle before it, if they come back after it.
    private var saved: (frame: APNGFrames.Frame, samples: [Sample])?
    /// The frame whose rectangle is cleared before the next one.
    private var cleared: APNGFrames.Frame?
    /// The last frame that was begun, from 0; −1 at the start.
    private(set) var shown = -1

    init(_ shape: ImageShape) {
        (width, height, layout) = (shape.width, shape.height, shape.layout)
        samples = Array(repeating: 0, count: shape.width * shape.height * shape.layout.channels)
    }

    /// Disposes of the frame before, and prepares for the next one.
    mutating func begin(_ frame: APNGFrames.Frame) {
        if let saved {
            for (row, range) in ranges(of: saved.frame).enumerated() {
                samples.replaceSubrange(range, with: saved.samples[row * range.count..<(row + 1) * range.count])
            }
        }
        saved = nil
        if let cleared {
            for range in ranges(of: cleared) { for index in range { samples[index] = 0 } }
        }
        cleared = nil
        shown += 1
        switch frame.disposal {
        case .none: break
        // There is nothing before the first frame.
        case .previous where shown > 0: saved = (frame, ranges(of: frame).flatMap { samples[$0] })
        case .background, .previous: cleared = frame
        }
    }

    /// Where the rows of a frame are among the samples.
    private func ranges(of frame: APNGFrames.Frame) -> [Range<Int>] {
        (frame.row..<frame.row + frame.height).map { row in
            let start = (row * width + frame.column) * layout.channels
            return start..<start + frame.width * layout.channels
        }
    }

    func row(_ row: Int) -> ArraySlice<Sample> {
        let count = width * layout.channels
        return samples[row * count..<(row + 1) * count]
    }

    /// Draws a row of a frame.
    ///
    /// - Parameter source: its samples, in a layout that may lack the alpha of the canvas.
    mutating func draw(
        _ source: UnsafeBufferPointer<Sample>, row: Int, of frame: APNGFrames.Frame, _ sourceLayout: PixelLayout
    ) {
        let (channels, colors) = (layout.channels, layout.removingAlpha.channels)
        var to = ((frame.row + row) * width + frame.column) * channels
        if sourceLayout == layout, !(frame.blends && layout.hasAlpha) {
            for index in source.indices { samples[to + index] = source[index] }
            return
        }
        for from in stride(from: 0, to: source.count, by: sourceLayout.channels) {
            let alpha = sourceLayout.hasAlpha ? source[from + colors] : .max
            if !frame.blends || alpha == .max {
                for channel in 0..<colors { samples[to + channel] = source[from + channel] }
                if layout.hasAlpha { samples[to + colors] = alpha }
            } else if alpha > 0 {
                blend(source, from, at: to, alpha, colors)
            }
            to += channels
        }
    }

    /// Draws a pixel over that of the canvas, as the standard says: neither is multiplied by its alpha.
    private mutating func blend(
        _ source: UnsafeBufferPointer<Sample>, _ from: Int, at to: Int, _ alpha: Sample, _ colors: Int
    ) {
        let full = UInt64(Sample.max)
        let above = UInt64(alpha) * full
        let below = (full - UInt64(alpha)) * UInt64(samples[to + colors])
        let sum = above + below
        for channel in 0..<colors {
            let color = UInt64(source[from + channel]) * above + UInt64(samples[to + channel]) * below
            samples[to + channel] = Sample(truncatingIfNeeded: (color + sum / 2) / sum)
        }
        samples[to + colors] = Sample(truncatingIfNeeded: (sum + full / 2) / full)
    }
}
