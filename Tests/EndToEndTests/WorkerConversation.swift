import Foundation
import WorkerProtocol

/// The pipes to one worker process, for orders one at a time.
final class WorkerConversation {
    private let process = Process()
    private let orders = Pipe()
    private let reports = Pipe()
    private var buffer = FrameBuffer()
    private var lastLease = 0

    struct Ended: Error {}

    /// - Parameter environment: Further variables of the worker.
    init(in workspace: Workspace, environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: Program.worker)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = orders
        process.standardOutput = reports
        try process.run()
        guard case .ready = try next() else { throw Ended() }
    }

    deinit {
        // The worker leaves when its input ends. A pipe that is closed already is as good.
        try? orders.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The number of the process.
    var processID: Int32 { process.processIdentifier }

    /// The worker's answer to one order.
    func ask(_ spec: TaskSpec, timeLimit: Duration? = nil) throws -> Report {
        try order(spec, timeLimit: timeLimit)
        return try next()
    }

    /// Gives an order, and waits for nothing.
    func order(_ spec: TaskSpec, timeLimit: Duration? = nil) throws {
        lastLease += 1
        let order = Order.start(LeaseID(lastLease), spec, [], timeLimit: timeLimit)
        orders.fileHandleForWriting.write(Data(try FrameCodec.encode(order)))
    }

    private func next() throws -> Report {
        while true {
            if let body = try buffer.next() {
                let report = try FrameCodec.decode(Report.self, from: body)
                if report == .alive { continue }
                return report
            }
            let bytes = reports.fileHandleForReading.availableData
            guard !bytes.isEmpty else { throw Ended() }
            buffer.append(bytes)
        }
    }
}
