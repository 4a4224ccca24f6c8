import JobModel

/// Labels of a job, for people and filters: `camera=a7`, `show=night`.
///
/// A name has up to 63 letters, digits, `.`, `_`, `-` and `/`, and begins with a letter or digit. A value has up to 255
/// characters that are all visible. A job has up to 32 labels.
package struct Labels: Hashable, Sendable, Codable {
    package private(set) var values: [String: String] = [:]

    package static let mostLabels = LabelLimits.mostLabels
    package static let longestName = ShortName.longest
    package static let longestValue = LabelLimits.longestValue

    package init() {}

    package init(_ values: [String: String]) throws(InputError) {
        // Sorted, so that the same labels always give the same message.
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { try set(name, to: value) }
    }

    /// Labels as the command line has them: `name=value`.
    package init(texts: [String]) throws(InputError) {
        for text in texts {
            guard let index = text.firstIndex(of: "=") else { throw .labelWithoutValue(text) }
            let name = String(text[..<index])
            guard values[name] == nil else { throw .labelTwice(name) }
            try set(name, to: String(text[text.index(after: index)...]))
        }
    }

    /// As the command line has them, sorted.
    package var texts: [String] { values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }

    package subscript(name name: String) -> String? { values[name] }

    /// - Parameter value: Nil removes the label.
    package mutating func set(_ name: String, to value: String?) throws(InputError) {
        guard let value else {
            values[name] = nil
            return
        }
        guard Self.isName(name) else { throw .labelName(name) }
        guard value.count <= Self.longestValue, !value.unicodeScalars.contains(where: VisibleText.isUnsafe) else {
            throw .labelValue(name, value)
        }
        guard values[name] != nil || values.count < Self.mostLabels else { throw .tooManyLabels }
        values[name] = value
    }

    static func isName(_ name: String) -> Bool { ShortName.isLabel(name) }

    package init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode([String: String].self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
