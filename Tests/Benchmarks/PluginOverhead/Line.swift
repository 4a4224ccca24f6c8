import Catalogs
import Foundation

/// What a tile costs in both ways, in seconds.
struct Overhead {
    var direct: Double
    var hosted: Double

    var percent: Double { (hosted / direct - 1) * 100 }
}

/// How much may be added to a filter's time, in percent: what is wanted, and beyond what the benchmark fails.
struct OverheadBar: Decodable {
    let goal: Double
    let kept: Double

    static func read(_ path: String) throws -> [String: OverheadBar] {
        try JSONDecoder().decode([String: OverheadBar].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

enum Line {
    static let header = "filter          samples   direct    as plugin   over"

    /// A row of the table; times in milliseconds for a tile.
    static func text(_ name: String, _ format: SampleFormat, _ overhead: Overhead, _ bar: OverheadBar?) -> String {
        let label = name.padding(toLength: 16, withPad: " ", startingAt: 0)
        let kind = format.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
        let times = String(
            format: "%8.3f ms %8.3f ms %6.1f %%", overhead.direct * 1000, overhead.hosted * 1000, overhead.percent)
        let bars = bar.map { String(format: "   goal %g, kept %g", $0.goal, $0.kept) } ?? ""
        return label + kind + times + bars
    }
}

enum ProgramFolder {
    /// Where plugins are built, too.
    static var path: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent().path
    }
}
