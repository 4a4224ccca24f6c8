package import Geometry
package import Raster

/// How far each shade of a depth picture is out of focus, and its place between layers of equal blur.
///
/// Layer 0 is sharp. The layers 1 … count lie in front of it, and −1 … −count behind. Layers k and −k have the radius
/// (k/count)² of the largest one, so that layers of little blur, whose differences are visible, are close to each other.
///
/// A pixel between two layers is divided between them. Its share in the outer one is (r² − a²)/(b² − a²) for the radius r of the
/// pixel and those of the layers, a and b. So its light spreads as widely, by the mean of squared distances, as if it
/// had a layer of its own.
package struct FocusLayers: Hashable, Sendable {
    /// The number of layers in front of the sharp one, and behind.
    package let count: Int
    /// The place of each shade: the sum of a layer and the share in the next one, in 65536ths. Positive places are in front.
    private let places: [Float]

    /// - Parameters:
    ///   - radius: the largest radius.
    ///   - focus: the shade that is sharp, 0…1.
    ///   - range: the difference of the lightest and the darkest shade that are sharp, 0…1.
    ///   - isWhiteNear: whether white is near, and black far away.
    package init(radius: Double, focus: Double, range: Double, isWhiteNear: Bool) {
        let count = Self.count(radius: radius)
        // The shade that is farthest from the focus has the largest radius.
        let farthest = max(focus, 1 - focus) - range / 2
        self.count = count
        places = (0...65535).map { sample in
            let distance = Double(sample) / 65535 - focus
            let beyond = abs(distance) - range / 2
            guard beyond > 0, farthest > 0 else { return 0 }
            let place = Self.place(of: min(1, beyond / farthest), among: count)
            return Float((distance > 0) == isWhiteNear ? place : -place)
        }
    }

    /// More layers for larger radii, up to 12: then the radii of the two widest are 16 % apart.
    private static func count(radius: Double) -> Int { min(12, max(1, Int((2 * radius.squareRoot()).rounded(.up)))) }

    /// - Parameter share: of the largest radius.
    private static func place(of share: Double, among count: Int) -> Double {
        func square(_ layer: Int) -> Double {
            let part = Double(layer) / Double(count)
            return part * part * part * part
        }
        let layer = min(count - 1, Int(share.squareRoot() * Double(count)))
        let outer = (share * share - square(layer)) / (square(layer + 1) - square(layer))
        return Double(layer) + (min(1, max(0, outer)) * 65536).rounded() / 65536
    }

    /// The radius of a layer, as a part of the largest one.
    package func share(of layer: Int) -> Double {
        let part = Double(layer) / Double(count)
        return part * part
    }

    func withPlaces(_ body: (Row<Float>) -> Void) { places.withRow(body) }

    /// The place of a shade, 0…65535.
    package func place(of shade: Int) -> Float { places[shade] }
}

/// The depths of a picture's pixels.
package struct DepthMap: Sendable {
    /// A gray picture that is spread over the input.
    let picture: GrayPicture
    let extent: PixelRect
    /// The coordinate in the extent, from its first one on, of all columns and rows that are read.
    let columns: AxisTable
    let rows: AxisTable

    package init(_ picture: GrayPicture, extent: PixelRect, columns: AxisTable, rows: AxisTable) {
        (self.picture, self.extent, self.columns, self.rows) = (picture, extent, columns, rows)
    }
}
