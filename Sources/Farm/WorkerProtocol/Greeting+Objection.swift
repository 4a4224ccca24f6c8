import Catalogs
import JobModel

extension Greeting {
    /// Why it cannot be the greeting of a worker. Nil if it can.
    package var objection: String? {
        let most = max(versions.count, refused.count, folderFormats.count)
        if most > CatalogLimits.entries { return "a greeting with \(most) entries of a kind" }
        return versions.lazy.compactMap { Catalog.objection(toNames: [$0, $1]) }.first
            ?? Catalog.objection(toNames: folderFormats)
            ?? Catalog.objection(toSentences: refused.flatMap { [$0.path, $0.reason] })
            ?? catalog?.objection
    }
}
