extension ValueReader where Value == Double {
    /// Seconds, written `90`, `90s`, `5m`, `1.5h` or `2d`.
    package static func seconds(in range: ClosedRange<Double>) -> ValueReader {
        .scalar("a time") { text, name in
            let parts = DecimalNumber.split(text)
            guard case .success(let number) = DecimalNumber.number(String(parts.number)),
                let unit = secondsPerUnit[parts.suffix]
            else { return .failure(ValueFault(.notADuration(name: name, text: text))) }
            let seconds = number * unit
            guard range.contains(seconds) else {
                let words = "from \(shortest(range.lowerBound)) to \(shortest(range.upperBound))"
                return .failure(ValueFault(.outOfRange(name: name, text: text, range: words)))
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
