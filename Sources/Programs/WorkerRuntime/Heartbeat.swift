import Foundation
import WorkerProtocol

/// Says from a thread of its own that this process lives, whatever a decoder or a plugin is busy with.
///
/// The message is made once, so that a beat takes no memory and waits for nobody but the pipe.
struct Heartbeat: Sendable {
    private let channel: Channel
    private let message: [UInt8]

    init(_ channel: Channel) throws {
        self.channel = channel
        message = try FrameCodec.encode(Report.alive)
    }

    func start() throws(Shortage) {
        try WorkerThread.start {
            // A coordinator that is gone is noticed by the thread that reads its orders.
            while (try? self.channel.send(bytes: self.message)) != nil {
                Thread.sleep(forTimeInterval: Report.heartbeat / .seconds(1))
            }
        }
    }
}
