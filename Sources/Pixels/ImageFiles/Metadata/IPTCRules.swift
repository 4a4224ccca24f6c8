import JobModel

/// What of IPTC records (IIM 4.2) an output may carry: no picture, and under some policies only what is asked for.
enum IPTCRules {
    /// - Parameter kinds: nil for everything.
    static func apply(to records: [UInt8], kinds: Set<MetadataKind>?) -> [UInt8]? {
        guard !records.holdsJPEG else { return nil }
        guard let kinds else { return records }
        let wanted = Set(kinds.flatMap { numbers[$0] ?? [] })
        let all = datasets(of: records)
        let kept = all.filter { $0.record == 2 && wanted.contains($0.number) }
        guard !kept.isEmpty else { return nil }
        // In which character set the texts are, and by which version of the standard.
        let frame = all.filter { $0.record == 1 && $0.number == 90 || $0.record == 2 && $0.number == 0 }
        return (frame + kept).flatMap(\.bytes)
    }

    private static let numbers: [MetadataKind: Set<UInt8>] = [
        .copyright: [116], .creator: [80, 85, 110, 115], .description: [5, 105, 120], .dates: [55, 62],
        .gps: [90, 92, 95, 100, 101], .keywords: [25],
    ]

    private struct Dataset {
        let record: UInt8
        let number: UInt8
        let bytes: ArraySlice<UInt8>
    }

    /// Up to the first that is broken, or longer than 32767 bytes.
    private static func datasets(of records: [UInt8]) -> [Dataset] {
        var (rest, result) = (records[...], [Dataset]())
        while rest.count >= 5, rest[rest.startIndex] == 0x1C {
            let start = rest.startIndex
            let length = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
            guard length < 0x8000, length <= rest.count - 5 else { break }
            result.append(Dataset(record: rest[start + 1], number: rest[start + 2], bytes: rest.prefix(5 + length)))
            rest = rest.dropFirst(5 + length)
        }
        return result
    }
}
