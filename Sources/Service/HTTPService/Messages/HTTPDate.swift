import Glibc
package import Queueing

/// A time as HTTP's headers have it (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    package static func text(_ time: WallTime) -> String {
        var (seconds, parts) = (time_t(time.seconds), tm())
        gmtime_r(&seconds, &parts)
        let (day, month) = (days[Int(parts.tm_wday) % 7], months[Int(parts.tm_mon) % 12])
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0)) }.joined(separator: ":")
        return "\(day), \(padded(Int(parts.tm_mday))) \(month) \(Int(parts.tm_year) + 1900) \(clock) GMT"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
