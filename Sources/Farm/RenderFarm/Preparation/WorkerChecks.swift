package import Engines
import JobModel
package import Manifests
import WorkerProtocol

/// What workers know of manifests, and no catalog tells: which filters change nothing or cannot be had with their values,
/// and which files are no pictures.
package struct WorkerChecks {
    private let filters: [FilterInvocation: Examination.Filter]
    private let troubles: [ExaminedChains.Picture: String]
    /// Why nothing is known.
    package let failure: String?

    package init(_ results: [ReadResult], by worker: WorkerCommand) async {
        let filters = Array(Set(results.flatMap(\.filters).map(\.invocation)))
        await self.init(ExaminedChains(filters: filters, pictures: Self.pictures(results)), worker)
    }

    /// The pictures alone, which are few: filters tell at the first frame what is wrong with them.
    package init(picturesOf results: [ReadResult], by worker: WorkerCommand) async {
        await self.init(ExaminedChains(filters: [], pictures: Self.pictures(results)), worker)
    }

    private static func pictures(_ results: [ReadResult]) -> [ExaminedChains.Picture] {
        Array(Set(results.flatMap { result in result.pictures.map { picture($0, of: result) } }))
    }

    private init(_ chains: ExaminedChains, _ worker: WorkerCommand) async {
        let nothing = Examination(filters: [], pictures: [])
        var (examination, failure): (Examination, String?) = (nothing, nil)
        do throws(WorkerQueryError) {
            if !chains.filters.isEmpty || !chains.pictures.isEmpty {
                examination = try await worker.examine(chains)
            }
        } catch {
            failure = error.message
        }
        self.failure = failure
        filters = Dictionary(uniqueKeysWithValues: zip(chains.filters, examination.filters))
        let told = zip(chains.pictures, examination.pictures).compactMap { picture, trouble in
            trouble.map { (picture, $0) }
        }
        troubles = Dictionary(uniqueKeysWithValues: told)
    }

    private static func picture(_ mention: PictureMention, of result: ReadResult) -> ExaminedChains.Picture {
        // Where the manifest has errors it has no limit; other troubles are told nevertheless.
        ExaminedChains.Picture(path: mention.path, maxPixels: result.job?.maxPixels ?? .max)
    }

    /// Whether filters change no pixel of any picture, all together. False for none.
    package func changeNothing(_ chain: [FilterMention]) -> Bool {
        !chain.isEmpty && chain.allSatisfy { $0.isKnownAsIdle || filters[$0.invocation] == .changesNothing }
    }

    /// The same with what is known of its filters and pictures.
    package func adding(to result: ReadResult) -> ReadResult {
        var examined = result
        for filter in result.filters {
            switch filters[filter.invocation] {
            case .changesNothing: examined.addIdle(filter)
            case .impossible(let reason): examined.add(reason, of: filter)
            case .works, nil: break
            }
        }
        for mention in result.pictures {
            if let trouble = troubles[Self.picture(mention, of: result)] { examined.add(trouble, of: mention) }
        }
        return examined
    }
}
