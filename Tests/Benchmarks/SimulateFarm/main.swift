// Drives the scheduler alone: a million tasks over a thousand workers that exist on paper only, in virtual time.
//
//     simulate-farm [--tasks N] [--workers N] [--seed N] [--verify digest|audit|full] [--require N] [--json]
//
// Prints what was done and how fast; with --json one line of JSON after it. Exits with 1 when fewer than --require task
// completions a second were reached, or a frame was not concluded exactly once.

import Foundation

guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data("simulate-farm: \(Options.usage)\n".utf8))
    exit(64)
}

var farm = SimulatedFarm(options)
let clock = ContinuousClock()
let began = clock.now
farm.run()
let figures = Figures(of: farm, options, took: clock.now - began)
print(figures.table)
if options.printsJSON { print(try figures.json()) }

if let complaint = farm.complaint {
    FileHandle.standardError.write(Data("simulate-farm: \(complaint)\n".utf8))
    exit(1)
}
if let required = options.required, figures.completionsPerSecond < required {
    let reached = "\(Int(figures.completionsPerSecond)) completions a second"
    FileHandle.standardError.write(Data("simulate-farm: \(reached), \(Int(required)) are required\n".utf8))
    exit(1)
}
