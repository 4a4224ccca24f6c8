package import Catalogs
package import JobStorage
import Synchronization

/// The recipes of a run, and what they have in common with those by which outputs were made.
///
/// Outputs are many and recipes few: two recipes are compared once.
package final class RecipeTable: Sendable {
    private struct State {
        var recipes: [Recipe] = []
        var keys: [Recipe: RecipeKey] = [:]
        var texts: [[RecipeKey]: String] = [:]
        var comparisons: [Pair: RecipeComparison?] = [:]
    }

    private struct Pair: Hashable {
        let old: RecipeID
        let new: RecipeKey
    }

    private let catalog: Catalog
    /// By which outputs were made.
    private let texts: [RecipeID: String]
    private let state = Mutex(State())

    package init(catalog: Catalog, texts: [RecipeID: String]) {
        self.catalog = catalog
        self.texts = texts
    }

    /// The filters that are plugins.
    var plugins: Set<String> { catalog.pluginNames }

    package func key(of recipe: Recipe) -> RecipeKey {
        state.withLock { state in
            if let key = state.keys[recipe] { return key }
            let key = RecipeKey(index: state.recipes.count)
            state.recipes.append(recipe)
            state.keys[recipe] = key
            return key
        }
    }

    package subscript(key: RecipeKey) -> Recipe { state.withLock { $0.recipes[key.index] } }

    /// How all outputs of a frame are made, as one text.
    func text(of keys: [RecipeKey]) -> String {
        state.withLock { state in
            if let known = state.texts[keys] { return known }
            let text = keys.map { state.recipes[$0.index].text }.joined(separator: "\n")
            state.texts[keys] = text
            return text
        }
    }

    func isText(_ id: RecipeID, of keys: [RecipeKey]) -> Bool { texts[id] == text(of: keys) }

    /// Nil when the old one can no longer be read.
    func comparison(from old: RecipeID, to new: RecipeKey) -> RecipeComparison? {
        state.withLock { state in
            let pair = Pair(old: old, new: new)
            if let known = state.comparisons[pair] { return known }
            let comparison = texts[old].flatMap(Recipe.init(text:)).map {
                RecipeComparison(from: $0, to: state.recipes[new.index], catalog: catalog)
            }
            state.comparisons[pair] = comparison
            return comparison
        }
    }
}
