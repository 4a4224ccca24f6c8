import ArgumentParser
import Foundation
import Glibc

/// Which programs are tested, and where.
struct LocationOptions: ParsableArguments {
    @Option(help: "The penumbra that is tested. Default: the one beside this program.") var penumbra: String?
    @Option(help: "Its worker program. Default: the one beside this program.") var worker: String?
    @Option(help: "Where the command makes a new folder for its workspaces. Default: where temporary files are.")
    var folder: String?
    @Flag(help: "Keep all workspaces, not only those where something was wrong.") var keep = false

    /// Makes a new folder in ``folder``. Only this one is ever removed, because anything may be in the given one.
    func makeFolder() throws -> String {
        let parent = URL(filePath: folder ?? NSTemporaryDirectory())
        try Folder.create(parent.path)
        return try Folder.createUnique("penumbra-faults-", in: parent.path)
    }
}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs scenarios: some seeds, or for some minutes.")

    @Option(help: "Seeds, as 1-500. Each one takes the next kind.") var seeds: String?
    @Option(help: "One seed.") var seed: UInt64?
    @Option(help: "For so long, with seeds from a random one on.") var minutes: Double?
    @Option(help: "Only these kinds: worker-kill,disk-full.") var kind: String?
    @Option(help: "Kinds that seeds choose from: standard, shards or service.") var family = ScenarioKind.Family
        .standard
    @Option(help: "Only on this job: tiles-png, zoom, … Default: one that the seed chooses.") var job: String?
    @OptionGroup var place: LocationOptions

    func run() throws {
        PrivateMounts.enter()
        let folder = try place.makeFolder()
        let interruption = Interruptions(folder: folder)
        defer { withExtendedLifetime(interruption) {} }
        let results: [ScenarioResult]
        do {
            let programs = try Programs(penumbra: place.penumbra, worker: place.worker)
            let real = try Programs(penumbra: nil, worker: place.worker).orTested(programs)
            results = try play(ScenarioRun(programs, real: real, folder: folder, keepsAll: place.keep), in: folder)
        } catch let error as any CustomStringConvertible & Error where !(error is ValidationError) {
            say("the harness failed: \(error)")
            throw ExitCode(70)
        }
        say("\n" + SummaryTable.table(results))
        let bad = results.filter { !$0.violations.isEmpty }
        for result in bad {
            let own = job.map { " --job \($0)" } ?? ""
            say("again: penumbra-faults run --seed \(result.seed) --kind \(result.kind.rawValue)\(own)")
        }
        // A folder that stays harms nobody.
        if bad.isEmpty, !place.keep { try? FileManager.default.removeItem(atPath: folder) }
        if !bad.isEmpty { throw ExitCode(1) }
    }

    private func play(_ scenario: ScenarioRun, in folder: String) throws -> [ScenarioResult] {
        let kinds = try self.kinds()
        let range = try self.range()
        let variant = JobVariant.all.first { $0.name == job }
        guard job == nil || variant != nil else {
            throw ValidationError(
                "there is no job like that; write \(JobVariant.all.map(\.name).joined(separator: ", "))")
        }
        let end = minutes.map { Moment.now + $0 * 60 } ?? .infinity
        say("seeds \(range.lowerBound) and on, \(kinds.count) kinds, in \(folder)")
        var results: [ScenarioResult] = []
        for seed in range where Moment.now < end {
            let kind = kinds[Int(seed % UInt64(kinds.count))]
            let result = try scenario(seed: seed, kind: kind, variant: variant)
            say(SummaryTable.line(result))
            for violation in result.violations { say("    \(violation)") }
            if !result.violations.isEmpty { say("    kept: \(scenario.folder(of: seed, kind))") }
            results.append(result)
        }
        if minutes == nil || seeds != nil, results.count < range.count {
            say("\(range.count - results.count) seeds were not tried: the time was over")
        }
        return results
    }

    private func kinds() throws -> [ScenarioKind] {
        guard let kind else { return family.kinds }
        return try kind.split(separator: ",").map { name in
            guard let kind = ScenarioKind(rawValue: String(name)) else {
                throw ValidationError("there is no kind '\(name)'; 'penumbra-faults list' lists them")
            }
            return kind
        }
    }

    private func range() throws -> ClosedRange<UInt64> {
        if let seed { return seed...seed }
        guard let seeds else {
            let first = UInt64.random(in: 1...999_999)
            return first...(minutes == nil ? first + 99 : first + 1_000_000)
        }
        let ends = seeds.split(separator: "-").compactMap { UInt64($0) }
        guard let first = ends.first, let last = ends.last, first <= last else {
            throw ValidationError("'\(seeds)' are no seeds; write 1-500")
        }
        return first...last
    }
}

extension ScenarioKind.Family: ExpressibleByArgument {}

/// At once, for whoever watches a log.
func say(_ text: String) {
    while Interruptions.hasBegun { pause(1) }
    Bytes.write(Array((text + "\n").utf8), to: STDOUT_FILENO)
}

extension Programs {
    /// Those beside this program, if they are there; else those that are tested.
    func orTested(_ tested: Programs) -> Programs {
        FileManager.default.isExecutableFile(atPath: penumbra) ? self : tested
    }
}
