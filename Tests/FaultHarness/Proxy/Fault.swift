/// What a proxy worker does to a task, its messages or its files.
enum Fault: String, Codable, Hashable, Sendable, CaseIterable {
    // The order on its way to the worker.
    case delayOrder
    case duplicateOrder
    case dropOrder
    case garbleOrder
    case flipOrder
    case oversizeOrder
    // The report on its way back.
    case delayReport
    case duplicateReport
    case dropReport
    case garbleReport
    case flipReport
    case oversizeReport
    /// The greeting is said twice.
    case duplicateReady
    // The worker while it has the task.
    case crash
    case kill
    case hang
    // The file that the task has written, before anybody hears of it.
    case flipFile
    case truncateFile
    case zeroFile
    /// The same with what a canvas task writes of the picture's metadata.
    case flipMetadata
    /// The report, the greeting, or what a worker says of its own accord, with one value that is not so.
    case lie
    case lieReady
    /// A report that the worker never made: of an order that it has, had, or never got.
    case madeUp
    /// What the task has written becomes a link, a pipe, a folder, or goes.
    case replaceFile
    /// The output that the task has written gets another byte, and the report says nothing of it.
    case plantByte

    var isDamage: Bool { [.flipFile, .truncateFile, .zeroFile, .flipMetadata].contains(self) }
}

/// What the harness tells the proxy workers of one scenario.
struct FaultPlan: Codable, Sendable {
    /// The real worker program.
    let worker: String
    /// Where proxies of one scenario tell each other and the harness what they did.
    let folder: String
    let seed: UInt64
    let faults: [Fault]
    /// Part of the tasks that get a fault.
    let chance: Double
    /// Faults in the whole scenario.
    let limit: Int
    /// Kinds of tasks that get one; nil for all.
    var kinds: [String]?
    /// How often one task is struck: once, but in quarantine scenarios.
    var perTask = 1
    /// Seconds that a delay or the moment before a crash lasts, at most.
    var longest = 0.2
    /// What lies name.
    var paths: [String] = []
    /// The folder of ``Decoys``.
    var decoys: String?

    static let variable = "PENUMBRA_FAULTS_PLAN"
}
