import Catalogs

extension ValueReader where Value == ParameterValue {
    /// The reader for a parameter's kind. `scale` is that of the name it was given by: the written value times the scale
    /// is the parameter's.
    static func parameter(
        _ kind: ParameterKind, unit: String, scale: Double, pictures: PictureLookup
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
        case .region:
            ValueReader<Region>.region.map(ParameterValue.region)
        case .length(let limit):
            ValueReader<Length>.placedLength(within: limit).map(ParameterValue.length)
        case .path:
            ValueReader<[Place]>.path.map(ParameterValue.path)
        case .numbers(let ranges):
            ValueReader<[String: Double]>.numbers(ranges).map(ParameterValue.numbers)
        case .distance:
            ValueReader<Length>.distance.map(ParameterValue.length)
        case .size:
            ValueReader<SizeWish>.size.map(ParameterValue.size)
        case .color:
            ValueReader<Color>.color.map { .color(red: $0.red, green: $0.green, blue: $0.blue, alpha: $0.alpha) }
        case .picture, .layer:
            pictures.reader
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
    /// A number that is `scale` times what is written, so the range of what may be written is the parameter's divided
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
            let fault = NumberFault.notWhole(nearest: neighbours.map { ($0 / scale).plain })
            log.error(.value(.notANumber(name: name, text: node.text ?? "", fault: fault)), at: node.span)
            return nil
        }
    }
}
