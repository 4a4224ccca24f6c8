import ArgumentParser
import Foundation

/// What coordinators start in place of their worker.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "A worker that injects faults; started by penumbra.", shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

    func run() throws {
        guard let path = ProcessInfo.processInfo.environment[FaultPlan.variable] else {
            throw ValidationError("\(FaultPlan.variable) is not set")
        }
        let plan = try JSONDecoder().decode(FaultPlan.self, from: Data(contentsOf: URL(filePath: path)))
        try ProxyWorker(plan, arguments).run()
    }
}
