package import Catalogs
package import JobModel
package import JobStorage
import Planning
package import Runs
package import SafeFiles
import Scheduling
import WorkerProtocol

/// Writes receipts that are missing or do not fit their outputs, from the records of the outputs.
package struct ReceiptRepair: Sendable {
    /// The number of receipts that were written.
    package private(set) var written = 0
    /// Outputs whose records lack what a receipt needs, because an earlier version published them.
    package private(set) var unknown: [String] = []
    /// Outputs that have another program's file at the receipt's path.
    package private(set) var blocked: [String] = []
    /// Outputs whose receipts could not be written, and why.
    package private(set) var refused: [(output: String, trouble: FileError)] = []

    private enum Finding {
        case fine
        case write(Receipt)
        case unknown
        case blocked
    }

    private static let largestBatch = 256

    /// - Parameters:
    ///   - records: the records of all outputs of the job.
    ///   - recipes: the texts of their recipes.
    package init(
        _ records: [OutputRecord], recipes: [RecipeID: String], by maker: ReceiptMaker, directory: RunClaim
    ) throws {
        let known = recipes.compactMapValues(Recipe.init(text:))
        let findings = concurrentMap(records) { Self.finding(of: $0, known[$0.recipe], maker) }
        var missing: [(output: String, receipt: Receipt)] = []
        for (record, finding) in zip(records, findings) {
            switch finding {
            case .fine: break
            case .write(let receipt): missing.append((record.path, receipt))
            case .unknown: unknown.append(record.path)
            case .blocked: blocked.append(record.path)
            }
        }
        for start in stride(from: 0, to: missing.count, by: Self.largestBatch) {
            try write(Array(missing[start..<min(start + Self.largestBatch, missing.count)]), directory)
        }
    }

    private static func finding(of record: OutputRecord, _ recipe: Recipe?, _ maker: ReceiptMaker) -> Finding {
        guard !record.isAdopted, FileSystem.exists(record.path) else { return .fine }
        guard let recipe, let wanted = maker.receipt(of: record, recipe) else { return .unknown }
        switch ReceiptFile.inspect(beside: record.path) {
        case .nothing: return .write(wanted)
        case .foreign: return .blocked
        case .receipt(let found):
            let completed = wanted.completed(by: found)
            return found.saysTheSame(as: completed) ? .fine : .write(completed)
        }
    }

    /// Waits until the disk has all receipts before the first one is renamed.
    private mutating func write(_ receipts: [(output: String, receipt: Receipt)], _ directory: RunClaim) throws {
        var (waiting, devices): ([(temporary: String, output: String)], Set<UInt64>) = ([], [])
        defer { for (temporary, _) in waiting { directory.removeTemporary(temporary) } }
        for (index, (output, receipt)) in receipts.enumerated() {
            let temporary = try directory.temporaryPath(in: PathText.folder(of: output), for: "receipt-\(index)")
            // A run that is resumed may have been killed here.
            FileSystem.remove(temporary)
            do {
                try SafeFolder(FileSystem.folder(of: temporary), trusting: .everybody)
                    .create(PathNames.last(of: temporary), receipt.bytes)
                waiting.append((temporary, output))
            } catch {
                directory.removeTemporary(temporary)
                if error.concernsStorage { throw error }
                // The receipts of other folders can still be written.
                refused.append((output, error))
            }
        }
        for (_, output) in waiting {
            let folder = FileSystem.folder(of: output)
            guard devices.insert(FileSystem.stamp(folder)?.device ?? 0).inserted else { continue }
            try FileSystem.syncFileSystem(of: folder)
        }
        for (temporary, output) in waiting {
            if ReceiptFile.put(temporary, beside: output) { written += 1 } else { blocked.append(output) }
        }
    }
}

/// Makes the receipts of a run.
package struct ReceiptMaker: Sendable {
    private let job: Receipt.Job
    private let run: String
    private let epoch: Int
    private let catalog: Catalog
    private let sandbox: SandboxReport?
    /// In nanoseconds since 1970.
    private let now: @Sendable () -> Int64

    /// Nil for a job without receipts.
    ///
    /// - Parameter sandbox: What kept the workers from the rest of the machine. Nil if other machines may do the work.
    package init?(
        _ job: JobSpec, run: RunClaim, catalog: Catalog, sandbox: SandboxReport?, now: @escaping @Sendable () -> Int64
    ) {
        guard job.receipts == .sidecar else { return nil }
        self.job = Receipt.Job(name: job.name, manifest: job.manifestPath)
        (self.run, epoch, self.catalog, self.sandbox, self.now) = (run.name, run.epoch, catalog, sandbox, now)
    }

    /// The receipt of an output that is about to be published.
    func receipt(of publication: Publication, _ record: OutputRecord, _ recipe: Recipe) -> Receipt? {
        var record = record
        let written = publication.receipt
        let stamp = FileStamp(device: 0, inode: 0, size: written.bytes, modified: 0, changed: 0)
        record.file = FileFacts(stamp: stamp, digest: written.digest)
        return Receipt(
            record, recipe: recipe.complete(catalog), bands: written.bands.map(\.digest), job: job,
            run: run(publishes: true))
    }

    /// The receipt of an output that an earlier run published; nil if too little is known about it.
    func receipt(of record: OutputRecord, _ recipe: Recipe) -> Receipt? {
        Receipt(record, recipe: recipe.complete(catalog), bands: nil, job: job, run: run(publishes: false))
    }

    private func run(publishes: Bool) -> Receipt.Run {
        let time = UTCTime(secondsSince1970: Int(now() / 1_000_000_000)).text
        return Receipt.Run(
            name: run, epoch: epoch, time: time, published: publishes, sandbox: publishes ? sandbox : nil)
    }
}
