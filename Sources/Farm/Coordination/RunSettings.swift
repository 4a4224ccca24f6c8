import Engines
package import JobModel
package import Scheduling

/// The resources that a run uses.
package struct RunSettings: Hashable, Sendable {
    package let workers: Int
    /// The memory of all workers together, in bytes.
    package let memory: Int
    /// A worker that is silent for this time is stopped.
    package let silence: Duration
    package let seed: UInt64
    /// Where a run's tasks are carried out.
    package enum Capacity: Hashable, Sendable {
        /// In as many processes on this machine as the run has workers.
        case here
        /// In another number of processes on this machine, because the run was planned for another machine.
        case substitutes(Int)
        /// On a cluster, with this many tasks and tiled frames at a time. Tasks may wait there, so none of them is late.
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

    /// A worker holds one decoded frame, and the rows that are being filtered and encoded.
    package var frameMemory: Int { memory / workers / 2 }

    /// A worker holds a tile with its halo as samples, and some rows of it as floating-point numbers.
    package var tileMemory: Int { memory / workers / 8 }

    package func shardPolicy(_ job: JobSpec, frames: Int) -> ShardPolicy {
        ShardPolicy(mode: job.shard, workers: workers, frames: frames, frameMemory: frameMemory)
    }

    /// The number of tasks at a time.
    private var slots: Int {
        switch capacity {
        case .here: workers
        case .substitutes(let count): count
        case .away(let tasks, _): tasks
        }
    }

    private var isHere: Bool { if case .away = capacity { false } else { true } }

    /// False on a cluster, and for a run that a cluster has begun: there, each frame is probed by a task of its own.
    private var probesWithFrames: Bool { if case .here = capacity { true } else { false } }

    private var tiledFrames: Int { if case .away(_, let count) = capacity { count } else { 1 } }

    /// - Parameters:
    ///   - planned: the number of frames by which the limit of failures is computed.
    ///   - failed: the number of frames that failed before.
    package func schedulingPolicy(_ job: JobSpec, frames: Int, planned: Int = 0, failed: Int = 0) -> SchedulingPolicy {
        SchedulingPolicy(
            retry: RetryPolicy(retries: job.retries), time: TimePolicy(limit: job.timeout),
            shard: shardPolicy(job, frames: frames), verify: job.verify, workers: slots, seed: seed,
            failureLimit: planned > 0 ? job.maxFailures.count(of: planned) : nil, failedBefore: failed,
            silenceLimit: silence, endsLateWork: isHere, tiledFrames: tiledFrames, joinsSmallTasks: probesWithFrames)
    }
}
