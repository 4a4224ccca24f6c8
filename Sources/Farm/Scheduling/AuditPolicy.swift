package import WorkerProtocol

/// Which bands of an output are rendered again.
package enum AuditPolicy {
    /// One band in twenty, at least one, chosen evenly at random.
    package static func sample(
        _ bands: [BandReceipt], using random: inout some RandomNumberGenerator
    ) -> [BandReceipt] {
        let count = (bands.count + 19) / 20
        let chosen = bands.indices.shuffled(using: &random).prefix(count).sorted()
        return chosen.map { bands[$0] }
    }
}
