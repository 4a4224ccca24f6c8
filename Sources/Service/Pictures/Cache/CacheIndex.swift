/// The files of the cache, and which of them are removed when they are too many. Pure.
package struct CacheIndex: Sendable {
    private struct Entry: Sendable {
        let bytes: Int
        var lastUse: Int
    }

    private var entries: [String: Entry] = [:]
    private var uses = 0
    package private(set) var bytes = 0
    private let mostBytes: Int

    package init(mostBytes: Int) { self.mostBytes = mostBytes }

    package var count: Int { entries.count }

    package func holds(_ name: String) -> Bool { entries[name] != nil }

    package mutating func use(_ name: String) {
        uses += 1
        entries[name]?.lastUse = uses
    }

    /// Adds a file, or replaces it.
    ///
    /// - Returns: the names of the files to remove: those that were not used for the longest time.
    package mutating func add(_ name: String, bytes size: Int) -> [String] {
        remove(name)
        uses += 1
        entries[name] = Entry(bytes: size, lastUse: uses)
        bytes += size
        return shrink(to: mostBytes)
    }

    /// Removes the files that were not used for the longest time, until the others have no more bytes together.
    ///
    /// - Returns: the names of the files to remove.
    package mutating func shrink(to limit: Int) -> [String] {
        var removed: [String] = []
        // An index without a limit would be sorted for every file. Here only some files are too many at a time.
        while bytes > limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            remove(oldest)
            removed.append(oldest)
        }
        return removed
    }

    package mutating func remove(_ name: String) {
        if let entry = entries.removeValue(forKey: name) { bytes -= entry.bytes }
    }
}
