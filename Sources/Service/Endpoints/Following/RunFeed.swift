import Coordination
import JobModel
package import HTTPService
package import Queueing
import Runs
import SafeFiles
import ServiceAPI

/// Tells followers what the runs of a state folder do, whoever began them.
///
/// It reads the files of open runs, and only while somebody follows. When it begins again after a pause, it does not know what the followers
/// have missed: then it says of every run that its map is to be read again.
package struct RunFeed: Sendable {
    private let state: String
    private let feed: EventFeed
    private let owner: @Sendable (_ run: String) throws -> Owner?

    /// - Parameter owner: whose job a run belongs to. Nil for a run that somebody has begun by hand. It may block.
    package init(state: String, feed: EventFeed, owner: @escaping @Sendable (_ run: String) throws -> Owner?) {
        self.state = state
        self.feed = feed
        self.owner = owner
    }

    /// Followers get at most four events about frames a second.
    private static let pause = Duration.milliseconds(250)
    /// How long it takes until a first follower is noticed.
    private static let idlePause = Duration.milliseconds(500)
    /// A map that was written shortly before it was read may have been written once more at the same time stamp. In nanoseconds.
    private static let stampLength: Int64 = 1_000_000_000

    /// What is known of a run.
    private struct Known: Sendable {
        let owner: Owner?
        var differ: RunDiffer
        var mapStamp: FileStamp?
    }

    private struct Look: Sendable {
        var known: [String: Known] = [:]
        var changes: [(change: RunChange, owner: Owner?)] = []

        mutating func add(_ changes: [RunChange], of owner: Owner?) { self.changes += changes.map { ($0, owner) } }
    }

    /// Looks until the task is cancelled.
    ///
    /// - Parameters:
    ///   - now: the time in nanoseconds since 1970.
    ///   - sleep: waits for a time, or until its task is cancelled.
    package func run(
        now: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async {
        var known: [String: Known] = [:]
        while !Task.isCancelled {
            if feed.followers > 0 {
                let before = known
                let seen = await Blocking.run { () -> Look in look(before, now: now()) }
                known = seen.known
                for (change, owner) in seen.changes { publish(change, owner) }
            } else {
                // The names stay, so that ends are told.
                for (name, run) in known { known[name] = Known(owner: run.owner, differ: RunDiffer(name)) }
            }
            guard (try? await sleep(feed.followers > 0 ? Self.pause : Self.idlePause)) != nil else { return }
        }
    }

    private func look(_ before: [String: Known], now: Int64) -> Look {
        var seen = Look()
        for name in FileSystem.names(in: "\(state)/runs").sorted() {
            let folder = RunFolder(state: state, name: name)
            // Without its coordinator nothing changes, and the folder may stay for a week.
            guard FileSystem.exists("\(folder.path)/live"), folder.isAlive else { continue }
            guard var run = before[name] ?? found(name) else { continue }
            let path = "\(folder.path)/map"
            let stamp = FileSystem.stamp(path)
            var map: FrameMap?
            if let stamp, stamp != run.mapStamp {
                map = SafeFolder.trustedContents(path, limit: FrameMap.largestSize).flatMap(FrameMap.init(file:))
                let (age, isTooMuch) = now.subtractingReportingOverflow(stamp.modified)
                run.mapStamp = map != nil && !isTooMuch && age > Self.stampLength ? stamp : nil
            }
            seen.add(run.differ.look(at: map, LiveRun(in: folder)), of: run.owner)
            seen.known[name] = run
        }
        let ended = before.filter { seen.known[$0.key] == nil }
        let maps = lastMaps(of: ended.keys)
        for (name, run) in ended.sorted(by: { $0.key < $1.key }) {
            var differ = run.differ
            seen.add(differ.end(at: maps[name]), of: run.owner)
        }
        return seen
    }

    /// A run that is seen for the first time. A job has the name of its run before the run begins, so its owner stays the same.
    ///
    /// - Returns: nil while it cannot be found out who may hear of the run. The next look asks again.
    private func found(_ name: String) -> Known? {
        do {
            return Known(owner: try owner(name), differ: RunDiffer(name))
        } catch {
            return nil
        }
    }

    /// The maps of runs that have no coordinator any more. The last thing that a coordinator does is to store its map.
    private func lastMaps(of names: some Collection<String>) -> [String: FrameMap] {
        // Followers are told to read a map themselves if it cannot be read here.
        guard !names.isEmpty, let archive = try? RunArchive(state: state),
            let runs = try? archive.runs(named: Array(names))
        else { return [:] }
        let maps = runs.map { run in (run.stored.name, (try? archive.map(of: run)) ?? nil) }
        return Dictionary(maps) { first, _ in first }.compactMapValues { $0 }
    }

    private func publish(_ change: RunChange, _ owner: Owner?) {
        // All of this can be encoded.
        // Events have only numbers and texts, which can always be encoded.
        switch change {
        case .run(let event):
            publish("run", try? StrictJSON.encode(event), event.run, owner, isBarrier: event.state == .ended)
        case .tiles(let event): publish("tiles", try? StrictJSON.encode(event), event.run, owner)
        case .frames(let event):
            publish("frames", (try? StrictJSON.encode(event)).map(FramesData.wrapped), event.run, owner)
        }
    }

    /// - Parameter isBarrier: whether changes of frames that came before must not be told after it.
    private func publish(_ name: String, _ data: [UInt8]?, _ run: String, _ owner: Owner?, isBarrier: Bool = false) {
        guard let data else { return }
        feed.publish(name, data, about: Service.subject(ofRun: run), of: owner, isBarrier: isBarrier)
    }
}

/// The data of events `frames`: `{"runs":[{…},{…}]}`. Several events are joined by putting their lists together.
package enum FramesData {
    private static let start = Array(#"{"runs":["#.utf8)
    private static let end = Array("]}".utf8)

    package static func wrapped(_ event: [UInt8]) -> [UInt8] { start + event + end }

    /// The changes of later events come after those of earlier ones, and are to be made in this order.
    package static func joined(_ parts: [[UInt8]]) -> [UInt8] {
        let lists = parts.map { $0.dropFirst(start.count).dropLast(end.count) }
        return start + Array(lists.joined(separator: [UInt8(ascii: ",")])) + end
    }
}
