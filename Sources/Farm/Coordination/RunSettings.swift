import Engines
package import JobModel
package import Scheduling

/// What a run uses of this machine.
package struct RunSettings: Hashable, Sendable {
    package let workers: Int
    /// What all workers together may hold, in bytes.
    package let memory: Int
    /// A worker that says nothing for so long is stopped.
    package let silence: Duration
    package let seed: UInt64
    /// Who does a run's tasks.
    package enum Capacity: Hashable, Sendable {
        /// As many processes here as the run has workers.
        case here
        /// Another number of processes here: the run was planned for others.
        case substitutes(Int)
        /// Others, elsewhere, who may have so many tasks at once, of so many frames in tiles. They may have to wait, so that
        /// nothing there is late.
        case away(tasks: Int, tiledFrames: Int)
    }

    package let capacity: Capacity

    package init(workers: Int, memory: Int, silence: Duration = .seconds(30), seed: UInt64, capacity: Capacity = .here)
    {
        self.capacity = capacity
        self.silence = silence
        self.workers = workers
        self.memory = memory
        self.seed = seed
    }

    /// A worker holds one decoded frame, and beside it the rows that are being filtered and encoded.
    package var frameMemory: Int { memory / workers / 2 }

    /// A worker holds a tile with its halo as samples, and rows of it as floating-point numbers.
    package var tileMemory: Int { memory / workers / 8 }

    package func shardPolicy(_ job: JobSpec, frames: Int) -> ShardPolicy {
        ShardPolicy(mode: job.shard, workers: workers, frames: frames, frameMemory: frameMemory)
    }

    /// Tasks at once.
    private var slots: Int {
        switch capacity {
        case .here: workers
        case .substitutes(let count): count
        case .away(let tasks, _): tasks
        }
    }

    private var isHere: Bool { if case .away = capacity { false } else { true } }

    private var tiledFrames: Int { if case .away(_, let count) = capacity { count } else { 1 } }

    /// For small things that are made by the way.
    package func wholeFrames(_ job: JobSpec, count: Int) -> SchedulingPolicy { schedulingPolicy(job, frames: count) }

    /// - Parameters:
    ///   - planned: frames that failures are measured against.
    ///   - failed: frames that failed before.
    package func schedulingPolicy(_ job: JobSpec, frames: Int, planned: Int = 0, failed: Int = 0) -> SchedulingPolicy {
        SchedulingPolicy(
            retry: RetryPolicy(retries: job.retries), time: TimePolicy(limit: job.timeout),
            shard: shardPolicy(job, frames: frames), verify: job.verify, workers: slots, seed: seed,
            failureLimit: planned > 0 ? job.maxFailures.count(of: planned) : nil, failedBefore: failed,
            silenceLimit: silence, endsLateWork: isHere, tiledFrames: tiledFrames)
    }
}
