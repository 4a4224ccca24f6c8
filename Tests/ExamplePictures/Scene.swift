import Catalogs
import Geometry
package import Raster

/// Pictures that the project draws itself, the same on every machine.
package enum Scene {
    /// A moon in the earth's shadow over hills, under many stars: fine detail, soft gradients and hard edges.
    package static func eclipse(width: Int, height: Int) -> AnyRaster {
        draw(width: width, height: height, layout: .rgb) { x, y in
            let point = Point(x: Double(x) / Double(height), y: Double(y) / Double(height))
            let middle = Double(width) / Double(height) / 2
            if point.y > ridge(point.x) { return hill(point, x, y) }
            let distance = length(point.x - middle, point.y - 0.38)
            return distance < 0.22 ? moon(point, middle, distance) : sky(point, distance, x, y)
        }
    }

    /// Overlapping discs with hard and soft edges over nothing: every kind of alpha.
    package static func discs(side: Int) -> AnyRaster {
        let discs: [(x: Double, y: Double, radius: Double, color: [Double], alpha: Double)] = [
            (0.36, 0.38, 0.27, [250, 190, 40], 1), (0.64, 0.40, 0.27, [40, 140, 240], 0.7),
            (0.50, 0.64, 0.27, [230, 60, 90], 0.45),
        ]
        return draw(width: side, height: side, layout: .rgba) { x, y in
            var (red, green, blue, alpha) = (0.0, 0.0, 0.0, 0.0)
            for disc in discs {
                let inside = length(Double(x) / Double(side) - disc.x, Double(y) / Double(side) - disc.y) < disc.radius
                guard inside else { continue }
                let rest = alpha * (1 - disc.alpha)
                red = disc.color[0] * disc.alpha + red * (1 - disc.alpha)
                green = disc.color[1] * disc.alpha + green * (1 - disc.alpha)
                blue = disc.color[2] * disc.alpha + blue * (1 - disc.alpha)
                alpha = disc.alpha + rest
            }
            return alpha == 0 ? [0, 0, 0, 0] : [red / alpha, green / alpha, blue / alpha, alpha * 255]
        }
    }

    private struct Point {
        let x: Double
        let y: Double
    }

    private static func draw(
        width: Int, height: Int, layout: PixelLayout, _ color: (Int, Int) -> [Double]
    ) -> AnyRaster {
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height * layout.channels)
        for y in 0..<height {
            for x in 0..<width { samples += color(x, y).map { UInt8(rounding: $0) } }
        }
        return .u8(Raster(rect: PixelRect(x: 0, y: 0, width: width, height: height), layout: layout, samples: samples))
    }
}

extension Scene {
    /// Lit on the left, in the earth's penumbra on the right, with craters.
    private static func moon(_ point: Point, _ middle: Double, _ distance: Double) -> [Double] {
        let shadow = min(1, max(0, (length(point.x - middle - 0.30, point.y - 0.45) - 0.22) / 0.22))
        let craters = 0.75 + 0.25 * smoothNoise(point.x * 40, point.y * 40)
        let limb = (1 - (distance / 0.22) * (distance / 0.22) * 0.5)
        let light = craters * limb * (0.12 + 0.88 * shadow)
        return [245 * light + 70 * (1 - shadow), 235 * light + 18 * (1 - shadow), 215 * light]
    }

    private static func sky(_ point: Point, _ distance: Double, _ x: Int, _ y: Int) -> [Double] {
        let glow = 60 * max(0, 1 - (distance - 0.22) / 0.5)
        let star = hash(x / 2, y / 2)
        let light = star > 0.9985 ? 60 + 195 * hash(y, x) : 0
        return [8 + glow * 0.7 + light, 10 + glow * 0.7 + light, 30 + 40 * point.y + glow + light]
    }

    private static func hill(_ point: Point, _ x: Int, _ y: Int) -> [Double] {
        let grass = hash(x, y) * 22 + smoothNoise(point.x * 90, point.y * 30) * 26
        return [6 + grass * 0.6, 16 + grass, 14 + grass * 0.5]
    }

    private static func ridge(_ x: Double) -> Double {
        0.80 - 0.10 * smoothNoise(x * 3, 0.5) - 0.03 * smoothNoise(x * 17, 7.5)
    }

    private static func length(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }

    /// 0–1, as if at random, the same for the same place.
    private static func hash(_ x: Int, _ y: Int) -> Double {
        var state = UInt64(bitPattern: Int64(x)) &* 0x9e37_79b9_7f4a_7c15
        state ^= UInt64(bitPattern: Int64(y)) &* 0xbf58_476d_1ce4_e5b9
        state = (state ^ (state >> 30)) &* 0x94d0_49bb_1331_11eb
        return Double((state ^ (state >> 31)) >> 11) / Double(1 << 53)
    }

    /// 0–1, changing slowly from place to place.
    private static func smoothNoise(_ x: Double, _ y: Double) -> Double {
        let (column, row) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        let (u, v) = (smooth(x - Double(column)), smooth(y - Double(row)))
        let top = hash(column, row) * (1 - u) + hash(column + 1, row) * u
        let bottom = hash(column, row + 1) * (1 - u) + hash(column + 1, row + 1) * u
        return top * (1 - v) + bottom * v
    }

    private static func smooth(_ t: Double) -> Double { t * t * (3 - 2 * t) }
}
