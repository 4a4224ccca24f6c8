import JobModel

/// Numbers as text for people.
package enum Figures {
    /// `41,210`
    package static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `1 frame`, `2 frames`.
    package static func plural(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `812 B`, `4.2 kB`, `1.3 GB`.
    package static func bytes(_ number: Int) -> String {
        var value = Double(number)
        guard value >= 1000 else { return "\(number) B" }
        for unit in ["kB", "MB", "GB"] {
            value /= 1000
            // 999.95 would become 1000.0.
            if value < 999.95 { return "\(fixed(value)) \(unit)" }
        }
        return "\(fixed(value / 1000)) TB"
    }

    /// `950 ms`, `12.4 s`, `3 min 20 s`, `2 h 05 min`.
    package static func duration(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        if seconds < 0.9995 { return "\(whole(seconds * 1000)) ms" }
        if seconds < 59.95 { return "\(fixed(seconds)) s" }
        let whole = whole(seconds)
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        let minutes = whole / 60 % 60
        return "\(count(whole / 3600)) h \(minutes < 10 ? "0" : "")\(minutes) min"
    }

    /// With one decimal below 100, and none above: `0.4`, `24.2`, `1,412`.
    package static func measure(_ value: Double) -> String {
        value < 99.95 ? fixed(value) : count(whole(value))
    }

    private static func fixed(_ value: Double) -> String {
        let tenths = whole(value * 10)
        return "\(count(tenths / 10)).\(tenths % 10)"
    }

    /// Rounded; 0 for negative values and values that are not numbers.
    private static func whole(_ value: Double) -> Int {
        Int(exactly: max(0, value).rounded()) ?? 0
    }
}

extension Figures {
    /// `2026-11-21`, in UTC.
    package static func day(_ secondsSince1970: Int) -> String {
        UTCTime(secondsSince1970: secondsSince1970).day
    }

    /// With a fixed number of decimals.
    package static func fixed(_ value: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { product, _ in product * 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
