/// What a submitted job passes on to `penumbra run`. It is stored with the job.
///
/// A stored value with unknown keys, or of a later version, cannot be decoded: a run without one of its options would
/// do something else than was asked for.
package struct RunOptions: Hashable, Sendable, Codable {
    package static let latestVersion = 1

    /// Changes of the manifest's values for this run: `filters[0].gaussian.radius=14`.
    package var overrides: [String] = []
    /// Renders everything again, and replaces all files at the outputs' paths.
    package var isForced = false
    /// Kept outputs and pictures that are still broken make the run fail.
    package var isStrict = false
    /// The run ends cleanly after so many seconds. Nil for no deadline.
    package private(set) var deadline: Int?
    /// Tries pictures again that earlier runs have found broken. Retries do.
    package var triesBroken = false
    /// The only folders that the run may use, as real paths. The kernel keeps it within them. Nil for all folders.
    ///
    /// No request can name them. They come from the token of a job's owner at the submission, and retries keep them. So
    /// a later change of the token does not change a stored job.
    package var roots: [String]?

    package init(overrides: [String] = [], isForced: Bool = false, deadline: Int? = nil) throws(InputError) {
        if let deadline, !(1...Self.longestDeadline).contains(deadline) { throw .deadline(deadline) }
        self.overrides = overrides
        self.isForced = isForced
        self.deadline = deadline
    }

    /// No options.
    package init() {}

    /// The longest deadline that `penumbra run` accepts: a week.
    package static let longestDeadline = 604_800

    /// The options of a job that repeats one with these options.
    ///
    /// - Throws: ``InputError/deadline(_:)``.
    func retried(_ deadline: RetryDeadline) throws(InputError) -> RunOptions {
        let seconds: Int? =
            switch deadline {
            case .kept: self.deadline
            case .none: nil
            case .seconds(let seconds): seconds
            }
        var options = try RunOptions(overrides: overrides, isForced: isForced, deadline: seconds)
        (options.roots, options.triesBroken, options.isStrict) = (roots, true, isStrict)
        return options
    }

    /// The arguments of `penumbra run`.
    package var arguments: [String] {
        overrides.flatMap { ["--set", $0] } + (isForced ? ["--force"] : [])
            + (isStrict ? ["--strict"] : []) + (triesBroken ? ["--retry-broken"] : [])
            + (deadline.map { ["--deadline", "\($0)s"] } ?? [])
    }

    /// The names are stored, and are names of the API.
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case version
        case overrides = "set"
        case isForced = "force"
        case isStrict = "strict"
        case deadline
        case triesBroken = "retry_broken"
        case roots
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = keys.filter({ !known.contains($0) }).min() {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: InputError.option(unknown).message))
        }
        let version = try values.decodeIfPresent(Int.self, forKey: .version) ?? Self.latestVersion
        guard (1...Self.latestVersion).contains(version) else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: values, debugDescription: InputError.optionsVersion(version).message)
        }
        try self.init(
            overrides: values.decodeIfPresent([String].self, forKey: .overrides) ?? [],
            isForced: values.decodeIfPresent(Bool.self, forKey: .isForced) ?? false,
            deadline: values.decodeIfPresent(Int.self, forKey: .deadline))
        isStrict = try values.decodeIfPresent(Bool.self, forKey: .isStrict) ?? false
        triesBroken = try values.decodeIfPresent(Bool.self, forKey: .triesBroken) ?? false
        roots = try values.decodeIfPresent([String].self, forKey: .roots)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.latestVersion, forKey: .version)
        if !overrides.isEmpty { try values.encode(overrides, forKey: .overrides) }
        if isForced { try values.encode(true, forKey: .isForced) }
        if isStrict { try values.encode(true, forKey: .isStrict) }
        try values.encodeIfPresent(deadline, forKey: .deadline)
        if triesBroken { try values.encode(true, forKey: .triesBroken) }
        try values.encodeIfPresent(roots, forKey: .roots)
    }
}

/// The deadline of a job that repeats another one.
package enum RetryDeadline: Hashable, Sendable {
    /// The same as the other job's.
    case kept
    case none
    case seconds(Int)
}
