import FoundationEssentials
package import JobModel

/// A run that has not ended has the form of `run.json`; one that has ended, that of `ended/NAME.json`.
extension RunRecord: Codable {
    /// The names are stored.
    private enum CodingKeys: String, CodingKey {
        case job, manifest, started, workers, memory, request, counts, command, disks
        case name = "run"
    }

    /// The names are stored.
    private enum EndKeys: String, CodingKey {
        case record, epoch, ended, exitCode, reason, failures, hasMoreFailures
    }

    package init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: EndKeys.self)
        let isEnd = file.contains(.record)
        let record =
            isEnd
            ? try file.nestedContainer(keyedBy: CodingKeys.self, forKey: .record)
            : try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: record.decode(String.self, forKey: .name), job: record.decode(String.self, forKey: .job),
            manifest: record.decode(String.self, forKey: .manifest),
            started: record.decode(Int64.self, forKey: .started), workers: record.decode(Int.self, forKey: .workers),
            memory: record.decode(Int.self, forKey: .memory), request: record.decode(String.self, forKey: .request),
            counts: RunCounts(json: record.decode(String.self, forKey: .counts)),
            command: record.decodeIfPresent(String.self, forKey: .command))
        disks = try record.decodeIfPresent(RecordedDisks.self, forKey: .disks)
        guard isEnd else { return }
        epoch = try file.decode(Int.self, forKey: .epoch)
        state = .ended(
            End(
                time: try file.decode(Int64.self, forKey: .ended),
                exitCode: try file.decode(Int.self, forKey: .exitCode),
                reason: try file.decodeIfPresent(String.self, forKey: .reason),
                failures: try file.decodeIfPresent([Failure].self, forKey: .failures),
                hasMoreFailures: try file.decodeIfPresent(Bool.self, forKey: .hasMoreFailures)))
    }

    package func encode(to encoder: any Encoder) throws {
        guard case .ended(let end) = state else {
            var record = encoder.container(keyedBy: CodingKeys.self)
            return try encode(into: &record)
        }
        var file = encoder.container(keyedBy: EndKeys.self)
        var record = file.nestedContainer(keyedBy: CodingKeys.self, forKey: .record)
        try encode(into: &record)
        try file.encode(epoch, forKey: .epoch)
        try file.encode(end.time, forKey: .ended)
        try file.encode(end.exitCode, forKey: .exitCode)
        try file.encodeIfPresent(end.reason, forKey: .reason)
        try file.encodeIfPresent(end.failures, forKey: .failures)
        try file.encodeIfPresent(end.hasMoreFailures, forKey: .hasMoreFailures)
    }

    private func encode(into record: inout KeyedEncodingContainer<CodingKeys>) throws {
        try record.encode(name, forKey: .name)
        try record.encode(job, forKey: .job)
        try record.encode(manifest, forKey: .manifest)
        try record.encode(started, forKey: .started)
        try record.encode(workers, forKey: .workers)
        try record.encode(memory, forKey: .memory)
        try record.encode(request, forKey: .request)
        try record.encode(counts.json, forKey: .counts)
        try record.encodeIfPresent(command, forKey: .command)
        try record.encodeIfPresent(disks, forKey: .disks)
    }
}

extension RunRecord {
    /// A file may be anybody's.
    package var isPlausible: Bool {
        StoredNumbers.times.contains(started) && StoredNumbers.counts.contains(workers)
            && (0...Int.max / 2).contains(memory) && StoredNumbers.counts.contains(epoch) && state.isPlausible
    }
}

extension RunRecord.State {
    fileprivate var isPlausible: Bool {
        guard case .ended(let end) = self else { return true }
        return StoredNumbers.times.contains(end.time) && (0...255).contains(end.exitCode)
    }
}

extension RunCounts {
    /// All zero for what another version of Penumbra wrote, or anybody else.
    package init(json: String) {
        let found = try? JSONDecoder().decode(RunCounts.self, from: Data(json.utf8))
        self = found.flatMap { $0.isPlausible ? $0 : nil } ?? RunCounts()
    }

    private var isPlausible: Bool {
        let counts =
            [frames, work, published, skipped, kept, stillBroken, failed, left] + (failedByCause ?? [:]).values
        return counts.allSatisfy(StoredNumbers.counts.contains) && (0...Int.max / 2).contains(bytesWritten)
            && [seconds, megapixels].allSatisfy { (0...1e12).contains($0) }
    }

    package var json: String {
        // Numbers alone, which JSON always can.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
