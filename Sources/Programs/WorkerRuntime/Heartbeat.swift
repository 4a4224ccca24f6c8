import Foundation
import WorkerProtocol

/// Says from a thread of its own that this process lives, whatever a decoder or a plugin is busy with, and looks after drawings.
///
/// The message is made once, so that a beat takes no memory and waits for nobody but the pipe.
struct Heartbeat: Sendable {
    private let channel: Channel
    private let message: [UInt8]
    private let drawing: DrawingWatch

    init(_ channel: Channel, _ drawing: DrawingWatch) throws {
        self.channel = channel
        self.drawing = drawing
        message = try FrameCodec.encode(Report.alive)
    }

    func start() throws(Shortage) {
        try WorkerThread.start {
            // A coordinator that is gone is noticed by the thread that reads its orders.
            while (try? self.channel.send(bytes: self.message)) != nil, (try? self.drawing.look()) != nil {
                Thread.sleep(forTimeInterval: Report.heartbeat / .seconds(1))
            }
        }
    }
}
