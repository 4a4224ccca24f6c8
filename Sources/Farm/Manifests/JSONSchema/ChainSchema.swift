import Catalogs

/// The schemas of `filters:` and of each filter.
struct ChainSchema {
    let catalog: Catalog

    /// A list of filters: a name, or a mapping with one filter's name and parameters.
    var chain: SchemaNode {
        let filters = catalog.filters.filter { $0.kind != .animation }
        let alone = filters.filter { filter in filter.parameters.allSatisfy { $0.requiredLike == nil } }
        let entry = SchemaNode.mapping(filters.map { ($0.name, severalTimes($0)) })
        return [
            "type": "array",
            "items": .any(of: [
                .words(alone.map(\.name)), entry.adding(["minProperties": 1, "maxProperties": 1]),
            ]),
        ]
    }

    /// The value of `animate:`: an animation, or a list of them.
    var animation: SchemaNode {
        let animations = catalog.filters.filter { $0.kind == .animation }
        let alone = animations.filter { filter in filter.parameters.allSatisfy { $0.requiredLike == nil } }
        let entry = SchemaNode.mapping(animations.map { ($0.name, severalTimes($0)) })
        return .list(
            of: .any(of: [.words(alone.map(\.name)), entry.adding(["minProperties": 1, "maxProperties": 1])]),
            atLeast: 1)
    }

    /// One filter, or a list for several filters of the same kind.
    private func severalTimes(_ filter: FilterDescriptor) -> SchemaNode {
        .list(of: ["$ref": .text("#/$defs/filter.\(filter.name)")], atLeast: 1)
    }

    var definitions: [(String, SchemaNode)] {
        catalog.filters.map { ("filter.\($0.name)", parameters(of: $0)) }
    }

    private func parameters(of filter: FilterDescriptor) -> SchemaNode {
        let schemas = filter.parameters.map(ParameterSchema.init)
        let conditions = schemas.flatMap(\.conditions) + filter.rules.compactMap { condition($0, of: filter) }
        let others = UnknownFilter.otherNames(of: filter.name)
        let parameters = SchemaNode.mapping(schemas.flatMap(\.properties))
        return (filter.command == nil ? parameters : .any(of: [parameters, ParameterSchema.command]))
            .adding([
                "description": .text(filter.summary),
                // Editors complete the filter's name if somebody types one of these.
                "x-other-names": others.isEmpty ? nil : .texts(others),
                "allOf": conditions.isEmpty ? nil : .list(conditions),
            ])
    }

    /// Nil for a rule that only warns, or that schemas cannot express.
    private func condition(_ rule: ParameterRule, of filter: FilterDescriptor) -> SchemaNode? {
        switch rule {
        case .implies(let parameter, let value, let other, let required):
            ["if": holds(parameter, value, in: filter), "then": ["properties": [other: .words([required])]]]
        case .excludes(let parameter, let value, let other):
            ["if": holds(parameter, value, in: filter), "then": ["not": .requiring([other])]]
        case .replaces(let parameter, let others):
            ["if": .requiring([parameter]), "then": ["not": .any(of: others.map { .requiring([$0]) })]]
        case .belongs(let parameter, let others):
            ["if": .requiring([parameter]), "then": .any(of: others.map { .requiring([$0]) })]
        case .needs, .below, .idleAtMultiples:
            nil
        }
    }

    /// That a parameter has this word, explicitly or as its fallback.
    private func holds(_ parameter: String, _ word: String, in filter: FilterDescriptor) -> SchemaNode {
        let isFallback = filter.parameters.contains { $0.name == parameter && $0.fallback == .word(word) }
        let isWord: SchemaNode = ["properties": [parameter: .words([word])]]
        return isFallback ? isWord : isWord.adding(["required": .texts([parameter])])
    }
}
