import BatchSystems
@testable import Cluster
import Shards
import WorkerProtocol

/// Reads what commands of a cluster print, and the jobs that earlier coordinators noted.
@c(LLVMFuzzerTestOneInput)
public func fuzzCluster(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Input(start, count)
    let text = input.text
    for element in SlurmTables.elements(text) { precondition(!element.obstacleIsEmpty, "an obstacle has words") }
    _ = (SlurmTables.job(text), SlurmTables.setting("MaxArraySize", in: text))
    if case .success(let job) = CommandAnswers.job(text) {
        precondition(JobNumber.isPlain(job), "a job has a plain id")
    }
    if case .success(let elements) = CommandAnswers.elements(text) {
        for element in elements { precondition(element.index >= 0, "an element has an index") }
    }
    if case .success(let cluster) = CommandAnswers.description(text) {
        precondition(cluster.largestArray > 0, "a cluster takes arrays")
    }
    for line in input.bytes.split(separator: 10) {
        guard let job = try? FrameCodec.decode(SubmittedJobs.Line.self, from: line), job.isPlausible else { continue }
        precondition(job.job.map(JobNumber.isPlain) ?? true, "no command takes a number for an option")
    }
    return 0
}

extension ArrayElement {
    fileprivate var obstacleIsEmpty: Bool { obstacle?.isEmpty ?? false }
}
