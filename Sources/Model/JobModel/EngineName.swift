/// What starts workers. All engines are listed here; each cluster has its place in `Settings.batchSystem` of `RenderFarm`.
package enum EngineName: String, Hashable, Sendable, Codable, CaseIterable {
    /// Worker processes on this machine.
    case local
    /// Job arrays of a Slurm cluster.
    case slurm
    /// Jobs of any cluster, by commands that the site's config file names.
    case commands

    package var isCluster: Bool { self != .local }
}
