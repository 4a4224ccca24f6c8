import Foundation

/// The last line of `penumbra run --json`, and the frames that failed.
struct RunSummary {
    let published: Int
    let skipped: Int
    let kept: Int
    let outputsKept: Int
    let stillBroken: Int
    let failed: Int
    let left: Int
    let frames: Int
    let exitCode: Int
    /// Frames that failed, as lines of JSON.
    let failures: [[String: Any]]

    /// Nil where the run was ended before it could say anything.
    init?(_ path: String) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
        guard let last = lines.last, last["event"] as? String == "summary" else { return nil }
        func number(_ key: String) -> Int { last[key] as? Int ?? -1 }
        published = number("published")
        skipped = number("skipped")
        kept = number("kept")
        outputsKept = number("outputsKept")
        stillBroken = number("stillBroken")
        failed = number("failed")
        left = number("left")
        frames = number("frames")
        exitCode = number("exitCode")
        failures = lines.filter { $0["state"] as? String == "failed" }
    }

    /// Failures that do not say why.
    var withoutCause: [String] {
        failures.filter { ($0["cause"] as? String ?? "").isEmpty || ($0["message"] as? String ?? "").isEmpty }
            .map { $0["input"] as? String ?? "?" }
    }
}
