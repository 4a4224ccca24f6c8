package import JobModel

/// Keeps two runs of one job from running at once, whoever starts them.
package enum JobLock {
    /// - Parameters:
    ///   - wait: how long to wait for the other run to end.
    /// - Returns: nil when another run still holds the lock then.
    package static func take(
        for job: JobSpec, state: String, wait: Duration, clock: ContinuousClock = ContinuousClock()
    ) async throws -> KernelLock? {
        _ = try FileSystem.createFolders("\(state)/locks")
        return try await KernelLock.take("\(state)/locks/\(name(of: job))", until: clock.now + wait, clock)
    }

    /// A job is its manifest's real path and its name. FNV-1a makes a file name of them.
    private static func name(of job: JobSpec) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(job.manifestPath)\0\(job.name)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return "\(job.name.prefix(100))-\(String(hash, radix: 16))"
    }
}
