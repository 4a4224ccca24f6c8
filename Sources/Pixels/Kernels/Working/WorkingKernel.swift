public import Geometry
public import Raster

/// A kernel that computes with working values (see ``PixelReader``), for every sample format.
package protocol WorkingKernel: Sendable {
    /// Writes the filtered pixels of `area`, each exactly once.
    ///
    /// - Precondition: the reader's tables cover the pixels that are read for `area`.
    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink)
}

extension WorkingKernel {
    /// Writes every pixel of `destination`; see ``Gaussian/render(_:light:within:into:)`` for the parameters.
    package func render(
        _ source: KernelSource, light: Light, within mask: Mask?, into destination: inout AnyRaster
    ) {
        let reader = PixelReader(source, layout: destination.layout, light: light)
        let area = destination.rect
        if let mask {
            source.copyPixels(to: &destination)
            var sink = MaskedWriter(destination.take(), mask: mask, original: reader)
            for part in mask.parts(in: area) { apply(reader, area: part, to: &sink) }
            destination = sink.raster
        } else {
            var sink = PixelWriter(destination.take(), like: reader)
            apply(reader, area: area, to: &sink)
            destination = sink.raster
        }
    }
}

/// Receives the rows that a kernel computes, in any order.
package protocol WorkingRowSink {
    /// - Parameter row: working values (see ``PixelReader``) of whole pixels, from `x` on in row `y`.
    mutating func write(_ row: Span<Double>, x: Int, y: Int)

    /// Receives the same values in single precision, by planes. By default, it converts them to a row.
    mutating func write(_ planes: PlaneRow)
}

extension WorkingRowSink {
    package mutating func write(_ planes: PlaneRow) { writeInterleaved(planes) }

    mutating func writeInterleaved(_ planes: PlaneRow) {
        var values = [Double](repeating: 0, count: planes.count * planes.channels)
        for channel in 0..<planes.channels {
            let plane = planes.plane(channel)
            for index in 0..<planes.count {
                values[index * planes.channels + channel] = Double(plane[unchecked: index])
            }
        }
        write(values.span, x: planes.x, y: planes.y)
    }
}

/// Working values of neighbouring pixels of a row, with a plane for each channel. Valid during a call.
package struct PlaneRow {
    private let first: MutableRow<Float>
    /// The number of values from one plane to the next.
    let stride: Int
    let count: Int
    let channels: Int
    let x: Int
    let y: Int
    let operations: RowOperations

    /// - Parameters:
    ///   - first: the first pixel of the first plane. The sink may round the last plane in place.
    init(
        _ first: MutableRow<Float>, stride: Int, count: Int, channels: Int, x: Int, y: Int,
        _ operations: RowOperations
    ) {
        self.first = first
        self.stride = stride
        self.count = count
        self.channels = channels
        self.x = x
        self.y = y
        self.operations = operations
    }

    func plane(_ channel: Int) -> MutableRow<Float> { first + channel * stride }

    /// The number of planes without alpha: 1 or 3.
    var colors: Int { hasAlpha ? channels - 1 : channels }
    /// Two and four channels have an alpha.
    var hasAlpha: Bool { channels.isMultiple(of: 2) }
}

/// The values that a filter computes with.
public enum Light: String, Hashable, Sendable, CaseIterable {
    /// The samples as they are stored.
    case encoded
    /// Linear light: colours are converted by the picture's curve and back. Alpha is linear already.
    case linear
}

extension KernelSource {
    /// A raster in its own coordinates. Beyond its border, as far as `reach`, the nearest pixel of the border repeats.
    ///
    /// - Precondition: the raster has pixels.
    public init(clamping raster: AnyRaster, reach: Halo) {
        precondition(!raster.rect.isEmpty, "an empty raster has no nearest pixel")
        func table(_ range: Range<Int>, before: Int, after: Int) -> AxisTable {
            let needed = range.lowerBound - before..<range.upperBound + after
            return AxisTable(
                range: needed,
                positions: needed.map { Int32(min(max($0, range.lowerBound), range.upperBound - 1) - range.lowerBound) }
            )
        }
        self.init(
            raster: raster, columns: table(raster.rect.columns, before: reach.left, after: reach.right),
            rows: table(raster.rect.rows, before: reach.top, after: reach.bottom))
    }
}

/// The interface of all blurs.
public protocol Blur: Sendable {
    /// The pixels that are read around each pixel.
    var halo: Halo { get }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    func render(_ source: KernelSource, light: Light, within mask: Mask?, into destination: inout AnyRaster)
}

extension Blur {
    /// Blurs a raster in place. Beyond its border, the nearest pixel repeats. It needs memory for one copy.
    public func apply(to raster: inout AnyRaster, light: Light = .encoded) {
        guard !raster.rect.isEmpty else { return }
        var result = AnyRaster(zeroed: raster.rect, layout: raster.layout, format: raster.format)
        render(KernelSource(clamping: raster, reach: halo), light: light, within: nil, into: &result)
        raster = result
    }

    /// Blurs a raster in place, as ``apply(to:light:)`` of the other type does.
    public func apply<Sample: PixelSample>(to raster: inout Raster<Sample>, light: Light = .encoded) {
        raster.modify { apply(to: &$0, light: light) }
    }
}

extension Raster {
    /// Lends the raster with its sample type erased.
    fileprivate mutating func modify(_ body: (inout AnyRaster) -> Void) {
        var erased = Sample.erase(self)
        body(&erased)
        let result: Any =
            switch erased {
            case .u8(let raster): raster
            case .u16(let raster): raster
            case .f32(let raster): raster
            }
        if let result = result as? Raster { self = result }  // the body keeps the sample format
    }
}
