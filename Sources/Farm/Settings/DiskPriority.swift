/// How much a process gives way to others that want the disk, as `ionice` has it.
package enum DiskPriority: String, Hashable, Sendable, CaseIterable {
    /// As the program was started.
    case none
    /// The last of those that have their turn.
    case low
    /// Only when nobody else wants the disk.
    case idle
}
