package import JobModel

/// The question of `penumbra-worker examine`, asked before a job starts.
package struct ExaminedChains: Hashable, Sendable, Codable {
    package struct Picture: Hashable, Sendable, Codable {
        /// Absolute.
        package let path: String
        package let maxPixels: Int
        /// Whether the file is a table of colours, and no picture.
        package let isTable: Bool

        package init(path: String, maxPixels: Int, isTable: Bool = false) {
            self.isTable = isTable
            self.path = path
            self.maxPixels = maxPixels
        }
    }

    package let filters: [FilterInvocation]
    /// The pictures that filters read.
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
    /// For each picture the reason why it cannot be read. Nil if its header can be read.
    package let pictures: [String?]

    package init(filters: [Filter], pictures: [String?]) {
        self.filters = filters
        self.pictures = pictures
    }
}
