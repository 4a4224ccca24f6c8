import Foundation
import Scheduling
import WorkerProtocol

/// Lets happen to the scheduler what the bytes choose, with workers that also lie. A referee judges each directive. After
/// the last byte everyone does what the scheduler asks for, and the run has to end.
@c(LLVMFuzzerTestOneInput)
public func fuzzScheduling(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var world = RandomWorld(seed: 1, choices: Input(start, count).bytes)
    while !world.isFinished, !world.random.areDrawn {
        if world.draw(3) == 0 { world.lie() } else { world.step() }
        check(world)
    }
    // A lie may cost each attempt of a frame, and each worker that tells one is replaced after a while.
    for _ in 0..<20 * world.stepsToEnd where !world.isFinished { world.willingStep() }
    check(world)
    precondition(world.isFinished, "the run ends when everybody is willing")
    return 0
}

private func check(_ world: RandomWorld) {
    if let complaint = world.referee.complaints.first { preconditionFailure(complaint) }
    let progress = world.scheduler.progress(withTiles: true)
    precondition((0...progress.tilesPlanned).contains(progress.tilesDone), "no more tiles are done than there are")
}

extension RandomWorld {
    /// A worker sends a report in which values are others than they should be.
    fileprivate mutating func lie() {
        guard let id = runningLeases.randomElement(using: &random), let lease = referee.leases[id] else { return }
        let honest: Report =
            switch draw(8) {
            case 0: .failed(lease.id, TaskFailure(.damagedTile(index: draw(20)), "it failed"))
            case 1: .failed(lease.id, TaskFailure(.plugin("plugin \(draw(50))"), "it failed"))
            case 2: .inPlugins(lease.id, ["plugin \(draw(50))", "plugin \(draw(50))"])
            case 3: .worn(lease.id)
            default: .finished(lease.id, honestReceipt(of: lease))
            }
        guard let report = changed(honest) else { return }
        deliver(.report(lease.worker, report))
        // From now on the honest workers have to see the picture that it claims.
        if case .finished(lease.id, .probe(let probe)) = report, referee.accepted == lease.task {
            claims[lease.task.frame] = probe
        }
    }

    /// The report with other values, as a coordinator reads it from a pipe. Nil if it would not be read.
    private mutating func changed(_ report: Report) -> Report? {
        let encoder = JSONEncoder()
        // The places of values must not depend on the order of a hash table.
        encoder.outputFormatting = .sortedKeys
        guard var bytes = (try? encoder.encode(report)).map(Array.init) else { return nil }
        for _ in 0...draw(3) {
            guard let value = Self.values(of: bytes).randomElement(using: &random) else { return nil }
            bytes.replaceSubrange(value, with: otherValue(bytes[value]).utf8)
        }
        // That a worker sends what is no report is an ordinary event.
        return try? FrameCodec.decode(Report.self, from: bytes, within: .reports)
    }

    private mutating func otherValue(_ old: ArraySlice<UInt8>) -> String {
        if old.first == UInt8(ascii: "\"") { return ["\"\"", "\"png\"", "\"/out/1.png\"", "\"plugin 1\""][draw(4)] }
        if let number = Int(String(decoding: old, as: UTF8.self)), number.magnitude < 1 << 40, draw(3) == 0 {
            return "\(draw(2) == 0 ? number + 1 : number - 1)"
        }
        return [
            "0", "1", "-1", "2", "0.5", "50", "255", "256", "65536", "1048576", "1048577", "2147483648", "-2147483648",
            "4294967296", "9007199254740992", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
            "1e7",
            "1e308", "-1e-300", "null", "true", "false",
        ][draw(24)]
    }

    /// The texts and numbers of a JSON text that are no names.
    private static func values(of bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < bytes.count {
            let start = index
            index += 1
            if bytes[start] == UInt8(ascii: "\"") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index += 1
                if index < bytes.count, bytes[index] != UInt8(ascii: ":") { found.append(start..<index) }
            } else if !Self.marks.contains(bytes[start]) {
                while index < bytes.count, !Self.marks.contains(bytes[index]) { index += 1 }
                found.append(start..<index)
            }
        }
        return found
    }

    private static let marks = Set("{}[]:,\"".utf8)
}
