import FoundationEssentials

extension Figures {
    /// `2026-11-21`, in UTC.
    package static func day(_ secondsSince1970: Int) -> String {
        Date(timeIntervalSince1970: Double(secondsSince1970)).formatted(.iso8601.year().month().day())
    }

    /// With so many decimals.
    package static func fixed(_ value: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { product, _ in product * 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
