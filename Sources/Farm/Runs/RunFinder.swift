package import JobModel
import Planning

/// Finds the run that a person means.
package struct RunFinder<Run> {
    /// What it has to know of a run.
    package struct Facts {
        package let name: String
        package let job: String
        package let isEnded: Bool

        package init(name: String, job: String, isEnded: Bool) {
            (self.name, self.job, self.isEnded) = (name, job, isEnded)
        }
    }

    /// The latest first.
    private let runs: [(facts: Facts, run: Run)]
    /// The command that lists the runs, for messages.
    private let listing: String
    /// The folder that the runs are in, for messages. Nil if the caller need not be told.
    private let folder: String?

    /// - Parameter runs: the latest first.
    package init(_ runs: [Run], listing: String = "penumbra status", folder: String? = nil, facts: (Run) -> Facts) {
        self.runs = runs.map { (facts($0), $0) }
        self.listing = listing
        self.folder = folder
    }

    /// - Parameter name: a run's name or its unique beginning, or a job's name for its latest run; nil for the latest run
    ///   of all.
    package func run(_ name: String?) throws(FarmError) -> Run {
        guard let name else {
            guard let latest = runs.first else { throw FarmError(.missingInput, "nothing has run yet") }
            return latest.run
        }
        if let exact = runs.first(where: { $0.facts.name == name }) { return exact.run }
        // An unset variable of a script gives an empty name, with which every name begins.
        let matches = name.isEmpty ? [] : runs.filter { $0.facts.name.hasPrefix(name) }
        if matches.count == 1 { return matches[0].run }
        if let latest = runs.first(where: { $0.facts.job == name }) { return latest.run }
        throw FarmError(
            .missingInput,
            matches.isEmpty
                ? "no run or job is called '\(PathText.visible(name))'\n   = '\(listing)' lists them\(Self.hint(name))"
                : "\(matches.count) runs begin with '\(PathText.visible(name))'\n   = give more of the name")
    }

    /// Jobs of a service have numbers, and they have runs only once they have started. A number may mean something else.
    private static func hint(_ name: String) -> String {
        let number = name.hasPrefix("job-") ? name.dropFirst(4) : name[...]
        guard number.utf8.count < 19, let job = Int(number), job > 0 else { return "" }
        let wait = "'penumbra queue wait \(job)'"
        return name.hasPrefix("job-")
            ? "\n   = \(wait) waits for job \(job) of the service"
            : "\n   = if a service has job \(job), \(wait) waits for it"
    }

    /// Like ``run(_:)``, for actions that cannot be undone. If several runs have not ended, a name is needed.
    ///
    /// - Returns: nil if no name was given, and all runs have ended.
    package func run(toEnd name: String?) throws(FarmError) -> Run? {
        guard name == nil else { return try run(name) }
        let open = runs.filter { !$0.facts.isEnded }
        guard open.count > 1 else {
            if open.isEmpty { _ = try run(nil) }
            return open.first?.run
        }
        let names = open.map { "\($0.facts.name) of \($0.facts.job)" }
        let subject =
            folder.map { "\($0): \(open.count) runs there have not ended" } ?? "\(open.count) runs have not ended"
        throw FarmError(.usage, "\(subject)\n   = name one of them: \(names.joined(separator: ", "))")
    }
}
