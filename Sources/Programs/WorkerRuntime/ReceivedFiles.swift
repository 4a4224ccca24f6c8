import FileAccess
import Glibc
import WorkerProtocol

/// The open files that have come with orders and that no order has taken yet.
struct ReceivedFiles {
    /// An order lists more files than came with it.
    struct MissingError: Error {}

    /// False if orders come over a pipe, which carries no open files.
    let areCarried: Bool
    private var waiting: [Int32] = []
    /// Whether files were lost because this process may not have so many open.
    private var areLost = false

    init(areCarried: Bool) { self.areCarried = areCarried }

    mutating func add(_ received: Channel.Received) {
        waiting += received.files
        if received.areMissing { areLost = true }
    }

    /// Takes the files of an order.
    mutating func opener(for sent: [SentFile]) throws(MissingError) -> FileOpener {
        var read: [[UInt8]: FileOpener.Handed] = [:]
        var created: [[UInt8]: FileOpener.Handed] = [:]
        var scratch: FileOpener.Handed?
        for file in sent {
            let handed = try take(file.outcome)
            switch file.file.use {
            case .read: read[file.file.path] = handed
            case .create, .createNew: created[file.file.path] = handed
            case .scratch: scratch = handed
            }
        }
        return FileOpener(read: read, created: created, scratch: scratch)
    }

    private mutating func take(_ outcome: SentFile.Outcome) throws(MissingError) -> FileOpener.Handed {
        switch outcome {
        case .failed(let code): return .failed(code)
        case .handed:
            guard areCarried else { return .existing }
            guard waiting.isEmpty else { return .descriptor(waiting.removeFirst()) }
            guard areLost else { throw MissingError() }
            return .failed(EMFILE)
        }
    }
}
