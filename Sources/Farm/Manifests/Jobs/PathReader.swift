import Catalogs

extension ValueReader where Value == [Place] {
    /// At least two places, each `{x, y}`.
    static var path: ValueReader {
        ValueReader { node, name, log in
            guard case .sequence(let items) = node.content else {
                if !node.isUnreadable {
                    let wanted = "a list of places {x, y}"
                    log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                }
                return nil
            }
            guard items.count >= 2 else {
                log.error(.value(.shortPath(name: name)), at: node.span)
                return nil
            }
            let places = items.enumerated().map { place($1, "\(name)[\($0)]", log) }
            return places.contains { $0 == nil } ? nil : places.compactMap(\.self)
        }
    }

    private static func place(_ node: SyntaxNode, _ name: String, _ log: DiagnosticLog) -> Place? {
        guard var reader = MappingReader(node, of: "'\(name)'", example: "{x: 10%, y: 50%}", log: log) else {
            return nil
        }
        let x = reader.required("x", .placedLength(within: .widest), example: "10%")
        let y = reader.required("y", .placedLength(within: .widest), example: "50%")
        reader.finish(aliases: ["left": "x", "top": "y"])
        guard let x, let y else { return nil }
        return Place(x: x, y: y)
    }
}

extension ValueReader where Value == [String: Double] {
    /// A number for each name, with the fallbacks of those that are not given.
    static func numbers(_ ranges: [NamedRange]) -> ValueReader {
        ValueReader { node, name, log in
            let example = ranges.map { "\($0.name): \(($0.fallback ?? $0.maximum).plain)" }.joined(separator: ", ")
            guard var reader = MappingReader(node, of: "'\(name)'", example: "{\(example)}", log: log) else {
                return nil
            }
            var values: [String: Double] = [:]
            for range in ranges {
                let number = ValueReader<Double>.number(in: range.minimum...range.maximum)
                let example = (range.fallback ?? range.maximum).plain
                values[range.name] =
                    range.fallback.map { reader.value(range.name, number, default: $0) }
                    ?? reader.required(range.name, number, example: example)
            }
            reader.finish()
            return values.count == ranges.count ? values : nil
        }
    }
}
