package import Catalogs
package import Geometry
package import Kernels
import Raster

/// The parameters that limit a filter to a part of the picture: `within`, `mask` and what belongs to them.
package struct MaskOptions: Hashable, Sendable {
    /// Nil for the whole picture. Without any region, the filter changes nothing.
    private let regions: RegionSet?
    private let picture: GrayPicture?
    /// Whether each input has a picture of its own. It may be black: then the input has nothing to change.
    private let isOwnPicture: Bool
    /// Where the corner of the picture lies. Nil if it is spread over the input.
    private let place: Point?
    private let isInverted: Bool
    /// The standard deviation in pixels.
    private let feather: Double

    /// Nil if the filter applies to the whole picture.
    ///
    /// - Parameter parameters: those that the filter takes.
    /// - Throws: ``FilterError``, or the errors of the source of pictures.
    package init?(_ arguments: FilterArguments, of parameters: [ParameterDescriptor] = Self.parameters) throws {
        let names = Set(parameters.map(\.name))
        func isTaken(_ parameter: ParameterDescriptor) -> Bool { names.contains(parameter.name) }
        regions = isTaken(Self.within) ? try arguments.regions(Self.within.name) : nil
        picture = isTaken(Self.mask) ? try arguments.picture(Self.mask.name) : nil
        isOwnPicture = arguments.isOwnPicture(Self.mask.name)
        if isTaken(Self.maskX), arguments.has(Self.maskX.name) || arguments.has(Self.maskY.name) {
            place = Point(
                x: try arguments.optionalLength(Self.maskX.name) ?? .pixels(0),
                y: try arguments.optionalLength(Self.maskY.name) ?? .pixels(0))
        } else {
            place = nil
        }
        isInverted = isTaken(Self.inverted) ? try arguments.boolean(Self.inverted.name) : false
        feather = isTaken(Self.feather) ? try arguments.number(Self.feather.name) : 0
        if regions == nil, picture == nil { return nil }
    }

    /// Why a filter with these values would change something else than its author wants.
    package enum Misfit: Hashable, Sendable {
        /// A region covers no part of the input.
        case regionOutside
        /// The regions were found in a picture of this size, which has another shape.
        case otherShape(PictureSize)
        /// The mask is black over the whole input, or does not lie on it.
        case blackMask
        /// The mask is black over a region.
        case blackRegion
        /// The mask of this input lies outside of it.
        case maskOutside
        /// The mask of this input has this size, which is that of the input after a quarter turn.
        case turnedMask(PictureSize)
    }

    /// Nil if the regions and the mask fit the input. It looks at the pixels of the mask.
    package func misfit(in input: PixelRect) -> Misfit? {
        let shapes = regions?.placed(in: input)
        if let regions, let shapes {
            if regions.isOfOtherShape(than: input), let size = regions.size { return .otherShape(size) }
            if shapes.contains(where: { $0.bounds(in: input).isEmpty }) { return .regionOutside }
            if regions.areas(in: input).contains(where: { $0.bounds(in: input).isEmpty }) { return .regionOutside }
        }
        guard let picture else { return nil }
        let placed = placed(picture, in: input)
        if isOwnPicture {
            if !placed.lies(on: input) { return .maskOutside }
            let size = PictureSize(width: picture.width, height: picture.height)
            let isTurned = place == nil && size.isTurned(from: PictureSize(width: input.width, height: input.height))
            return isTurned ? .turnedMask(size) : nil
        }
        guard !isInverted else { return nil }
        if placed.bounds(in: input).isEmpty { return .blackMask }
        let parts =
            (shapes ?? []).map { $0.bounds(in: input) }
            + (regions?.areas(in: input) ?? []).map { $0.bounds(in: input) }
        return parts.contains { placed.bounds(in: $0).isEmpty } ? .blackRegion : nil
    }

    /// Whether there is nothing to change: a list of regions is empty.
    package var isIdle: Bool { regions?.count == 0 && !isInverted }

    /// How much of each pixel changes.
    package func mask(in input: PixelRect) -> Mask {
        Mask(
            regions: regions?.placed(in: input), outlines: regions?.areas(in: input) ?? [],
            picture: picture.map { placed($0, in: input) },
            isInverted: isInverted, feather: feather)
    }

    private func placed(_ picture: GrayPicture, in input: PixelRect) -> PlacedPicture {
        guard let place else { return PlacedPicture(picture, over: input) }
        return PlacedPicture(
            picture, x: Self.pixel(place.x.coordinate(along: input.columns)),
            y: Self.pixel(place.y.coordinate(along: input.rows)))
    }

    /// The nearest whole pixel. Places beyond all pictures are as good as this far away.
    private static func pixel(_ coordinate: Double) -> Int { Int(min(max(coordinate, -1e9), 1e9).rounded()) }
}

extension MaskOptions? {
    /// The rectangle that is read for an output: the output itself, because a mask keeps or blends its originals, and the input of
    /// its pixels that change.
    ///
    /// - Parameter reading: returns the rectangle that the filter reads for a rectangle that changes.
    package func needed(
        for output: PixelRect, in input: PixelRect, reading: (PixelRect) -> PixelRect
    ) -> PixelRect {
        guard let mask = self?.mask(in: input) else { return output.union(reading(output)) }
        let changed = mask.bounds(in: output)
        return changed.isEmpty ? output : output.union(reading(changed))
    }
}

extension PictureSize {
    /// Whether a picture of this size fits the other one after a quarter turn alone. The sides may be rounded to whole pixels.
    fileprivate func isTurned(from other: PictureSize) -> Bool {
        func fits(_ width: Int, _ height: Int) -> Bool {
            let difference = Double(width) * Double(other.height) - Double(height) * Double(other.width)
            return difference.magnitude <= Double(2 * max(width, height, other.width, other.height))
        }
        return fits(height, width) && !fits(width, height)
    }
}

extension RegionSet {
    /// How many pixels of the input a pixel of the picture has in which the regions were found.
    private func scale(to input: PixelRect) -> (x: Double, y: Double) {
        guard let size else { return (1, 1) }
        return (Double(input.width) / Double(size.width), Double(input.height) / Double(size.height))
    }

    /// The outlines, in coordinates.
    fileprivate func areas(in input: PixelRect) -> [OutlineArea] {
        guard !outlines.isEmpty else { return [] }
        let scale = scale(to: input)
        return outlines.map { outline in
            var steps: [Outline.Step] = []
            for ring in outline.rings {
                for index in stride(from: 0, to: ring.count - 1, by: 2) {
                    let corner = Outline.Point(
                        Double(input.x) + ring[index] * scale.x, Double(input.y) + ring[index + 1] * scale.y)
                    steps.append(index == 0 ? .move(corner) : .line(corner))
                }
            }
            return OutlineArea(Outline(steps), reach: outline.grow * max(scale.x, scale.y), input: input)
        }
    }

    /// The rectangles as shapes, in coordinates.
    fileprivate func placed(in input: PixelRect) -> [RoundedRect] {
        guard size != nil else { return regions.map { RoundedRect($0, in: input) } }
        let scale = scale(to: input)
        return regions.map { region in
            RoundedRect(
                Region(
                    x: region.x.scaled(by: scale.x), y: region.y.scaled(by: scale.y),
                    width: region.width.scaled(by: scale.x), height: region.height.scaled(by: scale.y),
                    cornerRadius: region.cornerRadius.scaled(by: min(scale.x, scale.y))), in: input)
        }
    }

    /// Whether `input` has other proportions than the picture in which the regions were found, as after a quarter turn. The sides may be
    /// rounded to whole pixels.
    fileprivate func isOfOtherShape(than input: PixelRect) -> Bool {
        guard let size else { return false }
        let difference = Double(input.width) * Double(size.height) - Double(input.height) * Double(size.width)
        return difference.magnitude > Double(2 * max(size.width, size.height, input.width, input.height))
    }
}

extension Length {
    fileprivate func scaled(by factor: Double) -> Length {
        if case .pixels(let pixels) = self { .pixels(pixels * factor) } else { self }
    }
}

extension MaskOptions {
    package static let parameters = [within] + pictureParameters + softened
    package static let pictureParameters = [mask, maskX, maskY]
    /// For a filter whose own parameter is called `mask`.
    package static let parametersWithoutMask = [within] + softened
    private static let softened = [inverted, feather]

    package static let within = ParameterDescriptor(
        "within", .regions,
        summary: "Limits the filter to this part of the picture, or to several, and blends at their borders")

    private static let mask = ParameterDescriptor(
        "mask", .picture,
        summary:
            "Names a picture that limits the filter, or with {stem} one for each picture. It applies fully where that picture is white, and not at all where it is black"
    )

    private static let maskX = ParameterDescriptor(
        "mask_x", .length(),
        summary:
            "Sets the left side of the mask, which keeps its size then. Without it, the mask is spread over the picture"
    )

    private static let maskY = ParameterDescriptor("mask_y", .length(), summary: "Sets the top side of the mask")

    private static let inverted = ParameterDescriptor(
        "inverted", .boolean, fallback: .boolean(false),
        summary: "Applies the filter to everything that 'within' and 'mask' leave out")

    private static let feather = ParameterDescriptor(
        "feather", .number(minimum: 0, maximum: 100), fallback: .number(0), unit: "px",
        summary: "Softens the border of 'within' and 'mask'. It is the standard deviation of a Gaussian")

    /// The names of the parameters that limit a filter, among these.
    package static func limits(of parameters: [ParameterDescriptor]) -> [String] {
        [within, mask].map(\.name).filter { name in parameters.contains { $0.name == name } }
    }

    /// The rules of the parameters among these.
    package static func rules(of parameters: [ParameterDescriptor]) -> [ParameterRule] {
        let names = Set(parameters.map(\.name))
        let limits = limits(of: parameters)
        return [(inverted, limits), (feather, limits), (maskX, [mask.name]), (maskY, [mask.name])]
            .filter { names.contains($0.0.name) }
            .map { .belongs(parameter: $0.0.name, to: $0.1) }
    }
}
