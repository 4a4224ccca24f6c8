/// What people change of a job. A change that asks for what is so already changes nothing and is not refused, so that
/// requests can be repeated.
extension Submission {
    /// Keeps it from starting until ``release(at:)``.
    package mutating func hold() throws(Refusal) {
        switch state {
        case .held: break
        case .waiting(let waiting): state = .held(waiting)
        case .starting: throw Refusal(id, .isStarting)
        case .running(let running): throw Refusal(id, .isRunning(run: running.run))
        case .ended(let ended): throw Refusal(id, .hasEnded(ended.end))
        }
    }

    /// Lets it start, also if it waits for another try. It waits from now on: time that it was held does not count for aging.
    package mutating func release(at now: WallTime) throws(Refusal) {
        switch state {
        case .held(var waiting):
            waiting.since = now
            state = .waiting(waiting.trying())
        case .waiting(let waiting): state = .waiting(waiting.trying())
        case .starting, .running: break
        case .ended(let ended): throw Refusal(id, .hasEnded(ended.end))
        }
    }

    /// Ends it. If it has a process, the process is asked to end (``JobState/request``), and its end is the job's.
    package mutating func cancel(by owner: Owner, at now: WallTime) throws(Refusal) {
        switch state {
        case .held(let waiting), .waiting(let waiting):
            end(.cancelled(by: owner), run: waiting.resumes, waiting.history, at: now)
        case .starting(var starting):
            starting.request = starting.request.orCancel(by: owner)
            state = .starting(starting)
        case .running(var running):
            running.request = running.request.orCancel(by: owner)
            state = .running(running)
        case .ended(let ended): throw Refusal(id, .hasEnded(ended.end))
        }
    }

    /// Puts it before all other jobs, also before those of which somebody asked the same earlier. If it waits for another try, that
    /// comes now.
    package mutating func runNext(at now: WallTime) throws(Refusal) {
        switch state {
        case .held: throw Refusal(id, .isHeld)
        case .waiting(let waiting):
            state = .waiting(waiting.trying())
            expedited = now
        case .starting, .running: expedited = now
        case .ended(let ended): throw Refusal(id, .hasEnded(ended.end))
        }
    }

    /// Takes effect while it waits and while it runs, and replaces an earlier ``runNext(at:)``.
    package mutating func set(_ priority: Priority) throws(Refusal) {
        if case .ended(let ended) = state { throw Refusal(id, .hasEnded(ended.end)) }
        self.priority = priority
        expedited = nil
    }

    /// - Parameter known: Looks up a job that it is to need.
    package mutating func set(_ needs: [Need], known: (JobID) -> KnownJob?) throws(Refusal) {
        switch state {
        case .held, .waiting: break
        case .starting, .running: throw Refusal(id, .hasStarted)
        case .ended(let ended): throw Refusal(id, .hasEnded(ended.end))
        }
        self.needs = try Need.checked(needs, of: id, known: known)
    }

    /// Labels of a job can change after its end, too.
    package mutating func set(_ labels: Labels) { self.labels = labels }

    /// A new job that does the same again, and also tries pictures that are still broken.
    ///
    /// It needs what this job needed, as far as it still has to wait for it. If a needed job failed and was retried,
    /// the new job needs the latest retry.
    ///
    /// - Parameters:
    ///   - limit: Lowers the priority. Nil if the owner may choose every priority.
    ///   - known: Looks up a job that this one needed, or a retry of it.
    package func retry(
        as id: JobID, by owner: Owner, key: String? = nil, digest: String, deadline: RetryDeadline = .kept,
        limit: PriorityLimit? = nil, at now: WallTime, known: (JobID) -> KnownJob?
    ) throws -> Submission {
        guard state.isEnded else { throw Refusal(self.id, .hasNotEnded(state.name)) }
        // Nothing is left of the others.
        guard canBeRetried else { throw Refusal(self.id, .isDone) }
        var needs: [Need] = []
        for need in self.needs {
            guard let open = try need.latest(of: self.id, known: known), !needs.contains(open) else { continue }
            needs.append(open)
        }
        return try Submission(
            id: id, owner: owner, key: key, digest: digest, name: name, manifest: manifest,
            options: options.retried(deadline), priority: limit?.lowered(priority) ?? priority, labels: labels,
            needs: needs, retryOf: self.id, at: now, known: known)
    }

    /// Whether it has ended, and something is left to repeat.
    var canBeRetried: Bool {
        guard case .ended(let ended) = state else { return false }
        return ended.end != .done || ended.leftovers.stillBroken > 0
    }

    /// Why a retry would do nothing, or the same as another job. Nil if a retry is worth it.
    ///
    /// - Parameter retry: The latest job that repeats this one.
    package func obstacleToRetry(after retry: JobID?) -> Refusal? {
        guard state.isEnded else { return Refusal(id, .hasNotEnded(state.name)) }
        guard canBeRetried else { return Refusal(id, .isDone) }
        return retry.map { Refusal(id, .wasRetried(as: $0)) }
    }

    /// Ends it.
    mutating func end(
        _ end: JobState.End, run: String?, _ history: JobState.History,
        leaving leftovers: JobState.Leftovers = JobState.Leftovers(), at now: WallTime
    ) {
        state = .ended(
            .init(
                end: end, time: now, run: run, tries: history.tries, wasDelayed: history.isDelayed,
                started: state.started, leftovers: leftovers))
    }
}

extension JobState.Waiting {
    /// Without the pause before another process. Somebody may have mended what was wrong, so failures are counted anew.
    fileprivate func trying() -> Self {
        guard pause != nil else { return self }
        var waiting = self
        (waiting.pause, waiting.history.setback) = (nil, nil)
        return waiting
    }
}

extension JobState.Request? {
    /// Who asked first to cancel a job has cancelled it.
    fileprivate func orCancel(by owner: Owner) -> JobState.Request {
        switch self {
        case .cancel(let first): .cancel(by: first)
        case .stop, nil: .cancel(by: owner)
        }
    }
}

extension Need {
    /// The need of the latest retry of its job. Nil if it is met.
    ///
    /// - Parameter id: the job that is retried.
    fileprivate func latest(of id: JobID, known: (JobID) -> KnownJob?) throws(Refusal) -> Need? {
        var job = self.job
        while let other = known(job), let end = other.end {
            if isMet(by: end) { return nil }
            // Retries have higher numbers, so this ends.
            guard let retry = other.retriedAs, retry > job else { throw Refusal(id, .needsFailed(job, end)) }
            job = retry
        }
        return Need(job, on: on)
    }
}
