import Glibc
package import WorkerProtocol

/// The limit of open files of this process.
///
/// Every worker takes some descriptors, and a library that meets the limit in the middle of starting one ends this
/// process. So the limit is raised, or the run refused, before anything starts.
package enum DescriptorLimit {
    /// What the coordinator needs for itself: the database, locks, outputs, and what starts and watches processes.
    package static let own = 56

    /// Three pipes and the process itself, and what is open while it starts.
    package static let perWorker = 5

    /// Locks, the database and the indexes of one job.
    package static let perJob = 12

    /// What a soft limit is raised to where the hard limit allows it: some of every number more than is needed.
    private static let comfort = 128

    /// Raises the soft limit, as far as the hard one, if so many workers and jobs need it.
    ///
    /// - Throws: where the hard limit is too low.
    package static func secure(workers: Int, jobs: Int = 1) throws(Shortage) {
        let needed = own + perWorker * workers + perJob * jobs
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < rlim_t(needed + comfort) else { return }
        let wanted = min(limit.rlim_max, rlim_t(needed + comfort))
        if wanted > limit.rlim_cur {
            limit.rlim_cur = wanted
            setrlimit(files, &limit)
            getrlimit(files, &limit)
        }
        guard limit.rlim_cur < rlim_t(needed) else { return }
        let possible = (Int(limit.rlim_cur) - own - perJob * jobs) / perWorker
        throw Shortage(.files, action(workers, needed: needed, possible: possible), limit: Int(limit.rlim_cur))
    }

    private static func action(_ workers: Int, needed: Int, possible: Int) -> String {
        let plural = workers == 1 ? "worker" : "workers"
        let begin = "run \(workers) \(plural), which need \(needed) open files"
        return possible > 0 ? "\(begin) (\(possible) could be had)" : begin
    }
}
