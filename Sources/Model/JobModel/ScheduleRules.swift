/// What follows if times of a schedule have passed while no service was running.
package enum MissedTimes: String, Hashable, Sendable, Codable, CaseIterable {
    /// One job for all of them.
    case once
    case skip
}

/// What follows if a time of a schedule comes before its last job has ended.
package enum OverlapRule: String, Hashable, Sendable, Codable, CaseIterable {
    /// Another job, which waits for the one before. If one waits already, it serves for both times.
    case queue
    case skip
}

/// The rules for names of labels, schedules and watched folders: 1 to 63 letters, digits, `.`, `_` and `-`. The first one is
/// a letter or digit. Names of labels may also have `/`.
package enum ShortName {
    package static let longest = 63

    package static func isLabel(_ name: String) -> Bool { isValid(name, marks: "._-/") }

    /// Such a name is one part of a path of the API, which has no `/` in it.
    package static func isSchedule(_ name: String) -> Bool { isValid(name, marks: "._-") }

    private static func isValid(_ name: String, marks: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= longest else { return false }
        return isAlphanumeric(first) && name.utf8.allSatisfy { isAlphanumeric($0) || marks.utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}

/// The times of watched folders, in seconds.
package enum WatchTimes {
    /// There must be no changes for this long. A copy of pictures makes many changes.
    package static let usualQuiet = 1.0
    package static let quiets = 0.1...3600
    /// The youngest file must have this age. A new file may still be written.
    package static let usualAge = 2.0
    package static let ages = 0.0...86_400
}

/// The limits of a job's labels.
package enum LabelLimits {
    package static let mostLabels = 32
    /// In characters.
    package static let longestValue = 255
}

/// How many points of priority a waiting job gains in a time: `1/10min`, `5/h`.
package struct AgingRate: Hashable, Sendable {
    /// At least 1, at most 100.
    package let points: Int
    /// At least 1, at most a leap year.
    package let seconds: Int

    /// Nil for a text that is no rate.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let points = Int(parts[0]), (1...100).contains(points) else { return nil }
        let digits = parts[1].prefix { $0.isASCII && $0.isNumber }
        let units = ["s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400]
        guard let unit = units[String(parts[1].dropFirst(digits.count))],
            let count = digits.isEmpty ? 1 : Int(digits), (1..<1_000_000).contains(count),
            case let seconds = count * unit, seconds <= 366 * 86_400
        else { return nil }
        self.points = points
        self.seconds = seconds
    }
}
