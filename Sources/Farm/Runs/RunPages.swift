package import JobModel
package import JobStorage
package import Scheduling

/// Some frames of a run, in their order.
package struct FramePage: Hashable, Sendable, Codable {
    package let frames: [StoredFrameLine]
    /// The place of the next page: `37`, or `37p2`. Nil on the last one.
    package let after: String?
}

/// Some attempts of a run, in the order of their begin.
package struct AttemptPage: Hashable, Sendable, Codable {
    package let attempts: [AttemptLine]
    /// The place of the next page. Nil on the last one.
    package let after: String?
}

/// The number of attempts that a run has made.
package struct TaskCounts: Hashable, Sendable, Codable {
    /// For each kind of task, by the states of its attempts: `{"tile": {"done": 12, "lost": 1}}`.
    package let tasks: [String: [String: Int]]
    /// Whether a worker has had a frame. Then attempts that are not counted are not kept any more.
    package let wasBegun: Bool

    package init(tasks: [String: [String: Int]], wasBegun: Bool) {
        self.tasks = tasks
        self.wasBegun = wasBegun
    }

    private enum CodingKeys: String, CodingKey {
        case tasks
        case wasBegun = "begun"
    }
}

extension RunArchive {
    /// A page of frames, and when their outputs were published.
    ///
    /// - Parameters:
    ///   - frame: the last frame of the page before; nil for the first page.
    ///   - state: only frames with this state.
    package func frames(
        of run: RunStatus, after frame: FrameID?, state: FrameResult.Kind?, limit: Int
    ) throws -> FramePage {
        var frames: [StoredFrame]
        let times: [FrameID: Int64]
        if isShared(run) {
            // Their history is a file without an index.
            let details = try details(of: run)
            frames = details.frames.filter { one in
                (frame.map { one.id > $0 } ?? true) && (state.map { one.state.kind == $0 } ?? true)
            }
            frames = Array(frames.prefix(limit + 1))
            times = details.publicationTimes
        } else {
            let found = try store?.read { reader in
                let frames = try reader.frames(
                    of: run.stored.id, after: frame.map { ($0.number, $0.page) }, state: state?.rawValue,
                    limit: limit + 1)
                guard let first = frames.first, let last = frames.last else { return (frames, [StoredPublication]()) }
                return (frames, try reader.publications(of: run.stored.id, numbers: first.number...last.number))
            }
            frames = found?.0 ?? []
            times = Self.times(of: found?.1 ?? [])
        }
        let hasMore = frames.count > limit
        if hasMore { frames.removeLast() }
        return FramePage(
            frames: frames.map { StoredFrameLine($0, published: times[$0.id]) },
            after: hasMore ? frames.last.map { FramePlace.text($0.id) } : nil)
    }

    /// When the last output of each frame was published.
    static func times(of publications: [StoredPublication]) -> [FrameID: Int64] {
        Dictionary(publications.map { (FrameID($0.number, page: $0.page), $0.at) }, uniquingKeysWith: max)
    }

    /// A page of attempts.
    ///
    /// - Parameters:
    ///   - place: ``AttemptPage/after`` of the page before; nil for the first page.
    ///   - filter: only attempts of these tasks.
    /// - Returns: nil if `place` is none.
    package func attempts(
        of run: RunStatus, after place: String?, of filter: TaskFilter?, limit: Int
    ) throws -> AttemptPage? {
        let after = place.map(AttemptPlace.init(text:))
        if case .some(nil) = after { return nil }
        let start = after ?? nil
        var attempts: [StoredAttempt]
        if isShared(run) {
            attempts = try details(of: run).attempts.filter { attempt in
                (start.map { (attempt.epoch, attempt.lease) > ($0.epoch, $0.lease) } ?? true)
                    && filter?.includes(attempt) ?? true
            }
            attempts = Array(attempts.prefix(limit + 1))
        } else {
            attempts =
                try store?.read { reader in
                    try reader.attempts(
                        of: run.stored.id, after: start.map { ($0.epoch, $0.lease) }, number: filter?.number,
                        limit: limit + 1)
                } ?? []
        }
        let hasMore = attempts.count > limit
        if hasMore { attempts.removeLast() }
        let next = hasMore ? attempts.last.map { AttemptPlace(epoch: $0.epoch, lease: $0.lease).text } : nil
        // A page may have fewer attempts than asked for: those of other tasks of its frame are left out.
        return AttemptPage(
            attempts: attempts.filter { filter?.includes($0) ?? true }.map(AttemptLine.init), after: next)
    }

    /// All attempts of a frame and its pages, in the order of their begin.
    package func attempts(of run: RunStatus, frame number: Int) throws -> [StoredAttempt] {
        guard !isShared(run) else { return try details(of: run).attempts.filter { $0.number == number } }
        return try store?.read { try $0.attempts(of: run.stored.id, number: number) } ?? []
    }

    package func taskCounts(of run: RunStatus) throws -> TaskCounts {
        guard isShared(run) else {
            return try store?.read { reader in
                TaskCounts(
                    tasks: try reader.attemptCounts(of: run.stored.id),
                    wasBegun: try reader.hasBegunFrames(run.stored.id))
            } ?? TaskCounts(tasks: [:], wasBegun: false)
        }
        return try details(of: run).taskCounts
    }
}

extension RunArchive.Details {
    package var taskCounts: TaskCounts {
        var counts: [String: [String: Int]] = [:]
        for attempt in attempts { counts[attempt.kind, default: [:]][AttemptLine(attempt).state, default: 0] += 1 }
        return TaskCounts(tasks: counts, wasBegun: frames.contains(where: \.wasBegun))
    }
}

/// The name of a frame, as messages and pages have it: `37`, and `37p2` for the second page of a picture whose pages are frames.
package enum FramePlace {
    package static func text(_ frame: FrameID) -> String {
        frame.page == 0 ? "\(frame.number)" : "\(frame.number)p\(frame.page + 1)"
    }

    /// Nil if the text names no frame.
    package static func frame(_ text: String) -> FrameID? {
        let parts = text.split(separator: "p", omittingEmptySubsequences: false)
        guard parts.count <= 2, let number = Int(parts[0]), StoredNumbers.counts.contains(number) else { return nil }
        guard parts.count == 2 else { return FrameID(number) }
        guard let page = Int(parts[1]), page > 0, StoredNumbers.counts.contains(page) else { return nil }
        return FrameID(number, page: page - 1)
    }
}

/// The place of an attempt in its run: `1.37`.
private struct AttemptPlace {
    let epoch: Int
    let lease: Int

    var text: String { "\(epoch).\(lease)" }

    init(epoch: Int, lease: Int) { (self.epoch, self.lease) = (epoch, lease) }

    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let epoch = parts[0], let lease = parts[1], epoch >= 0, lease >= 0 else { return nil }
        self.init(epoch: epoch, lease: lease)
    }
}
