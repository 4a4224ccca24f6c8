import Foundation
import Scheduling

/// What a simulation took.
struct Figures: Encodable {
    let workers: Int
    let frames: Int
    let failedFrames: Int
    let deaths: Int
    let completions: Int
    let events: Int
    let decisions: Int
    let seconds: Double
    /// Of `seconds`, those inside the scheduler.
    let schedulerSeconds: Double
    let virtualSeconds: Double
    /// The share of their time that workers were busy, in percent.
    let busyPercent: Double
    let peakMegabytes: Double
    let completionsPerSecond: Double
    let decisionsPerSecond: Double

    init(of farm: SimulatedFarm, _ options: Options, took time: Duration) {
        workers = options.workers
        frames = farm.plan.frames
        failedFrames = farm.failed
        deaths = farm.deaths
        completions = farm.completions
        events = farm.events
        decisions = farm.decisions
        seconds = time / .seconds(1)
        schedulerSeconds = farm.schedulerTime / .seconds(1)
        virtualSeconds = farm.now.elapsed / .seconds(1)
        busyPercent = 100 * (farm.workTime / .seconds(1)) / (virtualSeconds * Double(options.workers))
        peakMegabytes = Self.peakMegabytes()
        completionsPerSecond = Double(completions) / seconds
        decisionsPerSecond = Double(decisions) / seconds
    }

    private static func peakMegabytes() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return Double(usage.ru_maxrss) * 1024 / 1e6
    }

    var table: String {
        """
        workers                  \(workers), busy \(Int(busyPercent)) % of \(Int(virtualSeconds)) virtual seconds
        frames                   \(frames), of which \(failedFrames) failed
        worker deaths            \(deaths)
        task completions         \(completions)
        events                   \(events)
        decisions                \(decisions)
        seconds                  \(Self.rounded(seconds)), of which \(Self.rounded(schedulerSeconds)) in the scheduler
        peak memory              \(Self.rounded(peakMegabytes)) MB
        completions a second     \(Int(completionsPerSecond))
        decisions a second       \(Int(decisionsPerSecond))
        """
    }

    private static func rounded(_ value: Double) -> String { String(format: "%.2f", value) }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
