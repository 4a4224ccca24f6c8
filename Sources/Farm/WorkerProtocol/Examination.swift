import Catalogs
package import JobModel

/// The question of `penumbra-worker examine`, asked before a job starts.
package struct ExaminedChains: Hashable, Sendable, Codable {
    /// A picture, or another file that an output needs.
    package struct Picture: Hashable, Sendable, Codable {
        /// Absolute.
        package let path: String
        package let maxPixels: Int
        package let kind: NamedFileKind

        package init(path: String, maxPixels: Int, kind: NamedFileKind = .picture) {
            self.kind = kind
            self.path = path
            self.maxPixels = maxPixels
        }
    }

    package let filters: [FilterInvocation]
    /// The pictures and other files that filters read, and the profiles of outputs.
    package let pictures: [Picture]

    package init(filters: [FilterInvocation], pictures: [Picture]) {
        self.filters = filters
        self.pictures = pictures
    }
}

/// The answer to ``ExaminedChains``.
package struct Examination: Hashable, Sendable, Codable {
    package enum Filter: Hashable, Sendable, Codable {
        case works
        case changesNothing
        /// The filter cannot be made with these values. The text says why.
        case impossible(String)
    }

    /// One result for each filter.
    package let filters: [Filter]
    /// For each picture the reason why it cannot be used. Nil if its header can be read.
    package let pictures: [String?]

    package init(filters: [Filter], pictures: [String?]) {
        self.filters = filters
        self.pictures = pictures
    }
}
