import FoundationEssentials

/// How numbers are written for people.
enum Format {
    /// `950 ms`, `12.4 s`, `3 min 20 s`, `2 h 05 min`.
    static func duration(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 60 { return "\(fixed(seconds, 1)) s" }
        let whole = Int(seconds.rounded())
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(padded(whole / 60 % 60)) min"
    }

    /// `2026-11-21`, in UTC.
    static func day(_ secondsSince1970: Int) -> String {
        Date(timeIntervalSince1970: Double(secondsSince1970)).formatted(.iso8601.year().month().day())
    }

    /// `812 B`, `4.2 kB`, `1.3 GB`.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        guard value >= 1000 else { return "\(count) B" }
        for unit in ["kB", "MB", "GB"] {
            value /= 1000
            if value < 1000 { return "\(fixed(value, 1)) \(unit)" }
        }
        return "\(fixed(value / 1000, 1)) TB"
    }

    /// `41,210`
    static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    static func fixed(_ value: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { product, _ in product * 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// `1 frame`, `2 frames`.
    static func plural(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
