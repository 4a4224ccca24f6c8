package import Catalogs
import Geometry

/// How a picture is fitted into a size.
package enum Fit: String, Hashable, Sendable, CaseIterable {
    /// The largest size inside.
    case inside
    /// The smallest size that covers the target; the parts outside are cropped.
    case cover
    /// Exactly the target size, even if the proportions change.
    case fill
    /// The largest size inside, with bars around it.
    case pad
}

/// The size of a picture after scaling, and after cropping or adding bars.
package struct Sizing: Hashable, Sendable {
    package struct Size: Hashable, Sendable {
        package let width: Int
        package let height: Int

        package init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }
    }

    package let scaled: Size
    package let output: Size
    /// The pixel of the scaled picture that becomes the output's first pixel; negative for a bar.
    package let shift: (x: Int, y: Int)

    package static func == (a: Sizing, b: Sizing) -> Bool {
        a.scaled == b.scaled && a.output == b.output && a.shift == b.shift
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scaled)
        hasher.combine(output)
    }

    /// - Parameters:
    ///   - source: the size of the picture; both sides are at least 1.
    ///   - enlarges: whether the picture may become larger.
    ///   - focus: the place that is kept near the middle if ``Fit/cover`` crops.
    package init(_ source: Size, to wish: SizeWish, _ fit: Fit, enlarges: Bool, focus: FocalPoint? = nil) {
        let (width, height) = Self.box(wish, source)
        let (x, y) = (
            width.map { Double($0) / Double(source.width) }, height.map { Double($0) / Double(source.height) }
        )
        let limit = enlarges ? Double.infinity : 1
        func scaled(_ x: Double, _ y: Double) -> Size {
            Size(Self.side(source.width, min(x, limit)), Self.side(source.height, min(y, limit)))
        }
        let one = [x, y].compactMap(\.self)
        let (smaller, larger) = (one.min() ?? 1, one.max() ?? 1)
        switch fit {
        case .inside: self.init(scaled(smaller, smaller))
        case .fill: self.init(scaled(x ?? larger, y ?? larger))
        case .cover:
            let size = scaled(larger, larger)
            let window = Size(min(width ?? size.width, size.width), min(height ?? size.height, size.height))
            self.init(size, cutTo: window, at: focus?.start(of: window, in: size, of: source))
        case .pad:
            let size = scaled(smaller, smaller)
            self.init(size, cutTo: Size(width ?? size.width, height ?? size.height))
        }
    }

    /// - Parameter start: nil for the middle.
    private init(_ size: Size, cutTo output: Size? = nil, at start: (x: Int, y: Int)? = nil) {
        scaled = size
        self.output = output ?? size
        shift = start ?? (Self.half(size.width - self.output.width), Self.half(size.height - self.output.height))
    }

    private static func box(_ wish: SizeWish, _ source: Size) -> (width: Int?, height: Int?) {
        switch wish {
        case .box(let side): (side, side)
        case .sides(let width, let height): (width, height)
        case .percent(let percent): (side(source.width, percent / 100), side(source.height, percent / 100))
        }
    }

    /// Rounds to the nearest pixel, at least 1. Sides far beyond the limits of all formats do not change, so that no product
    /// of them overflows before they are refused.
    private static func side(_ side: Int, _ factor: Double) -> Int {
        max(1, Int(min((Double(side) * factor).rounded(), 100_000_000)))
    }

    /// Rounded down.
    private static func half(_ value: Int) -> Int { value >> 1 }
}
