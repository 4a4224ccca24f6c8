import Foundation

/// A task as an order names it, the same in every attempt and every run.
struct TaskIdentity: Hashable, Sendable {
    let lease: Int
    /// `probe`, `frame`, `canvas`, `tile`, `stitch`, `audit`, `check` or `compare`.
    let kind: String
    let key: String
    /// The canvas or tile file that the task writes.
    let written: String?
    /// The output that it writes aside; of several the first.
    let output: String?
    /// Those that it reads: a canvas, tiles in the order of their numbers, or outputs.
    let read: [String]
    /// Where a canvas task writes the picture's metadata.
    let metadata: String?

    /// Nil for what is no order.
    init?(order body: [UInt8]) {
        guard
            let json = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any],
            let start = json["start"] as? [String: Any],
            let lease = (start["_0"] as? [String: Any])?["number"] as? Int,
            let (kind, value) = (start["_1"] as? [String: Any])?.first,
            let task = (value as? [String: Any])?["_0"] as? [String: Any]
        else { return nil }
        self.lease = lease
        self.kind = kind
        let files = Self.files(of: task)
        written = files.written
        output = Self.outputs(of: task, "temporaryPath").first ?? task["temporaryPath"] as? String
        read = files.read + (kind == "stitch" ? [task["metadataPath"] as? String].compactMap(\.self) : [])
        metadata = kind == "canvas" ? task["metadataPath"] as? String : nil
        key = "\(kind) \(Self.subject(of: task))"
    }

    /// The file that a damage strikes: an output only where the plan names its task.
    func victim(_ plan: FaultPlan) -> String? {
        written ?? (plan.kinds?.contains(kind) == true ? output : nil)
    }

    private static func files(of task: [String: Any]) -> (written: String?, read: [String]) {
        let canvas = (task["canvas"] as? [String: Any])?["path"] as? String
        let source = (task["source"] as? [String: Any])?["canvas"] as? [String: Any]
        let audited = (source?["_0"] as? [String: Any])?["path"] as? String
        let tiles = (task["tiles"] as? [[String: Any]])?.compactMap { $0["path"] as? String }
        let written = task["tilePath"] as? String ?? task["canvasPath"] as? String
        let checked = (task["outputs"] as? [[String: Any]])?.compactMap {
            ($0["expected"] as? [String: Any])?["path"] as? String
        }
        return (written, tiles ?? [canvas, audited].compactMap(\.self) + (checked ?? []))
    }

    private static func outputs(of task: [String: Any], _ key: String) -> [String] {
        ((task["outputs"] as? [[String: Any]]) ?? []).compactMap { $0[key] as? String }
    }

    /// Paths without the numbers of the attempt and of the run.
    private static func subject(of task: [String: Any]) -> String {
        let output = (task["outputs"] as? [[String: Any]])?.first
        let expected = (output?["expected"] as? [String: Any])?["path"] as? String
        let source = ((task["source"] as? [String: Any])?["input"] as? [String: Any])?["_0"] as? [String: Any]
        let read = files(of: task).read.first ?? (task["files"] as? [[String: Any]])?.first?["path"] as? String
        let written = ["tilePath", "canvasPath", "temporaryPath"].lazy.compactMap { task[$0] as? String }.first
        let input = (task["input"] as? [String: Any])?["path"] ?? source?["path"]
        let path = written ?? input as? String ?? expected ?? read ?? ""
        return withoutRun(path)
    }

    /// `…/runs/20261122T132300Z-57f37b/scratch/1/tile-0-2.1` becomes `1/tile-0`: without the coordinator's epoch and the attempt; a
    /// temporary file likewise.
    static func withoutRun(_ path: String) -> String {
        let names = path.split(separator: "/").suffix(2)
        let text = names.joined(separator: "/").replacing(#/\d{8}T\d{6}Z-[0-9a-z]+/#, with: "RUN")
        return text.hasPrefix("photos/") ? text : text.replacing(#/-\d+(\.\d+)?$/#, with: "")
    }
}

/// What a report says, as far as it matters here.
enum HeardReport {
    case ready
    case finished(lease: Int)
    /// With the number of the tile that is damaged.
    case failed(lease: Int, kind: String, tile: Int?)
    case other

    init(_ body: [UInt8]) {
        let json = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let (name, value) = json?.first ?? ("", "")
        let content = value as? [String: Any]
        let lease = (content?["_0"] as? [String: Any])?["number"] as? Int
        let failure = content?["_1"] as? [String: Any]
        switch (name, lease) {
        case ("ready", _): self = .ready
        case ("finished", let lease?): self = .finished(lease: lease)
        case ("failed", let lease?):
            let (kind, facts) = (failure?["kind"] as? [String: Any])?.first ?? ("", [:])
            self = .failed(lease: lease, kind: kind, tile: (facts as? [String: Any])?["index"] as? Int)
        default: self = .other
        }
    }
}
