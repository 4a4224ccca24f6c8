// Drives the coordinator's decisions alone, for workers that exist on paper only, in virtual time: its scheduler, and with
// --nodes what the Slurm engine decides, too.
//
//     simulate-farm [--tasks N] [--pictures mixed|whole|tiled] [--workers N | --nodes N [--cores N] [--away N]]
//                   [--seed N] [--verify digest|audit|full] [--require DECISIONS] [--megabytes N] [--weigh] [--json]
//
// Prints what was done and how fast; with --json one line of JSON after it. Exits with 1 when there were fewer than --require
// decisions a second or more than --megabytes at the peak, or a frame was not concluded exactly once. --weigh prints what
// a frame and a lease take instead.

import Foundation

func complain(_ words: String) { FileHandle.standardError.write(Data("simulate-farm: \(words)\n".utf8)) }

func simulate(_ simulation: some Simulation, _ options: Options) throws -> Int32 {
    var farm = simulation
    let began = processorSeconds()
    farm.run()
    let figures = Figures(of: farm, took: processorSeconds() - began)
    print(figures.table)
    if options.printsJSON { print(try figures.json()) }
    let complaints = (farm.complaint.map { [$0] } ?? []) + options.bars.missed(by: figures)
    for words in complaints { complain(words) }
    return complaints.isEmpty ? 0 : 1
}

guard let options = Options(CommandLine.arguments.dropFirst()) else {
    complain(Options.usage)
    exit(64)
}
if options.weighs {
    print(Weighing(options).table)
    exit(0)
}
let code =
    options.nodes > 0
    ? try simulate(SimulatedCluster(options), options) : try simulate(SimulatedFarm(options), options)
exit(code)
