import Catalogs
import JobModel

/// Types one filter's parameters by its descriptor, fills in fallbacks, and checks the rules between parameters.
struct FilterTyper {
    let descriptor: FilterDescriptor
    let pictures: PictureLookup
    let log: DiagnosticLog

    /// - Parameters:
    ///   - nameSpan: The span of the filter's name, for problems of no single parameter.
    ///   - path: See ``FilterMention/path``.
    ///   - owner: The subject of messages, if the manifest does not contain the filter's name.
    func filter(
        _ parameters: SyntaxNode, nameSpan: SourceSpan, path: String, called owner: String? = nil
    ) -> FilterInvocation? {
        let parameters = descriptor.command.map { parameters.shortFor($0.name) } ?? parameters
        if let found = parameters.valueWithoutName {
            let problem = FilterProblem.valueInsteadOfParameters(
                filter: descriptor.name, found: parameters.kindName, example: example(found))
            log.error(.filter(problem), at: parameters.span)
            return nil
        }
        let owner = owner ?? "'\(descriptor.name)'"
        guard var reader = MappingReader(parameters, of: owner, noun: "parameter", log: log) else { return nil }
        let typed = ParameterTyper(pictures: pictures, log: log).values(of: descriptor.parameters, in: &reader)
        reader.finish(aliases: Self.aliases)
        guard hasRequired(reader.mapping, owner, nameSpan) else { return nil }
        let values = filled(typed)
        let hints = FilterHints(descriptor: descriptor, typed: typed, values: values, nameSpan: nameSpan)
        hints.warn(log)
        let invocation = FilterInvocation(
            filter: descriptor.name, values: values, measures: descriptor.measures)
        // A hidden filter is meant to change nothing. If a picture was refused, a worker would only refuse it again.
        if descriptor.parameters.allSatisfy({ $0.requiredLike == nil || values[$0.name] != nil }) {
            log.mention(
                FilterMention(
                    invocation: invocation, span: nameSpan, path: path,
                    isKnownAsIdle: hints.zeroRadius != nil || values["hidden"] == .boolean(true)))
        }
        return invocation
    }

    private func hasRequired(_ mapping: SyntaxNode.Mapping, _ owner: String, _ span: SourceSpan) -> Bool {
        var isComplete = true
        for parameter in descriptor.parameters {
            let names = [parameter.name] + parameter.synonyms.map(\.name)
            guard let example = parameter.requiredLike, mapping.isComplete,
                !mapping.entries.contains(where: { names.contains($0.key) })
            else { continue }
            log.error(.value(.missingKey(parameter.name, of: owner, example: example)), at: span)
            isComplete = false
        }
        return isComplete
    }

    /// `{radius: 12}` for a filter whose first parameter is `radius`, if the manifest has `gaussian: 12`.
    private func example(_ value: String) -> String? {
        descriptor.parameters.first.map { parameter in
            let value =
                value.hasPrefix("\(parameter.name)=") ? String(value.dropFirst(parameter.name.count + 1)) : value
            // The proposal must not be refused itself.
            let proposed = DecimalNumber.withPoint(value) ?? value
            let isWritten = !proposed.contains { ",{}[]:#='\"".contains($0) }
            return "{\(parameter.name): \(isWritten ? proposed.cut(to: 40) : "…")}"
        }
    }

    /// The typed values, with fallbacks for the missing ones, according to the rules.
    private func filled(_ typed: [String: ParameterTyper.Typed]) -> [String: ParameterValue] {
        var values = typed.mapValues(\.value)
        values.merge(descriptor.fallbacks(beside: values)) { given, _ in given }
        for rule in descriptor.rules { apply(rule, to: &values, typed: typed) }
        return values
    }

    private func apply(
        _ rule: ParameterRule, to values: inout [String: ParameterValue], typed: [String: ParameterTyper.Typed]
    ) {
        switch rule {
        case .implies(let parameter, let value, let other, let required):
            guard values[parameter] == .word(value) else { return }
            if let given = typed[other], case .word(let found) = given.value, found != required {
                let problem = FilterProblem.implied(
                    parameter: parameter, value: value, other: other, required: required, found: found)
                log.error(.filter(problem), at: given.span)
            }
            values[other] = .word(required)
        case .excludes(let parameter, let value, let other):
            guard values[parameter] == .word(value), let given = typed[other] else { return }
            log.error(.filter(.excluded(parameter: parameter, value: value, other: other)), at: given.keySpan)
            // A worker would only refuse it again.
            values[other] = nil
        case .replaces(let parameter, let others):
            guard let given = typed[parameter] else { return }
            for other in others {
                guard let second = typed[other] else { continue }
                // The span is that of the later one.
                let span = given.keySpan.start < second.keySpan.start ? second.keySpan : given.keySpan
                log.error(.filter(.replaced(parameter: parameter, other: other)), at: span)
                values[other] = nil
            }
        case .belongs(let parameter, let others):
            guard let given = typed[parameter], !others.contains(where: { values[$0] != nil }) else { return }
            log.error(.filter(.lonely(parameter: parameter, others: others)), at: given.keySpan)
            values[parameter] = descriptor.parameters.first { $0.name == parameter }?.fallback
        case .below(let parameter, let other):
            guard let low = values[parameter]?.number, let high = values[other]?.number, low >= high,
                let given = [typed[parameter], typed[other]].compactMap(\.self).max(by: {
                    $0.span.start < $1.span.start
                })
            else { return }
            let usual = [(parameter, low), (other, high)].first { typed[$0.0] == nil }
            log.error(
                .filter(
                    .notBelow(
                        parameter: parameter, other: other,
                        usual: usual.map { .init(parameter: $0.0, value: $0.1.plain) })), at: given.span)
            // A worker would only refuse it again.
            for name in [parameter, other] {
                values[name] = descriptor.parameters.first { $0.name == name }?.fallback
            }
        case .needs, .idleAtMultiples:
            break  // worth a warning
        }
    }

    /// Other tools' names for parameters, in lower case. One is proposed if the filter has the parameter.
    private static let aliases = [
        "blur_radius": "radius", "inputradius": "radius", "size": "radius", "strength": "radius", "amount": "radius",
        "stddev": "radius", "std": "radius", "distance": "radius",
        "direction": "angle", "rotation": "angle", "inputangle": "angle",
        "border": "edge", "boundary": "edge", "border_mode": "edge", "edge_mode": "edge", "extend": "edge",
        "linear": "light", "linear_light": "light", "gamma": "light",
        "region": "within", "regions": "within", "roi": "within", "area": "within", "rect": "within",
        "invert": "inverted", "invert_mask": "inverted", "softness": "feather", "blend": "feather",
    ]
}

extension SyntaxNode {
    /// A value in place of parameters with names: a text, or a list's first item.
    fileprivate var valueWithoutName: String? {
        switch content {
        case .scalar(let scalar): scalar.text
        case .sequence(let items): items.first?.text ?? "…"
        case .mapping, .unreadable: nil
        }
    }
}
