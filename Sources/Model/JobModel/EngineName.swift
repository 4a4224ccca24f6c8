/// What starts workers. All engines are listed here; each has its place in `Installation.engine(for:)` of `penumbra`.
package enum EngineName: String, Hashable, Sendable, Codable, CaseIterable {
    /// Worker processes on this machine.
    case local
    /// Job arrays of a Slurm cluster.
    case slurm
}
