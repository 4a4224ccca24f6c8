import Catalogs
import Foundation

enum Line {
    /// A row of the table; times in milliseconds for a tile.
    static func text(_ name: String, _ format: SampleFormat, _ direct: Double, _ hosted: Double, _ over: Double)
        -> String
    {
        let label = name.padding(toLength: 16, withPad: " ", startingAt: 0)
        let kind = format.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
        return label + kind + String(format: "%8.3f ms %7.3f ms %5.1f %%", direct * 1000, hosted * 1000, over)
    }
}

enum ProgramFolder {
    /// Where plugins are built, too.
    static var path: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent().path
    }
}
