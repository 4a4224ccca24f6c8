import JobModel

/// A parameter of a template. User-defined texts appear in parameters only, because in a template's other texts `{{`
/// begins a reference.
struct TemplateParameter: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case path(PathObject, PathFlow)
        case text
        case number(ClosedRange<Int>)
    }

    enum PathObject: String, Hashable, Sendable {
        case file = "FILE"
        case directory = "DIRECTORY"
    }

    enum PathFlow: String, Hashable, Sendable {
        case input = "IN"
        case output = "OUT"
        case both = "INOUT"
    }

    let name: String
    let kind: Kind
    /// The value in this job.
    let value: String
    let description: String

    var reference: String { "{{Param.\(name)}}" }

    /// The largest number of characters of a value.
    static let longestValue = 1024
    /// The largest number of parameters of a template.
    static let mostParameters = 50

    /// The default value in the template. Templates accept only paths below their own folder as defaults, so other
    /// paths have none.
    ///
    /// - Parameter folder: The template's folder. Nil if unknown.
    func standard(in folder: String?) -> String? {
        guard case .path = kind else { return value }
        guard let folder else { return nil }
        return PathKey(value) == PathKey(folder) ? "." : PathNames.relative(value, to: folder)
    }

    func node(in folder: String?) -> YAMLNode {
        let standard = standard(in: folder)
        return switch kind {
        case .path(let object, let flow):
            .map([
                "name": .text(name), "type": .text("PATH"), "objectType": .text(object.rawValue),
                "dataFlow": .text(flow.rawValue), "description": .text(description),
                "default": standard.map(YAMLNode.text),
            ])
        case .text:
            .map([
                "name": .text(name), "type": .text("STRING"), "description": .text(description),
                "default": standard.map(YAMLNode.text),
            ])
        case .number(let range):
            .map([
                "name": .text(name), "type": .text("INT"), "description": .text(description),
                "minValue": .number(range.lowerBound), "maxValue": .number(range.upperBound),
                "default": standard.flatMap { Int($0) }.map(YAMLNode.number),
            ])
        }
    }

    func check() throws(ExportProblem) {
        guard !value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .controlCharacter(value)
        }
        guard value.unicodeScalars.count <= Self.longestValue else { throw .longValue(value) }
    }
}
