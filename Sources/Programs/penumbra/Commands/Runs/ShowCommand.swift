import ArgumentParser
import Coordination
import JobModel
import RenderFarm
import Runs

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one run: what was asked for, what came of it, what failed and why.")

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { _ in
            let archive = try options.archive(shared)
            let run = try archive.run(argument.run)
            let details = try archive.details(of: run)
            let line = RunLine(run, concluded: try archive.concluded(of: run))
            let broken = try archive.stillBroken(in: run, details)
            if options.json {
                JSONLine.run(line).print()
                let times = details.publicationTimes
                for frame in details.frames {
                    JSONLine.storedFrame(StoredFrameLine(frame, published: times[frame.id])).print()
                }
                for record in broken { JSONLine.broken(BrokenLine(record)).print() }
            } else {
                for text in RunText.details(line, run, details.frames, details.attempts) { Console.print(text) }
                for text in RunText.stillBroken(broken, of: line.counts.stillBroken) { Console.print(text) }
            }
            return .done
        }
    }
}
