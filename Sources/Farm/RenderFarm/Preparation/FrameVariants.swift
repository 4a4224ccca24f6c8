import Catalogs
import Coordination
import JobModel
import Manifests
import Planning
import Scheduling
import Synchronization

/// What a list of files sets for single frames, and the recipes that follow.
final class FrameVariants: Sendable {
    private struct Kind: Hashable {
        let settings: Int?
        let formats: [String]
        let isAnimation: Bool
    }

    private let job: JobSpec
    private let catalog: Catalog
    /// By the frames' settings.
    private let variants: [FrameVariant]
    private let known = Mutex<[Kind: [RecipeKey]]>([:])

    /// - Parameter reread: the manifest with more overrides.
    /// - Throws: what is wrong with settings, by their first line's words.
    init(_ plan: JobPlan, catalog: Catalog, reread: ([Override]) throws -> ReadResult) throws {
        job = plan.job
        self.catalog = catalog
        variants = try zip(plan.settings, plan.settingsOrigins).map { settings, place in
            let overrides = settings.map { Override($0.argument, name: "\(place): set \($0.argument)") }
            let result = try reread(overrides)
            guard let job = result.job else {
                throw FarmError(.badManifest, result.messages.joined(separator: "\n"))
            }
            return try Self.variant(job, of: plan.job, settings, at: place)
        }
    }

    private init(_ other: FrameVariants, _ variants: [FrameVariant]) {
        (job, catalog, self.variants) = (other.job, other.catalog, variants)
    }

    /// Of the pictures that filters of any variant read.
    var picturePaths: [String] { variants.flatMap { $0.chain + $0.outputs.flatMap(\.ownChain) }.picturePaths }

    /// The same with the digests of these pictures, by path.
    func withPictures(_ digests: [PathKey: String]) -> FrameVariants {
        guard !digests.isEmpty else { return self }
        func known(_ picture: PictureReference) -> PictureReference {
            PictureReference(path: picture.path, digest: digests[PathKey(picture.path)])
        }
        return FrameVariants(
            self,
            variants.map { variant in
                FrameVariant(
                    chain: variant.chain.map { $0.mappingPictures(known) },
                    outputs: variant.outputs.map { $0.mappingPictures(known) })
            })
    }

    /// Only what is made of a picture can differ between pictures.
    private static func variant(
        _ changed: JobSpec, of job: JobSpec, _ settings: [FileList.Setting], at place: String
    ) throws -> FrameVariant {
        var restored = changed
        restored.chain = job.chain
        restored.outputs = job.outputs
        let hasSamePaths = changed.outputs.map(\.template) == job.outputs.map(\.template)
        guard restored == job, hasSamePaths else {
            throw FarmError(
                .badManifest,
                "\(place): set \(settings.map(\.argument).joined(separator: ", ")): a list of files can set 'filters' and 'save' "
                    + "for single files, and nothing else\n   = write the rest into the manifest, or give it by --set")
        }
        return FrameVariant(chain: changed.chain, outputs: changed.outputs)
    }

    /// Nil for what the job says.
    subscript(frame: PlannedFrame) -> FrameVariant? { frame.settings.map { variants[$0] } }

    /// How each of a frame's outputs is made.
    func recipes(of frame: PlannedFrame, in book: RecipeTable) -> [RecipeKey] {
        let kind = Kind(
            settings: frame.settings, formats: frame.formats, isAnimation: frame.pages == .animation)
        return known.withLock { known in
            if let keys = known[kind] { return keys }
            let variant = self[frame] ?? FrameVariant(chain: job.chain, outputs: job.outputs)
            let keys = zip(variant.outputs, frame.formats).map { output, format in
                book.key(
                    of: Recipe(
                        chain: variant.chain + output.ownChain, color: job.color, format: format, save: output.save,
                        pages: frame.pages, catalog: catalog))
            }
            known[kind] = keys
            return keys
        }
    }
}
