package import JobModel

/// Metrics of runs for the textfile collector of Prometheus' node_exporter.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>
package enum PrometheusText {
    /// The whole file. Each family appears once, with a sample for each job.
    ///
    /// - Parameters:
    ///   - runs: runs with the same job name are added, because a sample may appear only once.
    ///   - lastSuccess: the time of each job's last success, in seconds since 1970, from ``lastSuccess(of:in:)`` of the old
    ///     file. It stays for a job that failed now.
    package static func text(of runs: [RunReport], lastSuccess: [String: Double] = [:]) -> String {
        let tallies = Tally.ofJobs(in: runs)
        return families.map { family in
            let samples = tallies.flatMap { tally in family.samples(tally, lastSuccess[tally.job]) }
            // A family without samples is left out.
            guard !samples.isEmpty else { return "" }
            return "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) gauge\n"
                + samples.map { "\(family.name){\($0.labels)} \($0.value)\n" }.joined()
        }.joined()
    }

    /// The time of a job's last success, in seconds since 1970, from a file of ``text(of:lastSuccess:)``.
    package static func lastSuccess(of job: String, in text: String) -> Double? {
        value(of: successFamily, job, in: text)
    }

    static func value(of family: String, _ job: String, in text: String) -> Double? {
        let prefix = prefix(family, job)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) where line.starts(with: prefix.utf8) {
            if let value = Double(Substring(line.dropFirst(prefix.utf8.count))), value.isFinite { return value }
        }
        return nil
    }

    /// The beginning of a job's sample.
    static func prefix(_ family: String, _ job: String) -> String { "\(family){\(label("job", job))} " }

    /// `name="value"`, with the three escapes of the format. Other characters that a terminal would obey are shown by their
    /// numbers, see ``VisibleText``.
    package static func label(_ name: String, _ value: String) -> String {
        var text = "\(name)=\""
        // This compares code points, because a carriage return with a newline is one Character.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            case _ where VisibleText.isUnsafe(scalar): text += #"\\u{\#(String(scalar.value, radix: 16))}"#
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// Whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        Int(exactly: value).map { String($0) } ?? "\(value)"
    }
}

// MARK: - Families

extension PrometheusText {
    private struct Sample {
        let labels: String
        let value: String
    }

    private struct Family {
        let name: String
        let help: String
        let labels: [String]
        let samples: @Sendable (Tally, _ lastSuccess: Double?) -> [Sample]

        init(
            _ name: String, _ help: String, label: String? = nil,
            samples: @escaping @Sendable (Tally, _ lastSuccess: Double?) -> [Sample]
        ) {
            self.name = name
            self.help = help
            labels = ["job"] + (label.map { [$0] } ?? [])
            self.samples = samples
        }

        /// A family with one sample for each job.
        init(_ name: String, _ help: String, _ value: @escaping @Sendable (Tally) -> Double) {
            self.init(name, help) { tally, _ in
                [Sample(labels: label("job", tally.job), value: number(value(tally)))]
            }
        }
    }

    static let successFamily = "penumbra_last_success_timestamp_seconds"

    static let successHelp = "The time when a run of the job last ended with exit code 0, in seconds since 1970."
    static let exitCodeFamily = "penumbra_exit_code"
    static let exitCodeHelp = "The exit code of the last run. It is 0 if all is well."
    static let lastRunFamily = "penumbra_last_run_timestamp_seconds"
    static let lastRunHelp = "The time when the last run ended, in seconds since 1970."

    private static let families = [
        Family("penumbra_frames", "The number of frames of the last run, by how they ended.", label: "state") {
            tally, _ in
            FrameResult.Kind.ended.map { ending in
                Sample(
                    labels: "\(label("job", tally.job)),\(label("state", ending.rawValue))",
                    value: String(tally.counts[ending]))
            }
        },
        Family("penumbra_failed_frames", "The number of frames that failed in the last run, by cause.", label: "cause")
        { tally, _ in
            (tally.counts.failedByCause ?? [:]).sorted { $0.key < $1.key }.map { cause, count in
                Sample(labels: "\(label("job", tally.job)),\(label("cause", cause))", value: String(count))
            }
        },
        Family("penumbra_written_bytes", "The bytes of the outputs that the last run published.") {
            Double($0.counts.bytesWritten)
        },
        Family("penumbra_megapixels", "The megapixels of the inputs that the last run rendered.") {
            $0.counts.megapixels
        },
        Family("penumbra_run_seconds", "The time that the last run took, in seconds.") { $0.seconds },
        Family(exitCodeFamily, exitCodeHelp) { Double($0.exitCode) },
        Family(lastRunFamily, lastRunHelp) { $0.ended },
        Family(successFamily, successHelp) { tally, before in
            (tally.exitCode == 0 ? tally.ended : before).map {
                [Sample(labels: label("job", tally.job), value: number($0))]
            } ?? []
        },
        Family("penumbra_workers_replaced", "The number of workers that died in the last run and were replaced.") {
            $0.workersReplaced
        },
        Family("penumbra_slots_retired", "The number of worker slots that the last run gave up because they failed.") {
            $0.retiredSlots
        },
        Family("penumbra_orphans", "The number of outputs whose inputs no longer exist.") { $0.orphans },
    ]

    /// All families, for the reference.
    package static var described: [DescribedMetric] {
        families.map { DescribedMetric($0.name, labels: $0.labels, $0.help) }
    }

    /// The totals of one job's runs.
    private struct Tally {
        let job: String
        var counts = RunCounts()
        var seconds = 0.0
        var exitCode: Int32 = 0
        var ended = 0.0
        var workersReplaced = 0.0
        var retiredSlots = 0.0
        var orphans = 0.0

        /// In the order of each job's first run.
        static func ofJobs(in runs: [RunReport]) -> [Tally] {
            var tallies: [Tally] = []
            for run in runs {
                // Prometheus compares the bytes of labels.
                let index = tallies.firstIndex { $0.job.utf8.elementsEqual(run.job.utf8) }
                if index == nil { tallies.append(Tally(job: run.job)) }
                tallies[index ?? tallies.count - 1].add(run)
            }
            return tallies
        }

        private mutating func add(_ run: RunReport) {
            counts += run.counts
            seconds += run.elapsed / .seconds(1)
            exitCode = max(exitCode, run.exitCode)
            ended = max(ended, run.ended.seconds)
            workersReplaced += Double(run.workersReplaced)
            retiredSlots += Double(run.retiredSlots)
            orphans += Double(run.orphans.count)
        }
    }
}

/// Runs that could not start, because their inputs were missing or another run was going on.
extension PrometheusText {
    /// The end of a job's last run, in seconds since 1970, from a file of ``text(of:lastSuccess:)``.
    package static func lastRun(of job: String, in text: String) -> Double? { value(of: lastRunFamily, job, in: text) }

    /// A file with new exit codes and times of some jobs. The rest stays, because it describes runs that started.
    ///
    /// - Parameters:
    ///   - ended: the time in seconds since 1970.
    ///   - text: a file of ``text(of:lastSuccess:)``; may be empty.
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

    /// Replaces the job's sample, or adds it behind those of other jobs, or adds the family.
    private static func set(
        _ family: String, _ help: String, _ job: String, _ value: Double, _ lines: inout [String]
    ) {
        let prefix = prefix(family, job)
        let line = prefix + number(value)
        // Prometheus compares the bytes of labels.
        if let index = lines.firstIndex(where: { $0.utf8.starts(with: prefix.utf8) }) {
            lines[index] = line
        } else if let last = lines.lastIndex(where: { $0.hasPrefix("\(family){") }) {
            lines.insert(line, at: last + 1)
        } else {
            lines += ["# HELP \(family) \(help)", "# TYPE \(family) gauge", line]
        }
    }
}
