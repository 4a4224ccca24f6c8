// What a plugin's call costs beside its pixels: the same machine code, called by the farm's host (in guarded memory, with
// the floating-point mode kept, through the C interface) and called directly on the picture's own memory, as a filter
// inside the program is. One thread, tiles of 512 pixels, turns taken, the best of all rounds.
//
//     plugin-overhead [--require PERCENT] [FILTER…]

import Catalogs
import Filters
import Glibc
import PluginLoading

var arguments = CommandLine.arguments.dropFirst()
var bar: Double?
if arguments.first == "--require" {
    bar = arguments.dropFirst().first.flatMap { Double($0) }
    arguments = arguments.dropFirst(2)
}

let folder = ProgramFolder.path
let found = PluginLoader(reservedNames: []).load([PluginFolder(folder, isImplicit: true)])
for problem in found.problems { print(problem) }

print("filter          samples   direct  as plugin   over")
var isWithin = true
for plugin in found.plugins where arguments.isEmpty || arguments.contains(plugin.name) {
    for format in [SampleFormat.u8, .f32] {
        guard let race = OverheadRace(plugin, format) else { continue }
        let (direct, hosted) = race.run()
        let over = (hosted / direct - 1) * 100
        print(Line.text(plugin.name, format, direct, hosted, over))
        if let bar, over > bar { isWithin = false }
    }
}
if let bar, !isWithin { print("over \(bar) %: the bar is missed") }
exit(isWithin ? 0 : 1)
