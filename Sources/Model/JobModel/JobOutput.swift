public import Catalogs

/// One of a job's outputs: where it goes, what is done for it alone, and how it is written.
public struct JobOutput: Hashable, Sendable, Codable {
    public var template: OutputTemplate
    /// Continues the job's common chain.
    public var chain: [FilterInvocation]
    /// What makes frames of a picture, after all filters; nil for an output that shows it as it is.
    public var animation: FilterInvocation?
    public var save: SaveOptions

    public init(
        template: OutputTemplate, chain: [FilterInvocation] = [], animation: FilterInvocation? = nil,
        save: SaveOptions = SaveOptions()
    ) {
        self.template = template
        self.chain = chain
        self.animation = animation
        self.save = save
    }

    /// What follows the job's common chain.
    public var ownChain: [FilterInvocation] { chain + (animation.map { [$0] } ?? []) }

    /// The same, with the last frame of an animation, unless it is one frame alone.
    public var shownChain: [FilterInvocation] {
        guard let animation, animation.values[FilterInvocation.frame] == .word("all") else { return ownChain }
        let last = animation.values.merging([FilterInvocation.frame: .word("last")]) { $1 }
        return chain + [FilterInvocation(filter: animation.filter, values: last)]
    }

    /// The same with other references to the pictures that its filters read.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobOutput {
        var output = self
        output.chain = chain.map { $0.mappingPictures(transform) }
        output.animation = animation?.mappingPictures(transform)
        return output
    }
}
