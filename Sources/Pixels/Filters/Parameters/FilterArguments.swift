package import Catalogs
package import Kernels
package import Raster

/// The values of one filter, checked against its descriptor: every value is known, has the right kind and range, and satisfies
/// the filter's rules.
package struct FilterArguments: Sendable {
    private let filter: String
    private let values: [String: ParameterValue]
    private let pictures: PictureSource
    /// Runs the program of a command.
    let programs: ProgramSource

    /// Adds the values that rules imply, then the descriptor's fallbacks. Throws ``FilterError``.
    package init(
        _ given: [String: ParameterValue], descriptor: FilterDescriptor, pictures: PictureSource = .none,
        programs: ProgramSource = .none
    ) throws(FilterError) {
        let check = ArgumentCheck(descriptor)
        for (name, value) in given.sorted(by: { $0.key < $1.key }) { try check.check(value, of: name) }
        let complete = try check.applyingRules(to: given)
        values = complete.merging(descriptor.fallbacks(beside: given)) { value, _ in value }
        filter = descriptor.name
        self.pictures = pictures
        self.programs = programs
    }

    package func number(_ name: String) throws(FilterError) -> Double {
        switch values[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        case let other: throw unexpected(other, name, "a number")
        }
    }

    /// The values for both axes. A single number applies to both.
    package func pair(_ name: String) throws(FilterError) -> (x: Double, y: Double) {
        if case .pair(let x, let y) = values[name] { return (x, y) }
        let both = try number(name)
        return (both, both)
    }

    package func word(_ name: String) throws(FilterError) -> String {
        guard case .word(let value) = values[name] else { throw unexpected(values[name], name, "a word") }
        return value
    }

    package func integer(_ name: String) throws(FilterError) -> Int {
        guard case .integer(let value) = values[name] else { throw unexpected(values[name], name, "a whole number") }
        return value
    }

    package func boolean(_ name: String) throws(FilterError) -> Bool {
        guard case .boolean(let value) = values[name] else { throw unexpected(values[name], name, "true or false") }
        return value
    }

    /// Nil when the parameter is absent.
    package func regions(_ name: String) throws(FilterError) -> RegionSet? {
        switch values[name] {
        case nil: nil
        case .region(let value): RegionSet([value])
        case .regions(let value): value
        case let other: throw unexpected(other, name, "regions")
        }
    }

    package func length(_ name: String) throws(FilterError) -> Length {
        guard case .length(let value) = values[name] else { throw unexpected(values[name], name, "a length") }
        return value
    }

    package func path(_ name: String) throws(FilterError) -> [Point] {
        guard case .path(let value) = values[name] else { throw unexpected(values[name], name, "a path") }
        return value
    }

    /// Nil when the parameter is absent.
    package func numbers(_ name: String) throws(FilterError) -> [String: Double]? {
        switch values[name] {
        case nil: nil
        case .numbers(let value): value
        case let other: throw unexpected(other, name, "numbers by name")
        }
    }

    package func size(_ name: String) throws(FilterError) -> SizeWish {
        guard case .size(let value) = values[name] else { throw unexpected(values[name], name, "a size") }
        return value
    }

    package func command(_ name: String) throws(FilterError) -> ProgramCommand {
        guard case .command(let value) = values[name] else { throw unexpected(values[name], name, "a command") }
        return value
    }

    package func color(_ name: String) throws(FilterError) -> BackgroundColor {
        guard case .color(let red, let green, let blue, let alpha) = values[name] else {
            throw unexpected(values[name], name, "a colour")
        }
        return BackgroundColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Nil if the parameter is absent. Throws the errors of the picture source.
    package func picture(_ name: String) throws -> GrayPicture? {
        switch values[name] {
        case nil: return nil
        case .picture(let reference): return try pictures.picture(reference, "'\(name)' of \(filter)")
        case let other: throw unexpected(other, name, "a picture's path")
        }
    }

    /// Whether the picture belongs to this input alone.
    func isOwnPicture(_ name: String) -> Bool {
        if case .picture(let reference)? = values[name] { reference.isOwn } else { false }
    }

    /// Throws the errors of the picture source.
    package func layer(_ name: String) throws -> Layer {
        guard case .picture(let reference) = values[name] else {
            throw unexpected(values[name], name, "a picture's path")
        }
        return try pictures.layer(reference, "'\(name)' of \(filter)")
    }

    /// Throws the errors of the picture source.
    package func table(_ name: String) throws -> ColorCube {
        guard case .picture(let reference) = values[name] else {
            throw unexpected(values[name], name, "the path of a .cube file")
        }
        return try pictures.table(reference, "'\(name)' of \(filter)")
    }

    /// Throws the errors of the picture source.
    package func typeface(_ name: String) throws -> Typeface {
        guard case .picture(let reference) = values[name] else {
            throw unexpected(values[name], name, "the path of a font")
        }
        return try pictures.font(reference, "'\(name)' of \(filter)")
    }

    package func template(_ name: String) throws(FilterError) -> TextTemplate {
        guard case .template(let value) = values[name] else { throw unexpected(values[name], name, "text") }
        return value
    }

    /// Nil when the parameter is absent.
    package func optionalInteger(_ name: String) throws(FilterError) -> Int? {
        values[name] == nil ? nil : try integer(name)
    }

    /// Nil when the parameter is absent.
    package func optionalLength(_ name: String) throws(FilterError) -> Length? {
        values[name] == nil ? nil : try length(name)
    }

    /// Nil when the parameter is absent.
    package func optionalNumber(_ name: String) throws(FilterError) -> Double? {
        values[name] == nil ? nil : try number(name)
    }

    /// Nil when the parameter is absent.
    package func optionalColor(_ name: String) throws(FilterError) -> BackgroundColor? {
        values[name] == nil ? nil : try color(name)
    }

    /// Whether the parameter has a value.
    package func has(_ name: String) -> Bool { values[name] != nil }

    /// Whether the parameter's value is a word.
    package func isWord(_ name: String) -> Bool {
        if case .word = values[name] { true } else { false }
    }

    private func unexpected(_ value: ParameterValue?, _ name: String, _ expected: String) -> FilterError {
        let problem: FilterError.Problem =
            value == nil ? .missing(parameter: name) : .wrongKind(parameter: name, expected: expected)
        return FilterError(filter: filter, problem: problem)
    }
}

/// Checks values against a filter's descriptor.
struct ArgumentCheck {
    private let descriptor: FilterDescriptor

    init(_ descriptor: FilterDescriptor) { self.descriptor = descriptor }

    func check(_ value: ParameterValue, of name: String) throws(FilterError) {
        guard let parameter = descriptor.parameters.first(where: { $0.name == name }) else {
            throw error(.unknownParameter(name, offered: descriptor.parameters.map(\.name)))
        }
        switch (parameter.kind, value) {
        case (.number(let low, let high), .number(let number)),
            (.numberOrPair(let low, let high), .number(let number)):
            try check(number, name, low, high)
        case (.number(let low, let high), .integer(let number)),
            (.numberOrPair(let low, let high), .integer(let number)):
            try check(Double(number), name, low, high)
        case (.numberOrPair(let low, let high), .pair(let x, let y)):
            try check(x, name, low, high)
            try check(y, name, low, high)
        case (.integer(let low, let high), .integer(let number)),
            (.integerOrWord(let low, let high, _), .integer(let number)):
            try check(Double(number), name, Double(low), Double(high))
        case (.numberOrWord(let low, let high, _), .number(let number)):
            try check(number, name, low, high)
        case (.numberOrWord(let low, let high, _), .integer(let number)):
            try check(Double(number), name, low, high)
        case (.numberOrWord(_, _, let words), .word(let word)), (.integerOrWord(_, _, let words), .word(let word)),
            (.choice(let words), .word(let word)):
            guard words.contains(word) else {
                throw error(.unknownWord(parameter: name, word: word, offered: words))
            }
        case (.length(let limit), .length(let length)):
            try check(length.amount, name, -limit.most(of: length), limit.most(of: length))
        case (.distance, .length(let length)):
            try check(length.amount, name, 0, LengthLimit.widest.most(of: length))
        case (.regions, .regions(let set)):
            for region in set.regions { try check(region, name) }
            let corners = set.outlines.reduce(0) { $0 + $1.corners }
            try check(Double(corners), name, 0, Double(RegionOutline.mostCorners))
            for outline in set.outlines { try check(outline, name) }
            if let size = set.size {
                try check(Double(min(size.width, size.height)), name, 1, 1e9)
                try check(Double(max(size.width, size.height)), name, 1, 1e9)
            }
        case (.regions, .region(let region)):
            try check(region, name)
        case (.path, .path(let positions)):
            guard positions.count >= 2 else {
                throw error(.wrongKind(parameter: name, expected: Self.words(for: .path)))
            }
            for position in positions {
                for length in [position.x, position.y] { try check(length.amount, name, -1e9, 1e9) }
            }
        case (.numbers(let ranges), .numbers(let numbers)) where Set(ranges.map(\.name)) == Set(numbers.keys):
            for range in ranges {
                try check(numbers[range.name] ?? .nan, "\(name).\(range.name)", range.minimum, range.maximum)
            }
        case (.boolean, .boolean), (.text, .text), (.address, .text), (.color, .color), (.size, .size),
            (.picture, .picture), (.table, .picture), (.layer, .picture), (.font, .picture), (.template, .template),
            (.command, .command):
            break
        default:
            throw error(.wrongKind(parameter: name, expected: Self.words(for: parameter.kind)))
        }
    }

    private func check(_ value: Double, _ name: String, _ low: Double, _ high: Double) throws(FilterError) {
        guard value >= low, value <= high else {  // NaN fails both
            throw error(.outOfRange(parameter: name, value: value, minimum: low, maximum: high))
        }
    }

    private func check(_ region: Region, _ name: String) throws(FilterError) {
        for length in [region.x, region.y] { try check(length.amount, name, -1e9, 1e9) }
        for length in [region.width, region.height, region.cornerRadius] { try check(length.amount, name, 0, 1e9) }
    }

    private func check(_ outline: RegionOutline, _ name: String) throws(FilterError) {
        try check(outline.grow, name, 0, 1e9)
        for ring in outline.rings {
            guard ring.count.isMultiple(of: 2) else {
                throw error(.wrongKind(parameter: name, expected: Self.words(for: .regions)))
            }
            for place in ring { try check(place, name, -1e9, 1e9) }
        }
    }

    /// The values, with those that a rule implies. Throws an error if a value violates a rule.
    func applyingRules(to given: [String: ParameterValue]) throws(FilterError) -> [String: ParameterValue] {
        for parameter in descriptor.parameters where parameter.requiredLike != nil && given[parameter.name] == nil {
            throw error(.missing(parameter: parameter.name))
        }
        var values = given
        for rule in descriptor.rules {
            switch rule {
            case .implies(let parameter, let value, let other, let required) where given[parameter] == .word(value):
                guard values[other] == nil || values[other] == .word(required) else {
                    throw error(.conflict(parameter: parameter, value: value, other: other))
                }
                values[other] = .word(required)
            case .excludes(let parameter, let value, let other) where given[parameter] == .word(value):
                guard values[other] == nil else {
                    throw error(.conflict(parameter: parameter, value: value, other: other))
                }
            case .replaces(let parameter, let others):
                if given[parameter] != nil, let other = others.first(where: { given[$0] != nil }) {
                    throw error(.conflict(parameter: parameter, value: nil, other: other))
                }
            case .belongs(let parameter, let others):
                let fallback = descriptor.parameters.first { $0.name == parameter }?.fallback
                guard
                    given[parameter] == nil || given[parameter] == fallback
                        || others.contains(where: { given[$0] != nil })
                else {
                    throw error(.missing(parameter: others.joined(separator: "' or '")))
                }
            case .below(let parameter, let other):
                let fallbacks = descriptor.fallbacks(beside: given)
                guard let low = (given[parameter] ?? fallbacks[parameter])?.number,
                    let high = (given[other] ?? fallbacks[other])?.number, low >= high
                else { continue }
                throw error(.outOfRange(parameter: parameter, value: low, minimum: -.infinity, maximum: high))
            case .implies, .excludes, .needs, .idleAtMultiples:
                break
            }
        }
        return values
    }

    private func error(_ problem: FilterError.Problem) -> FilterError {
        FilterError(filter: descriptor.name, problem: problem)
    }

    private static func words(for kind: ParameterKind) -> String {
        switch kind {
        case .number: "a number"
        case .numberOrPair: "a number or {x, y}"
        case .integer: "a whole number"
        case .integerOrWord(_, _, let words): "a whole number or " + words.joined(separator: ", ")
        case .numberOrWord(_, _, let words): "a number or " + words.joined(separator: ", ")
        case .length, .distance: "a length"
        case .size: "a size"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .boolean: "true or false"
        case .text, .template: "text"
        case .address: "an address"
        case .regions: "{x, y, width, height, corner_radius}, or a list of them"
        case .path: "a list of at least two places {x, y}"
        case .numbers(let ranges): "{" + ranges.map(\.name).joined(separator: ", ") + "}"
        case .color: "a colour"
        case .picture, .layer: "a picture's path"
        case .table: "the path of a .cube file"
        case .command: "a program and its arguments"
        case .font: "the path of a font"
        }
    }
}

extension LengthLimit {
    fileprivate func most(of length: Length) -> Double {
        switch length {
        case .pixels: pixels
        case .percent: percent
        }
    }
}

extension Length {
    /// The number without its unit.
    fileprivate var amount: Double {
        switch self {
        case .pixels(let value), .percent(let value): value
        }
    }
}
