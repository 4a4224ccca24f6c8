import Foundation
import Scheduling

/// What was counted while a simulation went on.
struct Counts {
    var events = 0
    /// Directives about a task or a frame: see ``Directive/isDecision``.
    var decisions = 0
    /// Attempts that were begun.
    var leases = 0
    var completions = 0
    var published = 0
    var failed = 0
    /// Of workers, and of elements of a cluster's arrays.
    var deaths = 0
    /// Elements that were submitted, and arrays.
    var elements = 0
    var arrays = 0
    /// Frames and attempts that were held at once, at most.
    var mostFrames = 0
    var mostLeases = 0
    /// In the coordinator's code; the rest is the simulation's own.
    var coordinatorTime = Duration.zero
    /// Of all cores together, in virtual time.
    var workTime = Duration.zero
}

extension Directive {
    /// A task given to a worker, an attempt that is over, outputs to publish, a frame to conclude, a worker to end: what
    /// the coordinator then acts upon. Not that more frames or workers are wanted, nor that all is done.
    var isDecision: Bool {
        switch self {
        case .start, .ended, .flag, .retire, .kill, .recycle, .publish, .decide, .conclude: true
        case .wantFrames, .widen, .finish: false
        }
    }
}

/// Frames and workers on paper, in virtual time.
protocol Simulation {
    var plan: SimulatedPlan { get }
    var counts: Counts { get }
    var now: Timestamp { get }
    /// Cores that could have worked.
    var cores: Int { get }
    /// Nil when every frame was concluded, once.
    var complaint: String? { get }

    mutating func run()
}

/// What a simulation took.
struct Figures: Encodable {
    let cores: Int
    let frames: Int
    let failedFrames: Int
    let deaths: Int
    let elements: Int
    let arrays: Int
    let mostFrames: Int
    let mostLeases: Int
    let leases: Int
    let completions: Int
    let events: Int
    let decisions: Int
    /// Of this process, on a processor: a busy machine does not change it much.
    let seconds: Double
    /// Of the wall clock, in the coordinator's code.
    let coordinatorSeconds: Double
    let virtualSeconds: Double
    /// The share of their time that cores were busy, in percent.
    let busyPercent: Double
    let peakMegabytes: Double
    let tasksPerSecond: Double
    let decisionsPerSecond: Double

    /// - Parameter seconds: of processor time.
    init(of farm: some Simulation, took seconds: Double) {
        let counts = farm.counts
        cores = farm.cores
        frames = farm.plan.frames
        failedFrames = counts.failed
        deaths = counts.deaths
        elements = counts.elements
        arrays = counts.arrays
        mostFrames = counts.mostFrames
        mostLeases = counts.mostLeases
        leases = counts.leases
        completions = counts.completions
        events = counts.events
        decisions = counts.decisions
        self.seconds = seconds
        coordinatorSeconds = counts.coordinatorTime / .seconds(1)
        virtualSeconds = farm.now.elapsed / .seconds(1)
        busyPercent = 100 * (counts.workTime / .seconds(1)) / (virtualSeconds * Double(farm.cores))
        peakMegabytes = Memory.megabytes("VmHWM") ?? .infinity
        tasksPerSecond = Double(leases) / seconds
        decisionsPerSecond = Double(decisions) / seconds
    }

    var table: String {
        """
        cores                    \(cores), busy \(Int(busyPercent)) % of \(Int(virtualSeconds)) virtual seconds
        frames                   \(frames), of which \(failedFrames) failed
        deaths                   \(deaths)
        elements submitted       \(elements), in \(arrays) arrays
        held at once             \(mostFrames) frames, \(mostLeases) attempts
        attempts                 \(leases), of which \(completions) succeeded
        events                   \(events)
        decisions                \(decisions)
        processor seconds        \(Self.rounded(seconds)), with the simulation's own
        coordinator's seconds    \(Self.rounded(coordinatorSeconds)) of the wall clock
        peak memory              \(Self.rounded(peakMegabytes)) MB
        attempts a second        \(Int(tasksPerSecond))
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

enum Memory {
    /// A line of what the kernel says of this process: `VmHWM` for the most that it ever had, `VmRSS` for now.
    static func megabytes(_ name: String) -> Double? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
            return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map {
                $0 * 1024 / 1e6
            }
        }
        return nil
    }
}

/// Seconds that this process had of processors.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
