import Foundation
import TestSupport
import Testing

/// All of some hundred random corruptions are found, and nothing else is called damaged.
@Suite(.serialized) struct CorruptionTests {
    let workspace: Workspace
    private let names: [String]

    init() async throws {
        workspace = try Workspace()
        names = (10..<34).map { "\($0).png" }
        for (index, name) in names.enumerated() {
            try workspace.draw("photos/\(name)", width: 20 + index, height: 40 - index)
            try workspace.age("photos/\(name)")
        }
        try workspace.writeNightly(radius: "2")
        #expect(try await Program.night(workspace).published == names.count)
    }

    private func states() async throws -> [String: String] {
        let result = try await Program.run("verify", "job.yaml", "--json", in: workspace)
        let lines = try VerifyLine.all(in: result.output).filter { $0.event == "verified" }
        return Dictionary(
            lines.map { (String($0.path?.split(separator: "/").last ?? ""), $0.state ?? "") }
        ) { $1 }
    }

    @Test(arguments: 1...12)
    func `every corruption is found, whatever times and sizes say`(seed: Int) async throws {
        var random = SplitMix64(seed: UInt64(seed))
        var expected = Dictionary(names.map { ($0, "as published") }) { $1 }
        for name in names.dropLast(4) where random.next() % 8 != 0 {
            let corruption = Corruption.random(of: try workspace.read("out/\(name)"), using: &random)
            try workspace.corrupt("out/\(name)", corruption)
            expected[name] = corruption.state
        }
        let (one, other) = (names[names.count - 1 - seed % 2], names[names.count - 3 - seed % 2])
        let (first, second) = (try workspace.read("out/\(one)"), try workspace.read("out/\(other)"))
        try workspace.overwrite("out/\(one)", second)
        try workspace.overwrite("out/\(other)", first)
        (expected[one], expected[other]) = ("swapped", "swapped")
        #expect(try await states() == expected, "seed \(seed)")
    }
}
