/// Runs that ended before they began: their inputs were missing, or another run was going on.
extension PrometheusText {
    /// When a job's last run ended, in seconds since 1970, as a file that ``text(of:lastSuccess:)`` made tells it.
    package static func lastRun(of job: String, in text: String) -> Double? { value(of: lastRunFamily, job, in: text) }

    /// A file with other exit codes and times of some jobs. All else in it stays: it tells of runs that did something.
    ///
    /// - Parameters:
    ///   - ended: in seconds since 1970.
    ///   - text: one that ``text(of:lastSuccess:)`` made; may be empty.
    package static func text(
        _ text: String, afterUnstarted jobs: [String], exitCode: Int32, ended: Double
    ) -> String {
        var lines = text.split(separator: "\n").map(String.init)
        for job in jobs {
            set(exitCodeFamily, exitCodeHelp, job, Double(exitCode), &lines)
            set(lastRunFamily, lastRunHelp, job, ended, &lines)
            if exitCode == 0 { set(successFamily, successHelp, job, ended, &lines) }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// In the place of the job's sample, or behind those of the other jobs, or in a family of its own.
    private static func set(
        _ family: String, _ help: String, _ job: String, _ value: Double, _ lines: inout [String]
    ) {
        let prefix = prefix(family, job)
        let line = prefix + number(value)
        // By bytes, as Prometheus compares labels.
        if let place = lines.firstIndex(where: { $0.utf8.starts(with: prefix.utf8) }) {
            lines[place] = line
        } else if let last = lines.lastIndex(where: { $0.hasPrefix("\(family){") }) {
            lines.insert(line, at: last + 1)
        } else {
            lines += ["# HELP \(family) \(help)", "# TYPE \(family) gauge", line]
        }
    }
}
