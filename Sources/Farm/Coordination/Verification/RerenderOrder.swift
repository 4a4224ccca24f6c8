import Catalogs
import JobModel
import JobStorage
import Scheduling
import WorkerProtocol

/// How an output is rendered once more: by its record alone, whatever its job says by now.
struct RerenderOrder: Hashable, Sendable {
    /// What all orders of one scheduler have in common.
    struct Group: Hashable, Sendable {
        let color: ColorPolicy
        /// Nil where nobody knows.
        let shrink: Int?
    }

    let group: Group
    /// How the filters' versions differ from those that are installed; nil when they do not.
    let versions: String?
    private let recipe: Recipe
    private let chain: [FilterInvocation]
    private let record: OutputRecord
    /// The pictures that the filters read, as they were.
    let pictures: [PictureReference]

    /// - Throws: why it cannot be.
    init(_ output: RecordedOutput, catalog: Catalog) throws(Refusal) {
        let record = output.record
        if record.isAdopted { throw Refusal(reason: "adopted, not rendered by Penumbra") }
        guard let text = output.recipe else { throw Refusal(reason: "only its receipt is known") }
        guard let recipe = Recipe(text: text) else { throw Refusal(reason: "rendered by another version of Penumbra") }
        for step in recipe.steps where catalog.filter(named: step.filter) == nil {
            throw Refusal(reason: "the filter '\(step.filter)' is not installed")
        }
        (self.record, self.recipe) = (record, recipe)
        chain = recipe.complete(catalog).steps.map { FilterInvocation(filter: $0.filter, values: $0.values) }
        pictures = Set(chain.flatMap(\.pictures.values)).sorted { $0.path < $1.path }
        group = Group(color: recipe.color, shrink: record.pixels?.encoding.shrink)
        let current = Recipe(
            chain: chain, color: recipe.color, format: recipe.format, save: recipe.save, pages: recipe.pages,
            catalog: catalog)
        versions = Self.difference(from: recipe, to: current)
    }

    /// Why an output cannot be rendered again.
    struct Refusal: Error, Hashable {
        let reason: String
    }

    private static func difference(from old: Recipe, to new: Recipe) -> String? {
        let steps = zip(old.steps, new.steps).filter { $0.version != $1.version }.map { old, new in
            "\(old.filter) \(old.version), this is \(new.filter) \(new.version)"
        }
        let around =
            old.version == new.version ? [] : ["rendering version \(old.version), this is \(new.version)"]
        return steps.isEmpty && around.isEmpty ? nil : (steps + around).joined(separator: "; ")
    }

    /// - Parameter path: in place of the output's.
    func order(_ id: FrameID, to path: String) -> FrameOrder {
        let input = FoundInput.file(record.input)
        let output = JobOutput(template: OutputTemplate(source: "", pieces: []), save: recipe.save)
        return FrameOrder(
            id: id, input: input.path, inputBytes: input.bytes,
            compared: [input] + pictures.map { FoundInput.file($0.path) },
            variant: FrameVariant(chain: chain, outputs: [output]), pages: recipe.pages.numbered(record.page),
            formats: [recipe.format],
            goal: .publish(outputs: [path], probe: nil))
    }
}
