import Geometry
import JobModel
@testable import WorkerProtocol

/// Reads the first part as an order and the second one as a report on it, as coordinators and workers do, and both as the
/// other messages.
@c(LLVMFuzzerTestOneInput)
public func fuzzMessages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Input(start, count).parts(2)
    let order = message(Order.self, parts[0])
    message(ExaminedChains.self, parts[0])
    message(PluginConditions.self, parts[0])
    guard parts.count == 2 else { return 0 }
    let report = message(Report.self, parts[1], within: .reports)
    message(Greeting.self, parts[1], within: .reports)
    message(Examination.self, parts[1], within: .reports)
    message(PluginList.self, parts[1], within: .reports)
    message(PluginFinding.self, parts[1], within: .reports)
    if case .start(_, let task, _, _)? = order, let report { check(report, on: task) }
    return 0
}

/// A message that can be read can be sent, and is the same afterwards.
@discardableResult
private func message<Message: Codable & Equatable>(
    _ type: Message.Type, _ bytes: [UInt8], within limits: MessageLimits = .orders
) -> Message? {
    guard let message = try? FrameCodec.decode(type, from: bytes, within: limits) else { return nil }
    let again = (try? FrameCodec.json(message)).flatMap { try? FrameCodec.decode(type, from: $0) }
    precondition(again == message, "a message that is sent on stays the same")
    return message
}

/// No answer may trap, whatever the task was. What is accepted has numbers that can be used.
private func check(_ report: Report, on task: TaskSpec) {
    switch report {
    case .ready, .alive, .worn: break
    case .inPlugins(_, let names): _ = task.objection(toPlugins: names, ["sepia"])
    case .failed(_, let failure): _ = task.objection(to: failure, plugins: ["sepia"])
    case .finished(_, let receipt):
        for doer in [TaskSpec.Doer.workerOfThisTask, .earlierWorker] where task.objection(to: receipt, by: doer) == nil
        {
            use(receipt)
        }
    }
}

private func use(_ receipt: TaskReceipt) {
    switch receipt {
    case .probe(let probe):
        precondition(probe.megapixels.isFinite && probe.megapixelsWritten.isFinite && probe.cost.total.isFinite)
        precondition(probe.grid.count == probe.tileSources.count, "each tile has its sources")
        for index in 0..<min(probe.grid.count, 64) { precondition(!probe.grid[index].isEmpty, "a tile has pixels") }
    case .outputs(let outputs, _):
        for output in outputs { precondition(output.image.megapixels > 0, "an output has pixels") }
    case .preview(let preview): precondition(preview.image.megapixels > 0, "a preview has pixels")
    case .canvas, .tile, .audit, .check, .compare: break
    }
}
