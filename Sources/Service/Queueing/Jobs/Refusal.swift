import JobModel

/// A change of a job that its state does not allow, or that names jobs that it cannot need. Nothing has changed.
package struct Refusal: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case unknownJob
        case keyIsUsed(String)
        case hasEnded(JobState.End)
        case isHeld
        case isStarting
        case isRunning(run: String)
        /// It has a process, so its dependencies decide nothing any more.
        case hasStarted
        case hasNotEnded(JobState.Name)
        /// Nothing is left to repeat.
        case isDone
        /// A new job repeats it already.
        case wasRetried(as: JobID)
        case needsUnknown(JobID)
        case needsItself
        case needsLater(JobID)
        case needsTwice(JobID)
        case needsFailed(JobID, JobState.End)
        case tooManyNeeds(Int)
        /// A step of a process that does not follow from the state.
        case unexpected(Step, JobState.Name)
    }

    package enum Step: String, Hashable, Sendable {
        case start = "be started"
        case started = "have begun its run"
        case startFailed = "fail to start"
        case processEnded = "have a process that ends"
        case skip = "be skipped"
    }

    package let job: JobID
    package let problem: Problem

    package init(_ job: JobID, _ problem: Problem) {
        self.job = job
        self.problem = problem
    }

    /// One line that says what is wrong. A line that begins with `   = ` may follow, and says what to do.
    package var message: String {
        switch problem {
        case .unknownJob: "there is no \(job)\n   = 'penumbra queue --all' lists all jobs"
        case .keyIsUsed(let key):
            "\(job) has the key '\(VisibleText.line(key))', and was another request\n   = use a new key for a new job"
        case .hasEnded(let end): "\(job) has ended: \(end.words)"
        case .isHeld: "\(job) is held\n   = release it first"
        case .isStarting: "\(job) is starting\n   = cancel it, or pause its run in a moment"
        case .isRunning(let run): "\(job) is running\n   = 'penumbra pause \(VisibleText.line(run))' pauses its run"
        case .hasStarted:
            "\(job) has started, so it needs no other job any more\n   = cancel it, and submit it again with other jobs to wait for"
        case .hasNotEnded(let state): "\(job) has not ended: it is \(state.rawValue)\n   = cancel it first"
        case .isDone: "\(job) has ended: done\n   = submit it again to run it again"
        case .wasRetried(let retry): "\(job) was retried as \(retry)\n   = retry \(retry) if it does not succeed"
        // The number of a new job is not told: nobody has it if the job is refused.
        case .needsUnknown(let other): "after: there is no \(other)\n   = 'penumbra queue --all' lists all jobs"
        case .needsItself: "after: \(job) cannot wait for itself\n   = name other jobs"
        case .needsLater(let other):
            "after: \(other) is later than \(job), and a job waits only for earlier ones\n   = submit a new job that waits "
                + "for \(other)"
        case .needsTwice(let other): "after: \(other) is there twice\n   = name each job once"
        case .needsFailed(let other, let end):
            "the job would never start: it needs the success of \(other), which has ended: \(end.words)\n   = retry "
                + "\(other), and name the new job, or write '\(other.number):end'"
        case .tooManyNeeds(let count):
            "after: there are \(count) jobs, and a job waits for at most \(Submission.mostNeeds)\n   = name fewer jobs"
        case .unexpected(let step, let state): "\(job) cannot \(step.rawValue): it is \(state.rawValue)"
        }
    }
}
