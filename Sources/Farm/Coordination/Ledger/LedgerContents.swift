package import JobStorage

/// What was known of a job's outputs when a run began.
package struct LedgerContents: Sendable {
    package var records: [OutputRecord] = []
    package var broken: [BrokenRecord] = []
    /// How the outputs were made.
    package var recipes: [RecipeID: String] = [:]

    package init() {}
}
