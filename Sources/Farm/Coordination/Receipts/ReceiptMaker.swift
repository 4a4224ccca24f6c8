package import Catalogs
import FoundationEssentials
package import JobModel
import JobStorage
package import Runs
import Scheduling
import WorkerProtocol

/// Makes the receipts of one run.
package struct ReceiptMaker: Sendable {
    private let job: Receipt.Job
    private let run: String
    private let epoch: Int
    private let catalog: Catalog
    /// In nanoseconds since 1970.
    private let now: @Sendable () -> Int64

    /// Nil for a job that wants none.
    package init?(
        _ job: JobSpec, run: RunClaim, catalog: Catalog, now: @escaping @Sendable () -> Int64
    ) {
        guard job.receipts == .sidecar else { return nil }
        self.job = Receipt.Job(name: job.name, manifest: job.manifestPath)
        (self.run, epoch, self.catalog, self.now) = (run.name, run.epoch, catalog, now)
    }

    /// Of an output that is about to be published.
    func receipt(of publication: Publication, _ record: OutputRecord, _ recipe: Recipe) -> Receipt? {
        var record = record
        let written = publication.receipt
        let stamp = FileStamp(device: 0, inode: 0, size: written.bytes, modified: 0, changed: 0)
        record.file = FileFacts(stamp: stamp, digest: written.digest)
        return Receipt(
            record, recipe: recipe.complete(catalog), bands: written.bands.map(\.digest), job: job,
            run: run(publishes: true))
    }

    /// Of an output that was published before; nil where too little is known of it.
    func receipt(of record: OutputRecord, _ recipe: Recipe) -> Receipt? {
        Receipt(record, recipe: recipe.complete(catalog), bands: nil, job: job, run: run(publishes: false))
    }

    private func run(publishes: Bool) -> Receipt.Run {
        let time = Date(timeIntervalSince1970: Double(now()) / 1e9).formatted(.iso8601)
        return Receipt.Run(name: run, epoch: epoch, time: time, published: publishes)
    }
}
