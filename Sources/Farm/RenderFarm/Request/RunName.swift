import FoundationEssentials

/// Names of runs.
enum RunName {
    /// `20261121T213000Z-1a2b3c`
    package static func new() -> String {
        let time = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        return "\(time)-\(String(UInt32.random(in: 0x100000...0xffffff), radix: 16))"
    }
}
