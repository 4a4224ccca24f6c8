package import JobModel

/// What `penumbra-worker examine` is asked before anything starts.
package struct ExaminedChains: Hashable, Sendable, Codable {
    package struct Picture: Hashable, Sendable, Codable {
        /// Whole.
        package let path: String
        package let maxPixels: Int

        package init(path: String, maxPixels: Int) {
            self.path = path
            self.maxPixels = maxPixels
        }
    }

    package let filters: [FilterInvocation]
    /// That filters read.
    package let pictures: [Picture]

    package init(filters: [FilterInvocation], pictures: [Picture]) {
        self.filters = filters
        self.pictures = pictures
    }
}

/// Its answer.
package struct Examination: Hashable, Sendable, Codable {
    package enum Filter: Hashable, Sendable, Codable {
        case works
        case changesNothing
        /// There can be no such filter; why, as a person reads it.
        case impossible(String)
    }

    /// One for each filter.
    package let filters: [Filter]
    /// One for each picture: why it cannot be read, nil when its header can.
    package let pictures: [String?]

    package init(filters: [Filter], pictures: [String?]) {
        self.filters = filters
        self.pictures = pictures
    }
}
