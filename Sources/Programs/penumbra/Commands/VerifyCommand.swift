import ArgumentParser
import Coordination
import JobModel
import Planning
import RenderFarm
import Runs
import Settings

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that outputs are as they were published.",
        discussion: """
            Reads outputs and compares their bytes with what was recorded when they were published, whatever their sizes \
            and times say. A manifest (.yaml, .yml) stands for all outputs of its job, a folder for all recorded outputs \
            below it. Records come from the state folder, else from the '.penumbra-index' beside the outputs, else \
            from an output's own receipt. Works during runs, and changes nothing without --repair.

            --rerender renders the outputs again from their recorded inputs and filters, as a run does, and compares the \
            bytes, or else the pixels. The new outputs are removed.

            --repair renders missing and damaged outputs again. It runs their jobs by their present manifests, for the pictures of \
            these outputs alone. Then it checks the outputs once more. An output that was written since it was published stays, \
            because somebody may have edited it. With --force it is rendered again, too.

            Exit codes:

              0   All outputs are as they were published.
              1   An output is not, or is not known.
              66  A manifest is missing, or its job has published nothing yet.
            """)

    @Argument(
        help: ArgumentHelp("Outputs, folders of outputs, or manifests.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("Only so many outputs, chosen at random: 50, 1%.", valueName: "n"))
    var sample: SampleArgument?

    @Option(help: ArgumentHelp("Chooses the same sample again.", valueName: "n"))
    var seed: UInt64?

    @Flag(help: "Also render the outputs again, and compare.")
    var rerender = false

    @Flag(help: "Render missing and damaged outputs again.")
    var repair = false

    @Flag(help: "With --repair, also replace outputs that somebody may have edited.")
    var force = false

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if files.contains("") { throw ValidationError("A path is empty; name outputs, folders or manifests.") }
        if force, !repair { throw ValidationError("--force belongs to --repair; give both.") }
        if seed != nil, sample == nil { throw ValidationError("--seed belongs to --sample; give both.") }
    }

    func run() async throws {
        try await ConsoleReporter(output).handling { reporter in
            let verifier = try OutputVerifier(
                Farm(try Settings.load(location)), control: (repair ? .ofRuns : Signals()).control, listener: reporter,
                folder: reporter.folder)
            let found = try await verifier.find(files)
            for job in found.unpublishedJobs {
                reporter.complain("\(job): nothing is known of its outputs; has it run with this state folder?")
            }
            if !found.unknown.isEmpty { show(unknown: found.unknown, reporter) }
            let chosen = found.outputs.sampled(sample?.sample, seed: seed ?? UInt64(UInt32.random(in: .min ... .max)))
            let outcome = try await verify(chosen, verifier, reporter)
            // Damage counts more than a job that has published nothing.
            return outcome == .done ? found.outcome : outcome
        }
    }

    private func verify(
        _ chosen: ChosenOutputs, _ verifier: OutputVerifier, _ reporter: ConsoleReporter
    ) async throws -> RunOutcome {
        guard !chosen.outputs.isEmpty else { return .done }
        defer { reporter.endProgress() }
        let start = ContinuousClock.now
        let compared = try await verifier.compare(chosen.outputs)
        let elapsed = ContinuousClock.now - start
        let lost = try verifier.lostDisks(of: compared)
        show(compared, chosen, lost: lost, elapsed: elapsed, state: verifier.stateFolder, reporter)
        var present = compared
        if repair, compared.contains(where: \.condition.isDamage) {
            present = try await mend(compared, verifier, reporter)
        }
        var isDamaged = present.contains(where: \.condition.isDamage)
        if rerender {
            let start = ContinuousClock.now
            let rerendered = try await verifier.rerender(present.map(\.output))
            show(rerendered, elapsed: .now - start, reporter)
            isDamaged = isDamaged || rerendered.contains(where: \.condition.isDamage)
        }
        return isDamaged ? .someFailed : .done
    }

    /// Makes damaged outputs again.
    ///
    /// - Returns: all outputs with their present conditions.
    private func mend(
        _ compared: [VerifiedOutput], _ verifier: OutputVerifier, _ reporter: ConsoleReporter
    ) async throws -> [VerifiedOutput] {
        let repair = OutputRepair(of: compared, replacesEdited: force)
        for job in repair.jobs {
            var request = job.request(in: reporter.folder)
            (request.isQuiet, request.printsJSON) = (output.quiet, output.json)
            (request.configFile, request.stateFolder) = (location.configFile, location.stateDir)
            (request.scratch, request.workers) = (location.scratch, location.workers)
            do {
                _ = try await reporter.follow(RequestedRun(request))
            } catch let error as FarmError where verifier.stop == nil {
                // The jobs of other manifests are not to blame.
                if !error.isReported { reporter.complain(error.message) }
            }
            if let stop = verifier.stop {
                throw FarmError(RunOutcome(stop), "stopped while outputs were repaired; give the command again")
            }
        }
        let again = try await verifier.compare(repair.jobs.flatMap(\.outputs).map(\.output))
        reporter.endProgress()
        report(repair, again, reporter)
        let untouched = compared.filter { !$0.condition.isDamage }
        return untouched + again + repair.edited + repair.unrepairable
    }

    private func report(_ repair: OutputRepair, _ again: [VerifiedOutput], _ reporter: ConsoleReporter) {
        let left = again.filter(\.condition.isDamage)
        let gone = (left + repair.edited + repair.unrepairable).filter(\.isInputGone)
        let line = RepairLine(
            repaired: again.count - left.count, damaged: left.count + repair.edited.count + repair.unrepairable.count,
            edited: repair.edited.count, withoutInput: gone.count)
        if output.json {
            for output in again { VerifiedLine(output).print() }
            line.print()
        } else {
            for text in VerificationText.damage(left, folder: reporter.folder) { Console.complain(text) }
            let remedy = gone.isEmpty ? "" : "\n   = \(VerificationText.remedy(forGone: gone, folder: reporter.folder))"
            reporter.say(line.text(canReplace: repair.edited.contains { !$0.isInputGone }) + remedy)
        }
    }

    private func show(unknown: [String], _ reporter: ConsoleReporter) {
        if output.json {
            for path in unknown { VerifiedLine(unknown: path).print() }
        } else {
            for line in VerificationText.unknown(unknown, folder: reporter.folder) { Console.complain(line) }
        }
    }

    private func show(
        _ outputs: [VerifiedOutput], _ chosen: ChosenOutputs, lost: [String], elapsed: Duration,
        state: String, _ reporter: ConsoleReporter
    ) {
        reporter.endProgress()
        let line = VerificationLine(outputs, chosen.sampling)
        if output.json {
            for output in outputs { VerifiedLine(output).print() }
            lost.forEach(reporter.complain)
            line.print()
        } else {
            for text in VerificationText.damage(outputs, folder: reporter.folder) { Console.complain(text) }
            lost.forEach(reporter.complain)
            let remedies = VerificationText.remedies(outputs, state: state, folder: reporter.folder)
            reporter.say(([line.text(elapsed: elapsed)] + remedies.map { "   = \($0)" }).joined(separator: "\n"))
        }
    }

    private func show(_ outputs: [RerenderedOutput], elapsed: Duration, _ reporter: ConsoleReporter) {
        reporter.endProgress()
        let line = VerificationLine(outputs)
        if output.json {
            for output in outputs { RerenderedLine(output).print() }
            line.print()
        } else {
            let text = RerenderingText(outputs, folder: reporter.folder)
            for line in text.damage { Console.complain(line) }
            if !output.quiet { for line in text.remarks { Console.complain(line) } }
            reporter.say(line.text(elapsed: elapsed))
        }
    }
}

/// The argument of `--sample`: `50`, `1%`, `0.1%`.
struct SampleArgument: ExpressibleByArgument {
    let sample: OutputSample

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        guard number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
        if argument.hasSuffix("%") {
            guard let percent = Double(number), percent > 0, percent <= 100 else { return nil }
            sample = .percent(percent)
        } else {
            guard let count = Int(number), count > 0 else { return nil }
            sample = .count(count)
        }
    }
}

/// The outputs to verify, and how they were chosen.
struct ChosenOutputs {
    let outputs: [RecordedOutput]
    /// The number of all outputs, and the seed; nil if all are verified.
    let sampling: (total: Int, seed: UInt64)?
}

extension [RecordedOutput] {
    fileprivate func sampled(_ sample: OutputSample?, seed: UInt64) -> ChosenOutputs {
        guard let sample else { return ChosenOutputs(outputs: self, sampling: nil) }
        return ChosenOutputs(
            outputs: sample.indexes(of: count, seed: seed).map { self[$0] }, sampling: (count, seed))
    }
}
