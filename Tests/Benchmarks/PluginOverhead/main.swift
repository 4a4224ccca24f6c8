// What a plugin's call costs beside its pixels. The same machine code renders a tile of 512 pixels, once called by the
// farm's host (in guarded memory, with the floating-point mode kept) and once directly on the picture's own memory, as a
// filter inside the program is, on one thread, in turns, each with an input that was just written and a target that was
// just cleared. The best processor times of 40 turns make a ratio, and the median ratio of seven sittings counts.
//
//     plugin-overhead [--require BARS.json] [FILTER…]
//
// With bars it exits with 1 where one is missed, or a filter has none.

import Catalogs
import Filters
import Glibc
import PluginLoading

var arguments = CommandLine.arguments.dropFirst()
var bars: [String: OverheadBar]?
if arguments.first == "--require" {
    let path = arguments.dropFirst().first ?? ""
    do { bars = try OverheadBar.read(path) } catch {
        print("\(path) has no bars (\(error)); write plugin-overhead --require Tests/Benchmarks/PluginBars.json")
        exit(2)
    }
    arguments = arguments.dropFirst(2)
}

let found = PluginLoader(reservedNames: []).load([PluginFolder(ProgramFolder.path, isImplicit: true)])
for problem in found.problems { print(problem) }

print(Line.header)
var missed: [String] = []
for plugin in found.plugins where arguments.isEmpty || arguments.contains(plugin.name) {
    for format in SampleFormat.allCases {
        guard let race = OverheadRace(plugin, format) else { continue }
        let title = "\(plugin.name) \(format.rawValue)"
        let (overhead, bar) = (race.run(), bars?[title])
        print(Line.text(plugin.name, format, overhead, bar))
        if bars != nil, overhead.percent > bar?.kept ?? 0 { missed.append(title) }
    }
}
if !missed.isEmpty { print("missed: \(missed.joined(separator: ", "))") }
exit(missed.isEmpty ? 0 : 1)
