import Catalogs
import JobModel

/// Types the values of a mapping by the descriptors of a filter's parameters or a format's options.
struct ParameterTyper {
    /// A value of the manifest.
    struct Typed {
        let value: ParameterValue
        /// The span of the key: the parameter's name, or a synonym.
        let keySpan: SourceSpan
        let span: SourceSpan
        /// The written text of a scalar.
        let text: String?
    }

    var pictures = PictureLookup()
    let log: DiagnosticLog

    /// The values by parameter name. Wrong values are reported and left out.
    func values(of descriptors: [ParameterDescriptor], in reader: inout MappingReader) -> [String: Typed] {
        var values: [String: Typed] = [:]
        for descriptor in descriptors {
            values[descriptor.name] = value(of: descriptor, in: &reader)
        }
        return values
    }

    private func value(of descriptor: ParameterDescriptor, in reader: inout MappingReader) -> Typed? {
        let names = [ParameterDescriptor.Synonym(descriptor.name)] + descriptor.synonyms
        let given = names.compactMap { name in reader.entry(name.name).map { (entry: $0, scale: name.scale) } }
            .sorted { $0.entry.keySpan.start < $1.entry.keySpan.start }
        if given.count > 1 {
            let problem = FilterProblem.givenTwice(parameter: descriptor.name, names: given.map(\.entry.key))
            log.error(.filter(problem), at: given[1].entry.keySpan)
            return nil
        }
        return given.first.flatMap { entry, scale in
            ValueReader.parameter(
                descriptor.kind, unit: descriptor.unit, scale: scale, pictures: pictures,
                example: descriptor.requiredLike
            )
            .read(entry.value, for: entry.key, log: log)
            .map { Typed(value: $0, keySpan: entry.keySpan, span: entry.value.span, text: entry.value.text) }
        }
    }
}

extension ValueReader where Value == ParameterValue {
    /// The reader for a parameter's kind. `scale` belongs to the name in the manifest: the written value times the
    /// scale is the parameter's value.
    static func parameter(
        _ kind: ParameterKind, unit: String, scale: Double, pictures: PictureLookup, example: String? = nil
    ) -> ValueReader {
        switch kind {
        case .number(let minimum, let maximum):
            ValueReader<Double>.number(minimum, maximum, unit: unit, scale: scale).map(ParameterValue.number)
        case .numberOrPair(let minimum, let maximum):
            numberOrPair(.number(minimum, maximum, unit: unit, scale: scale))
        case .numberOrWord(let minimum, let maximum, let words):
            numberOrWord(.number(minimum, maximum, unit: unit, scale: scale), words: words)
        case .integer(let minimum, let maximum):
            ValueReader<Int>.integer(minimum, maximum, unit: unit, scale: scale).map(ParameterValue.integer)
        case .integerOrWord(let minimum, let maximum, let words):
            integerOrWord(.integer(minimum, maximum, unit: unit, scale: scale), words: words)
        case .choice(let words):
            ValueReader<String>.word(of: words).map(ParameterValue.word)
        case .boolean:
            ValueReader<Bool>.boolean.map(ParameterValue.boolean)
        case .text:
            ValueReader<String>.text.map(ParameterValue.text)
        case .address:
            AddressReader.address
        case .regions:
            RegionsReader(pictures: pictures).regions
        case .length(let limit):
            ValueReader<Length>.placedLength(within: limit).map(ParameterValue.length)
        case .path:
            ValueReader<[Point]>.path(like: example).map(ParameterValue.path)
        case .numbers(let ranges):
            ValueReader<[String: Double]>.numbers(ranges).map(ParameterValue.numbers)
        case .distance:
            ValueReader<Length>.distance.map(ParameterValue.length)
        case .size:
            ValueReader<SizeWish>.size.map(ParameterValue.size)
        case .color:
            ValueReader<Color>.color.map { .color(red: $0.red, green: $0.green, blue: $0.blue, alpha: $0.alpha) }
        case .picture:
            pictures.pictureOrTemplate
        case .layer:
            pictures.reader()
        case .table:
            pictures.reader(.table)
        case .font:
            pictures.reader(.font)
        case .template:
            ValueReader<TextTemplate>.template.map(ParameterValue.template)
        case .command(let programs):
            ValueReader<ProgramCommand>.command(of: programs).map(ParameterValue.command)
        }
    }

    private static func numberOrPair(_ number: ValueReader<Double>) -> ValueReader {
        ValueReader { node, name, log in
            switch node.content {
            case .mapping:
                guard var pair = MappingReader(node, of: "'\(name)'", log: log) else { return nil }
                let x = pair.required("x", number, example: "12")
                let y = pair.required("y", number, example: "12")
                pair.finish()
                guard let x, let y else { return nil }
                return .pair(x: x, y: y)
            case .scalar:
                return number.read(node, for: name, log: log).map(ParameterValue.number)
            case .sequence, .unreadable:
                let problem = ValueProblem.wrongKind(name: name, wanted: "a number or {x, y}", found: node.kindName)
                log.error(.value(problem), at: node.span)
                return nil
            }
        }
    }

    private static func integerOrWord(_ integer: ValueReader<Int>, words: [String]) -> ValueReader {
        orWord(integer.map(ParameterValue.integer), words, "a whole number")
    }

    private static func numberOrWord(_ number: ValueReader<Double>, words: [String]) -> ValueReader {
        orWord(number.map(ParameterValue.number), words, "a number")
    }

    private static func orWord(_ number: ValueReader, _ words: [String], _ noun: String) -> ValueReader {
        ValueReader { node, name, log in
            guard let text = node.text, text.first?.isLetter == true else {
                return number.read(node, for: name, log: log)
            }
            if words.contains(text) { return .word(text) }
            let nearest = Suggestion.nearest(to: text, among: words)
            let problem = ValueProblem.notAChoice(name: name, text: text, nearest: nearest, choices: [noun] + words)
            log.error(.value(problem), at: node.span)
            return nil
        }
    }
}

extension ValueReader<Double> {
    /// A number that is `scale` times the written one. So the range of the written number is the parameter's, divided
    /// by the scale.
    fileprivate static func number(_ minimum: Double, _ maximum: Double, unit: String, scale: Double) -> ValueReader {
        guard scale != 1, scale != 0 else { return .number(in: minimum...max(minimum, maximum), unit: unit) }
        let bounds = [minimum / scale, maximum / scale].sorted()
        return ValueReader.number(in: bounds[0]...bounds[1], unit: unit)
            .map { min(max($0 * scale, minimum), maximum) }  // rounding must not leave the range
    }
}

extension ValueReader<Int> {
    fileprivate static func integer(_ minimum: Int, _ maximum: Int, unit: String, scale: Double) -> ValueReader {
        guard scale != 1, scale != 0 else { return .integer(in: minimum...max(minimum, maximum), unit: unit) }
        let number = ValueReader<Double>.number(Double(minimum), Double(maximum), unit: unit, scale: scale)
        return ValueReader { node, name, log in
            guard let value = number.read(node, for: name, log: log) else { return nil }
            if let integer = Int(exactly: value) { return integer }
            let neighbours = [value.rounded(.down), value.rounded(.up)].filter {
                (Double(minimum)...Double(maximum)).contains($0)
            }
            let fault = NumberError.notWhole(nearest: neighbours.map { ($0 / scale).plain })
            log.error(.value(.notANumber(name: name, text: node.text ?? "", fault: fault)), at: node.span)
            return nil
        }
    }
}

extension ValueReader where Value == Length {
    static func placedLength(within limit: LengthLimit) -> ValueReader { boundedLength(isSize: false, within: limit) }

    /// A length that cannot be negative.
    static var distance: ValueReader { boundedLength(isSize: false, from: 0) }

    /// A length of a region, or one of its sides if `isSize`.
    ///
    /// - Parameter minimum: Nil for the negative limit.
    static func boundedLength(
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

extension ValueReader where Value == [Point] {
    /// At least two points, each `{x, y}`.
    static func path(like example: String?) -> ValueReader {
        ValueReader { node, name, log in
            guard case .sequence(let items) = node.content else {
                if !node.isUnreadable {
                    let wanted = "a list of places {x, y}"
                    log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                }
                return nil
            }
            guard items.count >= 2 else {
                log.error(
                    .value(.shortPath(name: name, example: example ?? "[{x: 0, y: 50%}, {x: 80%, y: 50%}]")),
                    at: node.span)
                return nil
            }
            let points = items.enumerated().map { point($1, "\(name)[\($0)]", log) }
            return points.contains { $0 == nil } ? nil : points.compactMap(\.self)
        }
    }

    private static func point(_ node: SyntaxNode, _ name: String, _ log: DiagnosticLog) -> Point? {
        guard var reader = MappingReader(node, of: "'\(name)'", example: "{x: 10%, y: 50%}", log: log) else {
            return nil
        }
        let x = reader.required("x", .placedLength(within: .widest), example: "10%")
        let y = reader.required("y", .placedLength(within: .widest), example: "50%")
        reader.finish(aliases: ["left": "x", "top": "y"])
        guard let x, let y else { return nil }
        return Point(x: x, y: y)
    }
}

extension ValueReader where Value == [String: Double] {
    /// A number for each name, with the fallbacks of the missing ones.
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

/// Reads `layers:`, the pictures over each input, from the lowest up. Each is an `overlay` before the filters.
struct LayersReader {
    let catalog: Catalog
    let pictures: PictureLookup

    /// The filter of a layer.
    static let filter = "overlay"

    var layers: ValueReader<[FilterInvocation]> {
        ValueReader { node, name, log in
            guard let overlay = catalog.filter(named: Self.filter) else {
                log.error(.job(.noLayersHere), at: node.span)
                return nil
            }
            guard case .sequence(let items) = node.content else {
                log.error(.job(.layersNotAList(found: node.kindName)), at: node.span)
                return nil
            }
            guard !items.isEmpty else {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            let typer = FilterTyper(descriptor: overlay, pictures: pictures, log: log)
            let layers = items.enumerated().map { index, item in
                guard item.text == nil else {
                    log.error(.job(.layerNotAMapping(found: item.kindName)), at: item.span)
                    return FilterInvocation?.none
                }
                return typer.filter(item, nameSpan: item.span, path: "\(name)[\(index)]", called: "a layer")
            }
            let present = layers.compactMap(\.self)
            return present.count == layers.count ? present : nil
        }
    }
}
