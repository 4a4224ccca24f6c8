import Catalogs
import JobModel

/// Reads `filters:`, a list of filters with their parameters. Without any, only the format changes.
struct ChainReader {
    let catalog: Catalog
    let pictures: PictureLookup

    var chain: ValueReader<[FilterInvocation]> {
        ValueReader { node, name, log in
            guard case .sequence(let items) = node.content else {
                log.error(.filter(.notAList(found: node.kindName)), at: node.span)
                return nil
            }
            let filters = items.enumerated().map { index, item in
                self.filters(from: item, at: "\(name)[\(index)]", log: log)
            }
            return filters.contains { $0 == nil } ? nil : filters.flatMap { $0 ?? [] }
        }
    }

    /// An entry is one filter, or a filter that is applied several times with different parameters.
    ///
    /// - Parameter path: The item's path, as overrides write it.
    private func filters(from item: SyntaxNode, at path: String, log: DiagnosticLog) -> [FilterInvocation]? {
        switch item.content {
        case .scalar(let scalar):
            return descriptor(scalar.text, at: item.span, log: log).flatMap { descriptor in
                let parameters = SyntaxNode(.mapping(.init(entries: [])), span: item.span)
                return FilterTyper(descriptor: descriptor, pictures: pictures, log: log).filter(
                    parameters, nameSpan: item.span, path: "\(path).\(descriptor.name)"
                ).map { [$0] }
            }
        case .mapping(let mapping):
            return filters(from: mapping, item.span, at: path, log: log)
        case .sequence:
            log.error(.filter(.notAnEntry(found: item.kindName)), at: item.span)
            return nil
        case .unreadable:
            return nil
        }
    }

    private func filters(
        from mapping: SyntaxNode.Mapping, _ span: SourceSpan, at path: String, log: DiagnosticLog
    ) -> [FilterInvocation]? {
        // If a line of the entry was refused, the rest of the entry has no clear meaning.
        guard mapping.isComplete, !mapping.entries.contains(where: { $0.value.isUnreadable }) else { return nil }
        guard let first = mapping.entries.first else {
            log.error(.filter(.notAnEntry(found: "an empty mapping")), at: span)
            return nil
        }
        if let filter = mapping.entries.lazy.compactMap(filterNamedAsValue).first {
            log.error(.filter(.nameAsValue(key: filter.key, filter: filter.value)), at: filter.span)
            return nil
        }
        if mapping.entries.count > 1 {
            let second = mapping.entries[1]
            log.error(.filter(severalProblem(first, second)), at: second.keySpan)
            return nil
        }
        return descriptor(first.key, at: first.keySpan, log: log).flatMap { descriptor in
            let typer = FilterTyper(descriptor: descriptor, pictures: pictures, log: log)
            let path = "\(path).\(first.key)"
            guard let several = first.value.severalMappings else {
                return typer.filter(first.value, nameSpan: first.keySpan, path: path).map { [$0] }
            }
            let filters = several.enumerated().map { index, parameters in
                typer.filter(parameters, nameSpan: parameters.span, path: "\(path)[\(index)]")
            }
            return filters.contains { $0 == nil } ? nil : filters.compactMap(\.self)
        }
    }

    /// The filter of an entry such as `name: gaussian`.
    private func filterNamedAsValue(_ entry: SyntaxNode.Entry) -> (key: String, value: String, span: SourceSpan)? {
        guard ["name", "filter", "type"].contains(entry.key), let value = entry.value.text,
            catalog.filter(named: entry.key) == nil, catalog.filter(named: value) != nil
        else { return nil }
        return (entry.key, value, entry.keySpan)
    }

    private func severalProblem(_ first: SyntaxNode.Entry, _ second: SyntaxNode.Entry) -> FilterProblem {
        second.keySpan.source == first.keySpan.source
            ? .severalInEntry(first: first.key, second: second.key)
            : .otherFilterThere(written: second.key, present: first.key)
    }

    private func descriptor(_ name: String, at span: SourceSpan, log: DiagnosticLog) -> FilterDescriptor? {
        if let descriptor = catalog.filter(named: name) {
            guard descriptor.kind == .animation else { return descriptor }
            log.error(.filter(.animationInChain(name)), at: span)
            return nil
        }
        log.error(.filter(UnknownFilter(name, in: catalog).problem), at: span)
        return nil
    }
}

extension SyntaxNode {
    /// The items of a list that contains only mappings.
    var severalMappings: [SyntaxNode]? {
        guard case .sequence(let items) = content, !items.isEmpty,
            items.allSatisfy({ if case .mapping = $0.content { true } else { false } })
        else { return nil }
        return items
    }
}
