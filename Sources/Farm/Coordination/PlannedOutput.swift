/// Looks at a planned output without touching it.
package enum PlannedOutput {
    package static func exists(_ path: String) -> Bool { FileSystem.isOutput(path) }
}
