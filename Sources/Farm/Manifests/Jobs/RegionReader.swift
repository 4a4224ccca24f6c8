import Catalogs

extension ValueReader where Value == Region {
    /// `{x, y, width, height, corner_radius}`; all but the last must be there.
    static var region: ValueReader {
        ValueReader { node, name, log in
            let example = "{x: 10%, y: 10%, width: 50%, height: 50%}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let x = reader.required("x", .boundedLength(isSize: false), example: "10%")
            let y = reader.required("y", .boundedLength(isSize: false), example: "10%")
            let width = reader.required("width", .boundedLength(isSize: true), example: "50%")
            let height = reader.required("height", .boundedLength(isSize: true), example: "50%")
            let radius = reader.value("corner_radius", .boundedLength(isSize: false, from: 0), default: .pixels(0))
            reader.finish(aliases: ["w": "width", "h": "height", "radius": "corner_radius", "left": "x", "top": "y"])
            guard let x, let y, let width, let height else { return nil }
            return Region(x: x, y: y, width: width, height: height, cornerRadius: radius)
        }
    }
}

extension ValueReader where Value == Length {
    static func placedLength(within limit: LengthLimit) -> ValueReader { boundedLength(isSize: false, within: limit) }

    /// The same, where no length can be negative.
    static var distance: ValueReader { boundedLength(isSize: false, from: 0) }

    /// A length of a region; one of its sides when `isSize`.
    ///
    /// - Parameter minimum: nil is as far as the limit, the other way.
    fileprivate static func boundedLength(
        isSize: Bool, from minimum: Double? = nil, within limit: LengthLimit = .widest
    ) -> ValueReader {
        ValueReader { node, name, log in
            guard let length = length.read(node, for: name, log: log) else { return nil }
            let (number, most, unit) =
                switch length {
                case .pixels(let value): (value, limit.pixels, "px")
                case .percent(let value): (value, limit.percent, "%")
                }
            if isSize, number <= 0 {
                log.error(.filter(.emptyRegion(side: name)), at: node.span)
                return nil
            }
            let least = minimum ?? -most
            guard (least...most).contains(number) else {
                let range = rangeWords(least.plain, most.plain, unit: unit)
                log.error(.value(.outOfRange(name: name, text: node.text ?? "", range: range)), at: node.span)
                return nil
            }
            return length
        }
    }
}
