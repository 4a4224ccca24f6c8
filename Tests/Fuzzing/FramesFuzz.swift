@testable import WorkerProtocol

/// Reads a pipe: once as it is, and once as bodies in right frames, one of which may be damaged.
@c(LLVMFuzzerTestOneInput)
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let (step, damage) = (input.choice(64) + 1, input.choice(256))
    let whole = bodies(in: input.bytes, step: max(1, input.bytes.count))
    precondition(bodies(in: input.bytes, step: step) == whole, "messages do not depend on how the bytes come")

    let sent = input.parts(8)
    var pipe = sent.flatMap(framed)
    let received = bodies(in: pipe, step: step)
    precondition(received.bodies == sent && !received.isBroken, "every message arrives")
    guard damage > 0, damage < pipe.count else { return 0 }
    pipe[damage] ^= 0x10
    precondition(bodies(in: pipe, step: step).bodies != sent, "a damaged message does not arrive")
    return 0
}

private struct Received: Equatable {
    var bodies: [[UInt8]] = []
    var isBroken = false
}

private func bodies(in bytes: [UInt8], step: Int) -> Received {
    var (buffer, received) = (FrameBuffer(), Received())
    for first in stride(from: 0, to: bytes.count, by: step) {
        buffer.append(bytes[first..<min(bytes.count, first + step)])
        do {
            while let body = try buffer.next() { received.bodies.append(Array(body)) }
        } catch {
            received.isBroken = true
            return received
        }
    }
    return received
}

private func framed(_ body: [UInt8]) -> [UInt8] {
    let checksum = FrameCodec.checksum(of: body[...])
    return (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
        + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) } + body
}
