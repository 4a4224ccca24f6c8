public import Catalogs
public import Geometry

/// The pixels of a rectangle: row-major, interleaved, rows without padding.
///
/// A value type over one array: copying costs nothing until one of the copies is written.
public struct Raster<Sample: PixelSample>: Hashable, Sendable {
    public let rect: PixelRect
    public let layout: PixelLayout
    /// `rect.area * layout.channels` samples.
    public var samples: [Sample]

    /// - Precondition: `samples` has exactly the rectangle's samples.
    public init(rect: PixelRect, layout: PixelLayout, samples: [Sample]) {
        precondition(samples.count == rect.area * layout.channels, "a raster has every sample of its rectangle")
        self.rect = rect
        self.layout = layout
        self.samples = samples
    }

    /// All samples the same.
    public init(rect: PixelRect, layout: PixelLayout, repeating sample: Sample) {
        self.init(
            rect: rect, layout: layout, samples: Array(repeating: sample, count: rect.area * layout.channels))
    }

    /// Samples from one row to the next.
    @inlinable public var stride: Int { rect.width * layout.channels }

    /// The index of the first sample of the pixel at `x`, `y`, which must lie in `rect`.
    @inlinable public func index(x: Int, y: Int) -> Int {
        (y - rect.y) * stride + (x - rect.x) * layout.channels
    }
}

extension Raster {
    /// The pixels of `part`, which must lie in `rect`.
    public func cropped(to part: PixelRect) -> Raster {
        precondition(rect.contains(part), "a crop lies inside its raster")
        if part == rect { return self }
        var result: [Sample] = []
        let count = part.width * layout.channels
        result.reserveCapacity(part.height * count)
        for y in part.rows where count > 0 {
            let start = index(x: part.x, y: y)
            result.append(contentsOf: samples[start..<start + count])
        }
        return Raster(rect: part, layout: layout, samples: result)
    }

    /// Overwrites the part that `other` covers, which must lie in `rect` and have the same layout.
    public mutating func paste(_ other: Raster) {
        precondition(rect.contains(other.rect) && layout == other.layout, "what is pasted fits")
        if other.rect.width == rect.width { return copy(other, from: 0, count: other.samples.count, to: other.rect.y) }
        let count = other.stride
        for y in other.rect.rows {
            copy(other, from: other.index(x: other.rect.x, y: y), count: count, x: other.rect.x, to: y)
        }
    }

    /// Overwrites the rows from `target` on (coordinates) with rows of a raster that is as wide.
    package mutating func copyRows(_ rows: Range<Int>, of other: Raster, to target: Int) {
        precondition(
            other.rect.width == rect.width && other.layout == layout && rows.clamped(to: other.rect.rows) == rows
                && target >= rect.y && target + rows.count <= rect.bottom, "rows are copied inside rasters")
        copy(other, from: (rows.lowerBound - other.rect.y) * stride, count: rows.count * stride, to: target)
    }

    /// Copies neighbouring samples to the pixel at the left side, or at `x`, of row `y`.
    private mutating func copy(_ other: Raster, from: Int, count: Int, x: Int? = nil, to y: Int) {
        guard count > 0 else { return }
        let to = index(x: x ?? rect.x, y: y)
        samples.withUnsafeMutableBufferPointer { own in
            other.samples.withUnsafeBufferPointer { other in
                _ = UnsafeMutableBufferPointer(rebasing: own[to..<to + count]).update(
                    fromContentsOf: UnsafeBufferPointer(rebasing: other[from..<from + count]))
            }
        }
    }

    /// The same pixels under other coordinates.
    public func translated(x dx: Int, y dy: Int) -> Raster {
        Raster(rect: rect.translated(x: dx, y: dy), layout: layout, samples: samples)
    }
}
