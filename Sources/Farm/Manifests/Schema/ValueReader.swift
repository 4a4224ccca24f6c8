package import Catalogs

/// Gives a node a type, or reports why it cannot.
///
/// The reader alone decides a scalar's type: `no`, `1e3` and `007` are texts to ``text``, and only ``number(in:unit:)``
/// asks whether they are numbers. Quotes make no difference. Readers are built from others with ``map(_:)``,
/// ``list(of:)`` and ``or(_:_:else:)``. A closure makes a reader for another type.
package struct ValueReader<Value> {
    /// The node, the name of its key in messages, and the log.
    package typealias Body = (SyntaxNode, String, DiagnosticLog) -> Value?

    private let body: Body

    package init(_ body: @escaping Body) {
        self.body = body
    }

    /// The typed value. If it is nil, the log has the problem.
    package func read(_ node: SyntaxNode, for name: String, log: DiagnosticLog) -> Value? {
        // A hole in the tree was reported before.
        node.isUnreadable ? nil : body(node, name, log)
    }

    package func map<Result>(_ transform: @escaping (Value) -> Result) -> ValueReader<Result> {
        ValueReader<Result> { node, name, log in read(node, for: name, log: log).map(transform) }
    }

    /// A reader of scalars: `parse` gives the text a type, or returns its problem.
    ///
    /// - Parameter wanted: The kind of value with an article, for messages about lists and mappings.
    package static func scalar(
        _ wanted: String, _ parse: @escaping (_ text: String, _ name: String) -> Result<Value, ValueError>
    ) -> ValueReader {
        ValueReader { node, name, log in
            guard let text = node.text else {
                log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                return nil
            }
            switch parse(text, name) {
            case .success(let value):
                return value
            case .failure(let fault):
                log.error(.value(fault.problem), at: node.span)
                return nil
            }
        }
    }

    /// `value` for the text `word`. Any other node is read by `other`.
    package static func or(_ word: String, _ value: Value, else other: ValueReader) -> ValueReader {
        ValueReader { node, name, log in
            node.text == word ? value : other.read(node, for: name, log: log)
        }
    }
}

/// Carries a problem through a `Result`.
package struct ValueError: Error {
    package let problem: ValueProblem

    package init(_ problem: ValueProblem) {
        self.problem = problem
    }
}

extension SyntaxNode {
    /// For messages, with an article.
    package var kindName: String {
        switch content {
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .unreadable: "nothing"
        }
    }
}

extension ValueReader where Value == String {
    /// Any text, also an empty one.
    package static var text: ValueReader {
        .scalar("a text") { text, _ in .success(text) }
    }

    package static var nonEmptyText: ValueReader {
        .scalar("a text") { text, name in
            text.isEmpty ? .failure(ValueError(.emptyText(name: name))) : .success(text)
        }
    }

    /// One of the words. A similar word gets a suggestion.
    package static func word(of choices: [String]) -> ValueReader {
        .scalar("one of \(choices.enumeration)") { text, name in
            if choices.contains(text) { return .success(text) }
            let nearest = Suggestion.nearest(to: text, among: choices)
            return .failure(ValueError(.notAChoice(name: name, text: text, nearest: nearest, choices: choices)))
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
    /// `true` or `false`. `yes`, `no`, `on` and `off` are booleans in YAML 1.1 only, so they are refused.
    package static var boolean: ValueReader {
        .scalar("true or false") { text, name in
            switch text {
            case "true": return .success(true)
            case "false": return .success(false)
            default:
                return .failure(ValueError(.notABoolean(name: name, text: text, meant: meant[text.lowercased()])))
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
    /// A list whose items `item` reads. A single value counts as a list of one.
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

    /// A list with at least one item, or a single value.
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

extension ValueReader where Value == Double {
    /// A number in the range. Messages print the range with its unit.
    package static func number(in range: ClosedRange<Double>, unit: String = "") -> ValueReader {
        .scalar("a number") { text, name in
            switch DecimalNumber.number(text) {
            case .failure(let fault):
                let fault = fault.wanting(unit, isWhole: false)
                return .failure(ValueError(.notANumber(name: name, text: text, fault: fault)))
            case .success(let value) where range.contains(value):
                return .success(value)
            case .success:
                let words = rangeWords(range.lowerBound.plain, range.upperBound.plain, unit: unit)
                return .failure(ValueError(.outOfRange(name: name, text: withUnit(text, unit), range: words)))
            }
        }
    }
}

extension ValueReader where Value == Int {
    /// A whole number in the range. Messages print the range with its unit. A bound of `Int.max` means no bound.
    package static func integer(in range: ClosedRange<Int>, unit: String = "") -> ValueReader {
        .scalar("a whole number") { text, name in
            switch DecimalNumber.integer(text) {
            case .success(let value) where range.contains(value):
                return .success(value)
            case .success(let value):
                return .failure(ValueError(outside: range, isBelow: value < range.lowerBound, text, unit, name: name))
            case .failure(.noInteger(let isNegative)):
                return .failure(ValueError(outside: range, isBelow: isNegative, text, unit, name: name))
            case .failure(.notWhole(let nearest)):
                let nearest = nearest.filter { Int($0).map(range.contains) ?? false }
                return .failure(ValueError(.notANumber(name: name, text: text, fault: .notWhole(nearest: nearest))))
            case .failure(.notDecimal):
                let fault = NumberError.notInteger(range: words(range, isBelow: true, unit))
                return .failure(ValueError(.notANumber(name: name, text: text, fault: fault)))
            case .failure(let fault):
                let fault = fault.wanting(unit, isWhole: true)
                return .failure(ValueError(.notANumber(name: name, text: text, fault: fault)))
            }
        }
    }

    /// A count such as `250000`, `800k`, `2000M` or `1.5G`: the suffixes are powers of 1000.
    package static func count(in range: ClosedRange<Int>, unit: String) -> ValueReader {
        scaled(by: ["": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12], in: range, unit: unit, example: "2000M")
    }

    /// A number of bytes such as `4096`, `512M`, `1.5GB` or `2GiB`: `k` to `T` are powers of 1000, `Ki` to `Ti` of
    /// 1024, each with or without `B`.
    package static func bytes(in range: ClosedRange<Int>) -> ValueReader {
        var factors: [String: Double] = ["": 1, "B": 1]
        for (power, letter) in ["k", "M", "G", "T"].enumerated() {
            let decimal = [1e3, 1e6, 1e9, 1e12][power]
            let binary = Double(1 << (10 * (power + 1)))
            for suffix in ["", "B"] {
                factors[letter + suffix] = decimal
                factors[letter.uppercased() + "i" + suffix] = binary
            }
        }
        factors["K"] = 1e3
        factors["KB"] = 1e3
        return scaled(by: factors, in: range, unit: "bytes", kind: "a number of bytes", example: "512M or 2GiB")
    }

    private static func scaled(
        by factors: [String: Double], in range: ClosedRange<Int>, unit: String, kind: String = "a count",
        example: String
    ) -> ValueReader {
        .scalar(kind) { text, name in
            let parts = DecimalNumber.split(text)
            let number = DecimalNumber.number(String(parts.number))
            guard case .success(let value) = number, let factor = factors[parts.suffix] else {
                return .failure(ValueError(.notACount(name: name, text: text, kind: kind, example: example)))
            }
            let product = value * factor
            guard product == product.rounded() else {
                return .failure(ValueError(.notACount(name: name, text: text, kind: kind, example: example)))
            }
            guard let count = Int(exactly: product), range.contains(count) else {
                let isBelow = product < Double(range.lowerBound)
                return .failure(ValueError(outside: range, isBelow: isBelow, text, unit, name: name))
            }
            return .success(count)
        }
    }
}

/// `from 0 to 1000 px`.
func rangeWords(_ lower: String, _ upper: String, unit: String) -> String {
    "from \(lower) to \(withUnit(upper, unit))"
}

extension ValueError {
    /// The fault of a whole number outside its range. If the range has no upper bound, only the lower one is named.
    fileprivate init(outside range: ClosedRange<Int>, isBelow: Bool, _ text: String, _ unit: String, name: String) {
        self.init(
            .outOfRange(name: name, text: withUnit(text, unit), range: words(range, isBelow: isBelow, unit)))
    }
}

/// - Parameter isBelow: Whether the number is too small.
private func words(_ range: ClosedRange<Int>, isBelow: Bool, _ unit: String) -> String {
    switch (range.upperBound, isBelow) {
    case (.max, true): "of at least \(withUnit(String(range.lowerBound), unit))"
    case (.max, false): "of at most \(withUnit(String(range.upperBound), unit))"
    default: rangeWords(String(range.lowerBound), String(range.upperBound), unit: unit)
    }
}

/// `12 px`, `90°`, `10%`, `7`.
private func withUnit(_ number: String, _ unit: String) -> String {
    switch unit {
    case "", "°", "%": number + unit
    default: "\(number) \(unit)"
    }
}

extension ValueReader where Value == Double {
    /// A time in seconds, written `90`, `90s`, `5m`, `1.5h` or `2d`.
    package static func seconds(in range: ClosedRange<Double>) -> ValueReader {
        .scalar("a time") { text, name in
            let parts = DecimalNumber.split(text)
            guard case .success(let number) = DecimalNumber.number(String(parts.number)),
                let unit = secondsPerUnit[parts.suffix]
            else { return .failure(ValueError(.notADuration(name: name, text: text))) }
            let seconds = number * unit
            guard range.contains(seconds) else {
                let words = "from \(shortest(range.lowerBound)) to \(shortest(range.upperBound))"
                return .failure(ValueError(.outOfRange(name: name, text: text, range: words)))
            }
            return .success(seconds)
        }
    }

    private static var secondsPerUnit: [String: Double] {
        ["": 1, "s": 1, "m": 60, "h": 3600, "d": 86400]
    }

    /// The time in the largest unit that divides it.
    private static func shortest(_ seconds: Double) -> String {
        for (letter, unit) in [("d", 86400.0), ("h", 3600), ("m", 60)] {
            let count = seconds / unit
            if count >= 1, count == count.rounded() { return count.plain + letter }
        }
        return seconds.plain + "s"
    }
}

extension ValueReader where Value == Duration {
    /// A time, written as for ``seconds(in:)``. `range` is in seconds.
    package static func duration(in range: ClosedRange<Double>) -> ValueReader {
        ValueReader<Double>.seconds(in: range).map { .seconds($0) }
    }
}

extension ValueReader where Value == Length {
    /// A length: `12`, `12px` or `10%`.
    package static var length: ValueReader<Length> {
        .scalar("a length") { text, name in
            let parts = DecimalNumber.split(text)
            guard case .success(let number) = DecimalNumber.number(String(parts.number)) else {
                return .failure(ValueError(.notALength(name: name, text: text)))
            }
            switch parts.suffix {
            case "", "px": return .success(.pixels(number))
            case "%": return .success(.percent(number))
            default: return .failure(ValueError(.notALength(name: name, text: text)))
            }
        }
    }
}

extension ValueReader where Value == SizeWish {
    /// A size: `320`, `320x`, `x240`, `320x240` or `50%`.
    package static var size: ValueReader<SizeWish> {
        .scalar("a size") { text, name in
            SizeWish(text).map { .success($0) } ?? .failure(ValueError(.notASize(name: name, text: text)))
        }
    }
}

/// A color with red, green, blue and alpha, each 0–255.
package struct Color: Hashable, Sendable {
    package let red: Int
    package let green: Int
    package let blue: Int
    package let alpha: Int

    static let named = [
        "white": Color(red: 255, green: 255, blue: 255, alpha: 255),
        "black": Color(red: 0, green: 0, blue: 0, alpha: 255),
        "transparent": Color(red: 0, green: 0, blue: 0, alpha: 0),
    ]

    private init(red: Int, green: Int, blue: Int, alpha: Int) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Reads `#rgb`, `#rrggbb` or `#rrggbbaa`.
    init?(hex text: String) {
        guard text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var digits = text.dropFirst().compactMap(\.hexDigitValue)
        if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }
}

extension ValueReader where Value == Color {
    /// `#rgb`, `#rrggbb`, `#rrggbbaa`, or white, black or transparent.
    package static var color: ValueReader {
        .scalar("a colour") { text, name in
            guard let color = Color.named[text.lowercased()] ?? Color(hex: text) else {
                return .failure(ValueError(.notAColor(name: name, text: text)))
            }
            return .success(color)
        }
    }
}
