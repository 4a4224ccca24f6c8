import JobModel

/// The keys for how a job runs, not for what it renders.
struct Policies {
    private var color: ColorPolicy
    private let tile: TileSize
    private let shard: ShardMode
    private let existing: ExistingPolicy
    private let retries: Int
    private let timeout: TimeLimit
    private let maxPixels: Int
    private let dpi: Int
    private let verify: VerifyLevel
    private let compare: ComparePolicy
    private let upgrade: UpgradePolicy
    private let durability: Durability
    private let maxFailures: FailureLimit
    private let expect: InputExpectation?
    private let onFailure: FailedOutputPolicy
    private let minAge: Double
    private let index: String?
    private let receipts: ReceiptPolicy

    static let retryCounts = 0...100
    /// Tiles below 16 px consist of halo. Tiles above the largest image sides gain nothing.
    static let tileSides = 1...1_000_000
    /// In seconds, up to a week.
    static let timeouts = 1.0...7 * 86400
    /// 72 is what a drawing has by itself. Printers have 2400.
    static let resolutions = 1...2400
    static let usualDPI = 72
    /// In seconds, up to a day.
    static let ages = 0.0...86400

    init(from reader: inout MappingReader) {
        color = reader.value("color", .workingSpace, default: .keep)
        tile = reader.value("tile", .tileSize, default: .auto)
        shard = reader.value("shard", .choice, default: .auto)
        existing = reader.value("existing", .choice, default: .update)
        retries = reader.value("retries", .integer(in: Self.retryCounts), default: 2)
        timeout = reader.value("timeout", .timeLimit, default: .auto)
        maxPixels = reader.value("max_pixels", .count(in: 1...Int.max, unit: "px"), default: 2_000_000_000)
        dpi = reader.value("dpi", .integer(in: Self.resolutions), default: Self.usualDPI)
        verify = reader.value("verify", .choice, default: .digest)
        compare = reader.value("compare", .choice, default: .stamp)
        upgrade = reader.value("upgrade", .choice, default: .keep)
        durability = reader.value("durability", .choice, default: .file)
        maxFailures = reader.value("max_failures", .failureLimit, default: .none)
        var expect = reader.optional("expect", .expectation)
        if let span = reader.mapping["expect"]?.span, span.source == .file { expect?.line = span.start.line }
        self.expect = expect
        onFailure = reader.value("on_failure", .choice, default: .keep)
        minAge = reader.value("min_age", .seconds(in: Self.ages), default: 0)
        index = reader.optional("index", .indexPath)
        receipts = reader.value("receipts", .choice, default: .none)
    }

    /// Chooses sRGB if the manifest has no colour space, and refuses any other.
    mutating func chooseSRGB(_ reader: MappingReader, _ log: DiagnosticLog, refusing problem: JobProblem) {
        if let given = reader.mapping["color"], color == .keep { log.error(.job(problem), at: given.span) }
        color = .srgb
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
        job.dpi = dpi == Self.usualDPI ? nil : dpi
        job.verify = verify
        job.compare = compare
        job.upgrade = upgrade
        job.durability = durability
        job.maxFailures = maxFailures
        job.expect = expect
        job.onFailure = onFailure == .keep ? nil : onFailure
        job.minAge = minAge
        job.index = index
        job.receipts = receipts
        return job
    }
}

extension ValueReader where Value == ColorPolicy {
    /// The space in which filters work. The spaces of outputs belong under `save`.
    fileprivate static var workingSpace: ValueReader {
        ValueReader { node, name, log in
            if let text = node.text, NamedColorSpace(rawValue: text) != nil, ColorPolicy(rawValue: text) == nil {
                log.error(.job(.colorOfOutputs(text)), at: node.span)
                return nil
            }
            return choice.read(node, for: name, log: log)
        }
    }
}

extension ValueReader where Value == TileSize {
    /// `auto` or pixels.
    fileprivate static var tileSize: ValueReader {
        .or("auto", .auto, else: ValueReader<Int>.integer(in: Policies.tileSides, unit: "px").map(TileSize.pixels))
    }
}

extension ValueReader where Value == TimeLimit {
    /// `auto`, or a time.
    fileprivate static var timeLimit: ValueReader {
        .or("auto", .auto, else: ValueReader<Double>.seconds(in: Policies.timeouts).map(TimeLimit.seconds))
    }
}

extension ValueReader where Value == FailureLimit {
    /// `off`, a number of frames, or a part of them: `10%`.
    fileprivate static var failureLimit: ValueReader {
        .scalar("'off', a number of frames or a part of them") { text, name in
            if text == "off" { return .success(.none) }
            if text.hasSuffix("%") {
                let number = DecimalNumber.number(String(text.dropLast()))
                if case .failure = number {
                    let digits = String(text.dropLast().prefix { $0 != " " })
                    guard text.dropLast().drop(while: { $0 != " " }).allSatisfy({ $0 == " " }),
                        case .success(let part) = DecimalNumber.number(digits), part > 0, part <= 100
                    else {
                        return .failure(
                            ValueError(.notACount(name: name, text: text, kind: "a count", example: "off, 50 or 10%")))
                    }
                    let remedy = "write \(digits)%, without the blank"
                    return .failure(ValueError(.unfitArgument(name: name, text: text, reason: remedy)))
                }
                guard case .success(let part) = number, part > 0, part <= 100 else {
                    return .failure(ValueError(.outOfRange(name: name, text: text, range: "above 0% and up to 100%")))
                }
                return .success(.percent(part))
            }
            guard case .success(let count) = DecimalNumber.integer(text), count > 0 else {
                return .failure(
                    ValueError(.notACount(name: name, text: text, kind: "a count", example: "off, 50 or 10%")))
            }
            return .success(.count(count))
        }
    }
}

extension ValueReader where Value == String {
    /// A file that programs read: `.json`.
    fileprivate static var indexPath: ValueReader {
        ValueReader { node, name, log in
            guard let path = nonEmptyText.read(node, for: name, log: log) else { return nil }
            guard path.lowercased().hasSuffix(".json") else {
                log.error(.job(.indexNotJSON(path)), at: node.span)
                return nil
            }
            return path
        }
    }
}

extension ValueReader where Value == InputExpectation {
    /// A number of pictures, or limits.
    fileprivate static var expectation: ValueReader {
        ValueReader { node, name, log in
            let counts = ValueReader<Int>.integer(in: 1...Int.max)
            guard case .mapping = node.content else {
                return counts.read(node, for: name, log: log).map { InputExpectation(atLeast: $0, atMost: $0) }
            }
            guard var reader = MappingReader(node, of: "'\(name)'", noun: "limit", log: log) else { return nil }
            let least = reader.optional("at_least", counts)
            let most = reader.optional("at_most", counts)
            let loss = reader.optional("loss", ValueReader<Double>.lostShare)
            reader.finish(aliases: Self.aliases)
            if least == nil, most == nil, loss == nil, reader.mapping.entries.isEmpty {
                log.error(.value(.missingKey("at_least", of: "'\(name)'", example: "100")), at: node.span)
            }
            if let least, let most, least > most, let span = reader.mapping["at_most"]?.span {
                log.error(.job(.impossibleExpectation(least: least, most: most)), at: span)
            }
            return InputExpectation(atLeast: least, atMost: most, loss: loss)
        }
    }

    private static var aliases: [String: String] {
        [
            "min": "at_least", "minimum": "at_least", "max": "at_most", "maximum": "at_most", "lost": "loss",
            "gone": "loss",
        ]
    }
}

extension ValueReader where Value == Double {
    /// A part of the pictures: `10%`.
    fileprivate static var lostShare: ValueReader {
        .scalar("a part of the pictures, such as 10%") { text, name in
            guard text.hasSuffix("%"), case .success(let part) = DecimalNumber.number(String(text.dropLast())) else {
                return .failure(
                    ValueError(.notACount(name: name, text: text, kind: "a part of the pictures", example: "10%")))
            }
            guard part >= 0, part <= 100 else {
                return .failure(ValueError(.outOfRange(name: name, text: text, range: "0% to 100%")))
            }
            return .success(part)
        }
    }
}
