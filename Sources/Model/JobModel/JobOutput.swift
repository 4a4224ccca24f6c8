/// One of a job's outputs: where it goes, what is done for it alone, and how it is written.
public struct JobOutput: Hashable, Sendable, Codable {
    public var template: OutputTemplate
    /// Continues the job's common chain.
    public var chain: [FilterInvocation]
    public var save: SaveOptions

    public init(template: OutputTemplate, chain: [FilterInvocation] = [], save: SaveOptions = SaveOptions()) {
        self.template = template
        self.chain = chain
        self.save = save
    }
}
