extension ValueReader where Value == Double {
    /// A number in the range, which messages print with its unit.
    package static func number(in range: ClosedRange<Double>, unit: String = "") -> ValueReader {
        .scalar("a number") { text, name in
            switch DecimalNumber.number(text) {
            case .failure(let fault):
                let fault = fault.wanting(unit, isWhole: false)
                return .failure(ValueFault(.notANumber(name: name, text: text, fault: fault)))
            case .success(let value) where range.contains(value):
                return .success(value)
            case .success:
                let words = rangeWords(range.lowerBound.plain, range.upperBound.plain, unit: unit)
                return .failure(ValueFault(.outOfRange(name: name, text: withUnit(text, unit), range: words)))
            }
        }
    }
}

extension ValueReader where Value == Int {
    /// A whole number in the range, which messages print with its unit. `Int.max` as a bound means none.
    package static func integer(in range: ClosedRange<Int>, unit: String = "") -> ValueReader {
        .scalar("a whole number") { text, name in
            switch DecimalNumber.integer(text) {
            case .success(let value) where range.contains(value):
                return .success(value)
            case .success(let value):
                return .failure(ValueFault(outside: range, isBelow: value < range.lowerBound, text, unit, name: name))
            case .failure(.noInteger(let isNegative)):
                return .failure(ValueFault(outside: range, isBelow: isNegative, text, unit, name: name))
            case .failure(.notWhole(let nearest)):
                let nearest = nearest.filter { Int($0).map(range.contains) ?? false }
                return .failure(ValueFault(.notANumber(name: name, text: text, fault: .notWhole(nearest: nearest))))
            case .failure(.notDecimal):
                let fault = NumberFault.notInteger(range: words(range, isBelow: true, unit))
                return .failure(ValueFault(.notANumber(name: name, text: text, fault: fault)))
            case .failure(let fault):
                let fault = fault.wanting(unit, isWhole: true)
                return .failure(ValueFault(.notANumber(name: name, text: text, fault: fault)))
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
                return .failure(ValueFault(.notACount(name: name, text: text, kind: kind, example: example)))
            }
            let product = value * factor
            guard product == product.rounded() else {
                return .failure(ValueFault(.notACount(name: name, text: text, kind: kind, example: example)))
            }
            guard let count = Int(exactly: product), range.contains(count) else {
                let isBelow = product < Double(range.lowerBound)
                return .failure(ValueFault(outside: range, isBelow: isBelow, text, unit, name: name))
            }
            return .success(count)
        }
    }
}

/// `from 0 to 1000 px`.
func rangeWords(_ lower: String, _ upper: String, unit: String) -> String {
    "from \(lower) to \(withUnit(upper, unit))"
}

extension ValueFault {
    /// The fault of a whole number outside its range. A range without upper bound is named by what was missed.
    fileprivate init(outside range: ClosedRange<Int>, isBelow: Bool, _ text: String, _ unit: String, name: String) {
        self.init(
            .outOfRange(name: name, text: withUnit(text, unit), range: words(range, isBelow: isBelow, unit)))
    }
}

/// - Parameter isBelow: what was written is too small.
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
