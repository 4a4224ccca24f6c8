/// The side of a tile.
public enum TileSize: Hashable, Sendable, Codable {
    /// As large as the halo demands: at most 30 % more pixels are read than written.
    case auto
    case pixels(Int)
}

/// Whether a frame is rendered as one task or cut into tiles.
public enum ShardMode: String, Hashable, Sendable, Codable, CaseIterable {
    case auto
    case frame
    case tile
}

/// What happens when an output is already there.
public enum ExistingPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// Renders what changed, and replaces only what Penumbra published.
    case update
    case overwrite
    case skip
    case error
}

/// How much is checked before an output is published.
public enum VerifyLevel: String, Hashable, Sendable, Codable, CaseIterable {
    /// Digests of tiles and files are compared.
    case digest
    /// Also renders a random sample again on another worker, over shifted tile borders.
    case audit
    /// Also decodes the written file and compares.
    case full
}

/// How long one attempt of a task may take.
public enum TimeLimit: Hashable, Sendable, Codable {
    /// Grows with the megapixels of the task.
    case auto
    case seconds(Double)
}

/// Which colour space the filters see and the output keeps.
public enum ColorPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case srgb
}

/// How a file is known to be what it was.
public enum ComparePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// By size, time and inode; by its bytes where these differ.
    case stamp
    /// By its size alone, for file systems whose times and inodes wander.
    case size
    /// By its bytes.
    case content
}

/// What becomes of outputs whose filters give other pixels in this version of Penumbra.
public enum UpgradePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep
    case rerender
}

/// When outputs are safe from a power failure.
public enum Durability: String, Hashable, Sendable, Codable, CaseIterable {
    /// Each is synced before it is renamed.
    case file
    /// Many are written, their file system is synced, and then they are renamed.
    case batch
}

/// Whether a receipt is written beside each output.
public enum ReceiptPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case none
    case sidecar
}

/// How many failed frames stop a job.
public enum FailureLimit: Hashable, Sendable, Codable {
    case none
    case count(Int)
    /// Of the frames that are to be rendered.
    case percent(Double)

    /// The number of failures that stops a job, for so many planned frames; nil for none. Never below 20: of a
    /// few frames all may be broken.
    public func count(of frames: Int) -> Int? {
        switch self {
        case .none: nil
        case .count(let count): count
        case .percent(let percent): max(20, Int((Double(frames) * percent / 100).rounded(.down)) + 1)
        }
    }
}
