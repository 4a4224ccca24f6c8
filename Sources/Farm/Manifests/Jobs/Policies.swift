import JobModel

/// The keys that say how a job runs, not what it makes.
struct Policies {
    private let color: ColorPolicy
    private let tile: TileSize
    private let shard: ShardMode
    private let existing: ExistingPolicy
    private let retries: Int
    private let timeout: TimeLimit
    private let maxPixels: Int
    private let verify: VerifyLevel

    init(from reader: inout MappingReader) {
        color = reader.value("color", .choice, default: .keep)
        tile = reader.value("tile", .tileSize, default: .auto)
        shard = reader.value("shard", .choice, default: .auto)
        existing = reader.value("existing", .existing, default: .overwrite)
        retries = reader.value("retries", .integer(in: 0...100), default: 2)
        timeout = reader.value("timeout", .timeLimit, default: .auto)
        maxPixels = reader.value("max_pixels", .count(in: 1...Int.max, unit: "px"), default: 2_000_000_000)
        verify = reader.value("verify", .choice, default: .digest)
    }

    /// The job with these policies.
    func job(_ job: JobSpec) -> JobSpec {
        var job = job
        job.color = color
        job.tile = tile
        job.shard = shard
        job.existing = existing
        job.retries = retries
        job.timeout = timeout
        job.maxPixels = maxPixels
        job.verify = verify
        return job
    }
}

extension ValueReader where Value == TileSize {
    /// `auto` or pixels. Below 16 px a tile is all halo; nothing is gained above the largest image sides.
    fileprivate static var tileSize: ValueReader {
        .or("auto", .auto, else: ValueReader<Int>.integer(in: 1...1_000_000, unit: "px").map(TileSize.pixels))
    }
}

extension ValueReader where Value == TimeLimit {
    /// `auto`, or a time up to a week.
    fileprivate static var timeLimit: ValueReader {
        .or("auto", .auto, else: ValueReader<Double>.seconds(in: 1...7 * 86400).map(TimeLimit.seconds))
    }
}

extension ValueReader where Value == ExistingPolicy {
    /// The policies of this version; `update` is one that a person may expect.
    fileprivate static var existing: ValueReader {
        ValueReader { node, name, log in
            guard node.text == "update" else { return choice.read(node, for: name, log: log) }
            let instead = "write overwrite to make outputs again, or skip to keep those that are there"
            log.error(.job(.notInThisVersion("existing: update", instead: instead)), at: node.span)
            return nil
        }
    }
}
