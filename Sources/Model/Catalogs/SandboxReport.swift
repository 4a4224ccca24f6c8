/// Whether workers are kept from the rest of the machine.
public enum SandboxMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// As far as the system can do it.
    case auto
    /// Completely, or not at all: then nothing is rendered.
    case require
    case off

    /// The environment variable by which a worker learns its mode.
    public static let variable = "PENUMBRA_SANDBOX"
}

/// What keeps a worker from the rest of the machine.
public struct SandboxReport: Hashable, Sendable, Codable {
    /// Whether the kernel refuses the system calls that a worker does not need.
    public let limitsCalls: Bool
    /// Why something of it is not in force, a sentence's second half each. Empty if all of it is, and if the settings want no sandbox.
    public let missing: [String]

    enum CodingKeys: String, CodingKey {
        case limitsCalls = "calls"
        case missing
    }

    public init(limitsCalls: Bool, missing: [String] = []) {
        self.limitsCalls = limitsCalls
        self.missing = missing
    }

    /// The settings want no sandbox.
    public static let off = SandboxReport(limitsCalls: false)
}
