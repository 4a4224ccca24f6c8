import Foundation
import Glibc
import TestSupport
import Testing

/// A nightly run that is killed at random moments, each time followed by the next run.
///
/// `PENUMBRA_KILLS` says how many kills there are (25, for some 15 seconds), `PENUMBRA_KILLS_SEED` at which moments: it is
/// printed, and with every failure. `PENUMBRA_KILLS=100 swift test -c release --filter NightlyKillTests`
@Suite(.serialized) struct NightlyKillTests {
    let workspace: Workspace
    private let seed: UInt64
    private let kills: Int

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        seed = environment["PENUMBRA_KILLS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)
        kills = environment["PENUMBRA_KILLS"].flatMap { Int($0) } ?? 25
        workspace = try Workspace()
        for number in 0..<16 {
            try workspace.draw("pool/\(number).png", width: 160 + number * 9, height: 120 + number * 5)
        }
        for number in 0..<14 { try workspace.copy("pool/\(number).png", to: photo(number)) }
        try workspace.writeNightly(radius: "12")
    }

    private func photo(_ number: Int) -> String { "photos/\(number + 10).png" }

    /// Somebody adds, changes and removes photographs.
    private func changePhotos(_ random: inout SplitMix64) throws {
        for number in (0..<20).shuffled(using: &random).prefix(.random(in: 2...8, using: &random)) {
            let isThere = workspace.exists(photo(number))
            if isThere { try workspace.remove(photo(number)) }
            guard !isThere || .random(in: 0..<10, using: &random) < 7 else { continue }
            try workspace.copy("pool/\(Int.random(in: 0..<16, using: &random)).png", to: photo(number))
        }
    }

    private func options(_ random: inout SplitMix64) -> [String] {
        let durability = Bool.random(using: &random) ? "file" : "batch"
        return ["run", "job.yaml", "--json", "--set", "durability=\(durability)", "--delete-orphans=all"]
    }

    /// Kills the coordinator alone; its workers leave by themselves.
    ///
    /// - Returns: false when it was over before.
    private func kill(_ options: [String], after delay: UInt32) throws -> Bool {
        let program = try RunningProgram(options, in: workspace)
        usleep(delay)
        let workers = program.workers
        Glibc.kill(program.processID, SIGKILL)
        let result = program.finish()
        #expect([0, 128 + SIGKILL].contains(result.code), "seed \(seed): \(result.errors)")
        while workers.contains(where: isAlive) { usleep(1000) }
        return result.code != 0
    }

    /// A run to its end, after which everything is as it should be.
    private func run(_ options: [String], _ night: String) async throws {
        let result = try await Program.run(Program.penumbra, options, in: workspace)
        try #require(result.code == 0, "\(night): \(result.errors)\(result.output)")
        #expect(try NightSummary(result).kept == 0, "\(night): \(result.output)")
        #expect(workspace.leftovers() == [], "\(night)")
        #expect(workspace.files(below: "out") == workspace.files(below: "photos"), "\(night)")
    }

    @Test func `kills at random moments leave no torn or missing output, no stray file and no stale lock`() async throws
    {
        print("NightlyKillTests: \(kills) kills, PENUMBRA_KILLS_SEED=\(seed)")
        var random = SplitMix64(seed: seed)
        let clock = ContinuousClock()
        let first = try await clock.measure { try await run(options(&random), "first night") }
        // As long as the first night took, which made all outputs: later ones make fewer. (Beside other tests it may take
        // very long.)
        let longest = UInt32(min(max(50_000, first / .microseconds(1)), 800_000))
        var (killed, night) = (0, 0)
        // Where every run is over before its kill, that is no test; the loop ends nevertheless.
        while killed < kills, night < 3 * kills {
            night += 1
            try changePhotos(&random)
            let options = options(&random)
            if try kill(options, after: .random(in: 0...longest, using: &random)) { killed += 1 }
            try await run(options, "seed \(seed), night \(night)")
        }
        #expect(killed >= kills / 4, "seed \(seed)")

        let known = try await Program.run(Program.penumbra, options(&random), in: workspace)
        #expect(try NightSummary(known) == NightSummary(skipped: workspace.files(below: "photos").count))
        try workspace.remove("state")
        let found = try await Program.run(Program.penumbra, options(&random), in: workspace)
        #expect(
            try NightSummary(found) == NightSummary(skipped: workspace.files(below: "photos").count),
            "seed \(seed): the index beside the outputs knows all of them")
        try workspace.writeManifest("calm.yaml", filters: "[{gaussian: {radius: 12}}]", output: "calm/{stem}.png")
        #expect(try await Program.run("run", "calm.yaml", in: workspace).code == 0)
        #expect(try workspace.contents(below: "out") == workspace.contents(below: "calm"), "seed \(seed)")
    }
}
