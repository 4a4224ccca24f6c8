import Coordination
package import JobModel
import JobStorage
import Planning
import Reports
package import Runs

/// The frames of an ended run that a new run does again.
package struct RetriedFrames: Sendable {
    package enum State: String, CaseIterable, Sendable {
        case failed, left, published, skipped

        fileprivate var words: String {
            switch self {
            case .failed: "failed"
            case .left: "was left"
            case .published: "was published"
            case .skipped: "was skipped"
            }
        }
    }

    /// Frames that ended like this; nil for those that failed, unless `frames` names some.
    private let state: State?
    /// Nil for all.
    private let frames: FrameNumbers?

    package init(state: State?, frames: FrameNumbers?) {
        self.state = state
        self.frames = frames
    }

    package enum Retry {
        /// Notes report frames that were named and are not done again.
        case repeated(RepeatedRun, notes: [String])
        /// No frame is done again. The reason is no error if the outcome is ``RunOutcome/done``.
        case nothing(String, RunOutcome)
    }

    private enum Choice {
        /// These inputs. The notes report frames that were named and are not among them.
        case inputs(Set<PathKey>, notes: [String] = [])
        /// The frames that were left.
        case left
        case nothing(String, RunOutcome)
    }

    /// - Throws: ``FarmError`` if the run has not ended, or cannot be repeated; errors of the database and of `place`.
    package func retry(
        _ run: RunStatus, in archive: RunArchive, from place: RepeatedRun.Place
    ) throws -> Retry {
        guard run.condition.isEnded else {
            throw FarmError(
                .busy, "\(run.stored.name): the run has not ended\n   = 'penumbra resume' resumes an interrupted run")
        }
        let choice = try choice(of: run, archive, shownFrom: place.folder)
        if case .nothing(let words, let outcome) = choice { return .nothing(words, outcome) }
        var repeated = try RepeatedRun(run, in: archive, from: place)
        var notes: [String] = []
        switch choice {
        case .inputs(let inputs, let found):
            notes = found
            repeated.change { $0.inputs = inputs.sorted().map(\.path) }
        case .left:
            if try !archive.isContinuedByItsCommand(run, now: currentTime()) {
                repeated.change { $0.leftOf = run.stored.name }
                repeated.run.concluded = try archive.concludedInputs(ofRun: run.stored.name)
            }
            if repeated.run.request.limit != nil { repeated.run.remainingLimit = run.counts.left }
        case .nothing: break
        }
        return .repeated(repeated, notes: notes)
    }

    private func choice(of run: RunStatus, _ archive: RunArchive, shownFrom folder: String) throws -> Choice {
        let known = try archive.frames(of: run)
        let (left, name) = (run.counts.left, run.stored.name)
        if state == .skipped, frames == nil { return skipped(run, shownFrom: folder) }
        // Most frames that were left had not begun, so the run has no record of them.
        if state == .left, frames == nil, left > 0 { return .left }
        var inputs = Set(known.filter(isWanted).map { PathKey($0.input) })
        if state ?? .failed == .failed, frames == nil, run.counts.stillBroken > 0 {
            inputs.formUnion(try archive.broken(of: run).map { PathKey($0.input) })
        }
        let hint = left > 0 && state != .left ? "; \(Figures.plural(left, "frame")) left: --state left" : ""
        if let frames {
            let begun = Set(known.map(\.number))
            let last = max(run.counts.frames, begun.max() ?? 0)
            let unknown = frames.numbers(upTo: last).filter { !begun.contains($0) }
            guard !inputs.isEmpty else {
                let isNone = begun.isDisjoint(with: frames.numbers(upTo: begun.max() ?? 0))
                guard isNone else {
                    // As without --frames: there is nothing to do.
                    return .nothing("\(name): none of these frames \((state ?? .failed).words)\(hint)", .done)
                }
                let isBeyond = frames.words(beyond: last) != nil
                if left == 0, !unknown.isEmpty, !isBeyond {
                    let these = unknown.count == 1 ? "this frame was" : "these frames were"
                    let them = unknown.count == 1 ? "it" : "them"
                    return .nothing(
                        "\(name): nothing to do: \(these) up to date\n   = 'penumbra run --force --only' renders \(them) again",
                        .done)
                }
                let reason = isBeyond ? ": it has \(Figures.plural(run.counts.frames, "frame"))" : hint
                return .nothing("\(name): no such frames were begun\(reason)", .missingInput)
            }
            var notes: [String] = []
            if !unknown.isEmpty {
                let list =
                    unknown.prefix(20).map(String.init).joined(separator: ", ") + (unknown.count > 20 ? ", …" : "")
                let words = unknown.count == 1 ? "frame \(list) was" : "frames \(list) were"
                notes.append(
                    "\(name): \(words) not begun, and \(unknown.count == 1 ? "is" : "are") not rendered again: up to date, or left\(hint)"
                )
            }
            if let beyond = frames.words(beyond: last) {
                notes.append("\(name): has no frame \(beyond): it has \(Figures.plural(run.counts.frames, "frame"))")
            }
            return .inputs(inputs, notes: notes)
        }
        guard inputs.isEmpty else { return .inputs(inputs) }
        return .nothing("\(name): no frame \((state ?? .failed).words)\(hint)", .done)
    }

    /// The run has no list of skipped frames.
    private func skipped(_ run: RunStatus, shownFrom folder: String) -> Choice {
        let (name, count) = (run.stored.name, run.counts.skipped)
        guard count > 0 else { return .nothing("\(name): no frame was skipped", .done) }
        let manifest = PathText.shown(run.stored.manifest, from: folder)
        return .nothing(
            "\(name): \(Figures.plural(count, "frame")) \(count == 1 ? "was" : "were") skipped, and nothing is to be rendered again: "
                + "\(count == 1 ? "its output was" : "their outputs were") up to date, or \(count == 1 ? "it was" : "they were") "
                + "too young\n   = 'penumbra plan \(manifest)' says why; 'penumbra run --force --only' renders outputs again",
            .done)
    }

    private func isWanted(_ frame: StoredFrame) -> Bool {
        if let frames, !frames.contains(frame.number) { return false }
        guard let wanted = state ?? (frames == nil ? .failed : nil) else { return true }
        return wanted.rawValue == frame.state.kind.rawValue
    }
}

/// Numbers of frames: `1,4,9-12`.
package struct FrameNumbers: Hashable, Sendable {
    private let ranges: [ClosedRange<Int>]

    /// Nil if the text has another form.
    package init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends.last.flatMap(\.self), first >= 1,
                last >= first
            else { return nil }
            ranges.append(first...last)
        }
        self.ranges = ranges
    }

    /// - Parameter numbers: from 1.
    init(_ numbers: Set<Int>) { ranges = numbers.sorted().map { $0...$0 } }

    func contains(_ number: Int) -> Bool { ranges.contains { $0.contains(number) } }

    /// The numbers above the last frame: `126-200, 400`; nil if there are none.
    func words(beyond last: Int) -> String? {
        let rest = ranges.filter { $0.upperBound > last }.map { max($0.lowerBound, last + 1)...$0.upperBound }
        guard !rest.isEmpty else { return nil }
        return rest.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
            separator: ", ")
    }

    /// Sorted, without repetitions.
    func numbers(upTo last: Int) -> [Int] { (1...max(1, last)).filter { $0 <= last && contains($0) } }
}

extension RunStatus {
    /// Says which command does the rest of a run that has ended early, by its deadline say; nil for other runs.
    package func leftFrames(shownFrom folder: String) -> String? {
        guard condition.isEnded, counts.left > 0 else { return nil }
        let (name, left) = (stored.name, counts.left)
        let manifest = PathText.shown(stored.manifest, from: folder)
        return "\(name): has ended, with \(Figures.plural(left, "frame")) left; 'penumbra run \(manifest)' or "
            + "'penumbra retry \(name) --state left' does the rest"
    }
}
