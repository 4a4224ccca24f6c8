extension ValueReader where Value == String {
    /// Any text, even an empty one.
    package static var text: ValueReader {
        .scalar("a text") { text, _ in .success(text) }
    }

    package static var nonEmptyText: ValueReader {
        .scalar("a text") { text, name in
            text.isEmpty ? .failure(ValueFault(.emptyText(name: name))) : .success(text)
        }
    }

    /// One of the words, with a suggestion for one that is nearly right.
    package static func word(of choices: [String]) -> ValueReader {
        .scalar("one of \(choices.enumeration)") { text, name in
            if choices.contains(text) { return .success(text) }
            let nearest = Suggestion.nearest(to: text, among: choices)
            return .failure(ValueFault(.notAChoice(name: name, text: text, nearest: nearest, choices: choices)))
        }
    }
}

extension ValueReader where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of an enumeration's cases, by its raw value.
    package static var choice: ValueReader {
        let cases = Array(Value.allCases)
        return ValueReader { node, name, log in
            let word = ValueReader<String>.word(of: cases.map(\.rawValue)).read(node, for: name, log: log)
            return cases.first { $0.rawValue == word }
        }
    }
}

extension ValueReader where Value == Bool {
    /// `true` or `false`. YAML 1.1's `yes`, `no`, `on` and `off` are refused, because YAML 1.2 takes them for texts.
    package static var boolean: ValueReader {
        .scalar("true or false") { text, name in
            switch text {
            case "true": return .success(true)
            case "false": return .success(false)
            default:
                return .failure(ValueFault(.notABoolean(name: name, text: text, meant: meant[text.lowercased()])))
            }
        }
    }

    private static var meant: [String: Bool] {
        [
            "true": true, "yes": true, "y": true, "on": true, "1": true,
            "false": false, "no": false, "n": false, "off": false, "0": false,
        ]
    }
}

extension ValueReader {
    /// A list, each item read by `item`. One value stands for a list of one.
    package static func list<Item>(of item: ValueReader<Item>) -> ValueReader where Value == [Item] {
        ValueReader { node, name, log in
            guard case .sequence(let items) = node.content else {
                return item.read(node, for: name, log: log).map { [$0] }
            }
            let values = items.enumerated().map { index, node in
                item.read(node, for: "\(name)[\(index)]", log: log)
            }
            let present = values.compactMap(\.self)
            return present.count == values.count ? present : nil
        }
    }

    /// A list with at least one item, or one value.
    package static func nonEmptyList<Item>(of item: ValueReader<Item>) -> ValueReader where Value == [Item] {
        ValueReader { node, name, log in
            if node.content == .sequence([]) {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            return list(of: item).read(node, for: name, log: log)
        }
    }
}
