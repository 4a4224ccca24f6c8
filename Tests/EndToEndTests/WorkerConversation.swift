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

    init(in workspace: Workspace) throws {
        process.executableURL = URL(filePath: Program.worker)
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

    /// The worker's answer to one order.
    func ask(_ spec: TaskSpec) throws -> Report {
        lastLease += 1
        orders.fileHandleForWriting.write(Data(try FrameCodec.encode(Order.start(LeaseID(lastLease), spec, []))))
        return try next()
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
