import Foundation

/// Changes JSON, so that it says of one value what is not so: a number at its extreme, another path, another type, a value too
/// many or too few, another name, a name too many, thousands of levels.
struct JSONLiar {
    /// Of files and folders that nobody may touch, and of others that the text may name.
    let paths: [String]

    /// A way from the outermost value to one within it.
    private enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    /// Stands for what cannot be built as a value.
    private static let deep = "PENUMBRA-FAULTS-DEEP"
    private static let levels = 5000

    /// - Returns: the text with a lie in it, and the lie in words; nil where the text is no JSON.
    func lie(about text: Data, _ random: inout SplitMix64) -> (text: Data, words: String)? {
        guard let value = try? JSONSerialization.jsonObject(with: text, options: [.fragmentsAllowed]) else {
            return nil
        }
        let places = Self.places(in: value, below: [])
        let objects = ([[]] + places).filter { Self.value(at: $0[...], in: value) is [String: Any] }
        let liesInName = random.chance(0.12)
        guard let place = (liesInName ? objects : places).randomElement(using: &random) else { return nil }
        let strings = places.compactMap { Self.value(at: $0[...], in: value) as? String }
        let names = places.compactMap { if case .key(let key)? = $0.last { key } else { nil } }
        var words = ""
        let changed = Self.change(value, at: place[...]) { old in
            let (new, what) =
                (old as? [String: Any]).flatMap { liesInName ? self.names(of: $0, names, &random) : nil }
                ?? replacement(for: old, strings, &random)
            words = what
            return new
        }
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .withoutEscapingSlashes]
        guard let changed, let data = try? JSONSerialization.data(withJSONObject: changed, options: options) else {
            return nil
        }
        let name = place.map { step in
            switch step {
            case .key(let key): key
            case .index(let index): "\(index)"
            }
        }
        return (Self.deepened(data), "\(name.joined(separator: ".")): \(words)")
    }

    private static func deepened(_ data: Data) -> Data {
        let mark = Data("\"\(deep)\"".utf8)
        guard let range = data.range(of: mark) else { return data }
        let nest = Data(String(repeating: "[", count: levels).utf8) + Data(String(repeating: "]", count: levels).utf8)
        return data[..<range.lowerBound] + nest + data[range.upperBound...]
    }

    /// Of every value but the outermost one.
    private static func places(in value: Any, below: [Step]) -> [[Step]] {
        switch value {
        case let object as [String: Any]:
            object.sorted { $0.key < $1.key }.flatMap { key, value in
                [below + [.key(key)]] + places(in: value, below: below + [.key(key)])
            }
        case let list as [Any]:
            // The first ones and the last one of a long list are as good as all.
            list.enumerated().filter { $0.offset < 3 || $0.offset == list.count - 1 }.flatMap { index, value in
                [below + [.index(index)]] + places(in: value, below: below + [.index(index)])
            }
        default: []
        }
    }

    private static func value(at place: ArraySlice<Step>, in value: Any) -> Any? {
        guard let step = place.first else { return value }
        switch step {
        case .key(let key): return (value as? [String: Any])?[key].flatMap { Self.value(at: place.dropFirst(), in: $0) }
        case .index(let index):
            guard let list = value as? [Any], list.indices.contains(index) else { return nil }
            return Self.value(at: place.dropFirst(), in: list[index])
        }
    }

    /// - Parameter body: returns nil for a value that goes.
    private static func change(_ value: Any, at place: ArraySlice<Step>, _ body: (Any) -> Any?) -> Any? {
        guard let step = place.first else { return body(value) }
        switch step {
        case .key(let key):
            guard var object = value as? [String: Any], let old = object[key] else { return value }
            object[key] = change(old, at: place.dropFirst(), body)
            return object
        case .index(let index):
            guard var list = value as? [Any], list.indices.contains(index) else { return value }
            if let new = change(list[index], at: place.dropFirst(), body) {
                list[index] = new
            } else {
                list.remove(at: index)
            }
            return list
        }
    }
}

extension JSONLiar {
    private func replacement(
        for old: Any, _ strings: [String], _ random: inout SplitMix64
    ) -> (new: Any?, words: String) {
        if random.chance(0.12) { return structure(for: old, &random) }
        switch old {
        case let text as String: return string(text, strings, &random)
        case let number as NSNumber: return self.number(number, &random)
        case let list as [Any]: return self.list(list, &random)
        default: return structure(for: old, &random)
        }
    }

    /// Another type, nothing at all, or much of it.
    private func structure(for old: Any, _ random: inout SplitMix64) -> (new: Any?, words: String) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: (nil, "left out")
        case 1: (NSNull(), "null")
        case 2: ("words", "a text")
        case 3: (7, "a number")
        case 4: ([Any](), "an empty list")
        case 5: ([String: Any](), "an empty object")
        case 6: ([old, old], "itself twice")
        default: (Self.deep, "\(Self.levels) levels")
        }
    }

    /// What messages and files of Penumbra call other things.
    private static let otherNames = [
        "finished", "failed", "ready", "alive", "worn", "inPlugins", "kind", "path", "message", "digest", "_0", "_1",
        "", "x",
    ]

    /// A name becomes another one, or there is one more. So what has finished has failed, say.
    private func names(
        of object: [String: Any], _ names: [String], _ random: inout SplitMix64
    ) -> (new: Any?, words: String)? {
        var changed = object
        let name = (names + Self.otherNames).randomElement(using: &random) ?? ""
        guard let old = object.keys.sorted().randomElement(using: &random) else { return nil }
        if random.chance(0.6) { changed[old] = nil }
        changed[name] = object[old]
        return (changed, changed[old] == nil ? "the name \(old) became \(name)" : "\(old) has the name \(name), too")
    }

    private func number(_ old: NSNumber, _ random: inout SplitMix64) -> (new: Any?, words: String) {
        let value = old.intValue
        let others: [Any] = [
            0, -1, 1, 2, Int.max, Int.min, UInt64.max, Int.max - 1, 1 << 31, 1 << 32, 1 << 53, 65_536, -0.5, 1e308,
            -1e308, 1e-308, value &+ 1, value &- 1, value &* 2, -value, true, false,
        ]
        let new = others[Int.random(in: others.indices, using: &random)]
        return (new, "\(old) became \(new)")
    }

    private func string(_ old: String, _ strings: [String], _ random: inout SplitMix64) -> (new: Any?, words: String) {
        // Most of what matters in a message is a path.
        let isPath = old.hasPrefix("/")
        if isPath ? random.chance(0.7) : random.chance(0.2), let path = paths.randomElement(using: &random) {
            return (path, "\(old) became \(path)")
        }
        let folder = old.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let others = [
            "", "/", ".", "..", "/dev/zero", "/proc/self/mem", "../../home/key", "\(folder)/../../home/key",
            "\(folder)/",
            folder, old + "/", old + "/.", old + "x", String(old.dropLast()), old.uppercased(), "a\0b",
            "\u{202E}\n\u{1b}[2J",
            String(repeating: "x", count: 5000), String(repeating: "../", count: 2000), "-1", "9223372036854775807",
            strings.randomElement(using: &random) ?? "",
        ]
        let new = others[Int.random(in: others.indices, using: &random)]
        return (new, "'\(old)' became '\(new.prefix(60))'")
    }

    private func list(_ old: [Any], _ random: inout SplitMix64) -> (new: Any?, words: String) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: ([Any](), "emptied")
        case 1: (Array(old.dropLast()), "its last one left out")
        case 2: (old + old.suffix(1), "its last one twice")
        case 3: (Array(old.reversed()), "turned round")
        default:
            (Array(repeatElement(old, count: 20_000 / max(1, old.count)).joined().prefix(20_000)), "20,000 of them")
        }
    }
}
