package import Catalogs
package import Kernels
package import Raster

/// The values of one filter, checked against its descriptor: every one is known, of the right kind and in range, and
/// the filter's rules hold.
package struct FilterArguments: Sendable {
    private let filter: String
    private let values: [String: ParameterValue]
    private let pictures: PictureSource

    /// Throws ``FilterError``. Fills in what a rule implies, then the descriptor's fallbacks.
    package init(
        _ given: [String: ParameterValue], descriptor: FilterDescriptor, pictures: PictureSource = .none
    ) throws(FilterError) {
        let check = ArgumentCheck(descriptor)
        for (name, value) in given.sorted(by: { $0.key < $1.key }) { try check.check(value, of: name) }
        let complete = try check.applyingRules(to: given)
        values = complete.merging(descriptor.fallbacks(beside: given)) { value, _ in value }
        filter = descriptor.name
        self.pictures = pictures
    }

    package func number(_ name: String) throws(FilterError) -> Double {
        switch values[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        case let other: throw unexpected(other, name, "a number")
        }
    }

    /// A number counts for both axes.
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
    package func region(_ name: String) throws(FilterError) -> Region? {
        switch values[name] {
        case nil: nil
        case .region(let value): value
        case let other: throw unexpected(other, name, "a region")
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

    package func color(_ name: String) throws(FilterError) -> BackgroundColor {
        guard case .color(let red, let green, let blue, let alpha) = values[name] else {
            throw unexpected(values[name], name, "a colour")
        }
        return BackgroundColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// Nil when the parameter is absent. Throws what the source of pictures throws.
    package func picture(_ name: String) throws -> GrayPicture? {
        switch values[name] {
        case nil: return nil
        case .picture(let reference): return try pictures.picture(reference, "'\(name)' of \(filter)")
        case let other: throw unexpected(other, name, "a picture's path")
        }
    }

    /// Throws what the source of pictures throws.
    package func layer(_ name: String) throws -> Layer {
        guard case .picture(let reference) = values[name] else {
            throw unexpected(values[name], name, "a picture's path")
        }
        return try pictures.layer(reference, "'\(name)' of \(filter)")
    }

    /// Nil when the parameter is absent.
    package func optionalInteger(_ name: String) throws(FilterError) -> Int? {
        values[name] == nil ? nil : try integer(name)
    }

    /// Nil when the parameter is absent.
    package func optionalNumber(_ name: String) throws(FilterError) -> Double? {
        values[name] == nil ? nil : try number(name)
    }

    /// Nil when the parameter is absent.
    package func optionalColor(_ name: String) throws(FilterError) -> BackgroundColor? {
        values[name] == nil ? nil : try color(name)
    }

    /// True when the parameter's value is a word.
    package func isWord(_ name: String) -> Bool {
        if case .word = values[name] { true } else { false }
    }

    private func unexpected(_ value: ParameterValue?, _ name: String, _ expected: String) -> FilterError {
        let problem: FilterError.Problem =
            value == nil ? .missing(parameter: name) : .wrongKind(parameter: name, expected: expected)
        return FilterError(filter: filter, problem: problem)
    }
}
