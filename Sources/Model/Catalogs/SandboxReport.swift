/// Whether workers are kept from the rest of the machine.
public enum SandboxMode: String, Hashable, Sendable, Codable, CaseIterable {
    /// As far as the system can do it.
    case auto
    /// Completely, or not at all: then nothing is rendered.
    case require
    case off

    /// The environment variable by which a worker learns its mode.
    public static let variable = "PENUMBRA_SANDBOX"

    /// The environment variable with the folders in which a worker creates outputs that are folders, separated by `:`.
    public static let folderVariable = "PENUMBRA_SANDBOX_FOLDERS"

    /// The environment variable with the files and folders that a worker may read besides those that it is handed, separated by `:`.
    public static let readVariable = "PENUMBRA_SANDBOX_READ"
}

/// What keeps a worker from the rest of the machine.
public struct SandboxReport: Hashable, Sendable, Codable {
    /// The files that a worker can open, from few to many.
    public enum Files: String, Hashable, Sendable, Codable, CaseIterable {
        /// Only the files of its tasks, which it gets as open files. It also reads libraries, fonts, the tiles of its run, and what the
        /// settings name.
        case handedOver = "handed over"
        /// Likewise, and it creates outputs that are folders in a folder of its run. It also reads the folders of its job's outputs.
        case ownFolders = "handed over, and own folders"
        /// It writes only the files of its tasks, and reads all files that its user can read.
        case allReadable = "all readable"
        /// All files that its user can read or write.
        case any
    }

    /// Whether the kernel refuses the system calls that a worker does not need.
    public let limitsCalls: Bool
    public let files: Files
    /// Why parts of the sandbox are not in force. Each reason is the end of a sentence. Empty if all parts are, and if the settings
    /// want no sandbox.
    public let missing: [String]

    enum CodingKeys: String, CodingKey {
        case limitsCalls = "calls"
        case files, missing
    }

    public init(limitsCalls: Bool, files: Files, missing: [String] = []) {
        self.limitsCalls = limitsCalls
        self.files = files
        self.missing = missing
    }

    /// The same for a worker that creates folders itself.
    public var withFolders: SandboxReport {
        SandboxReport(limitsCalls: limitsCalls, files: files == .handedOver ? .ownFolders : .any, missing: missing)
    }

    /// What holds for the workers of this report and of another one.
    package func combined(with other: SandboxReport) -> SandboxReport {
        SandboxReport(
            limitsCalls: limitsCalls && other.limitsCalls, files: files.wider(other.files),
            missing: missing + other.missing.filter { !missing.contains($0) })
    }

    /// The settings want no sandbox.
    public static let off = SandboxReport(limitsCalls: false, files: .any)
}

extension SandboxReport.Files {
    fileprivate func wider(_ other: Self) -> Self {
        let both = [self, other]
        // One worker writes folders, and another one reads everything.
        if both.contains(.ownFolders), both.contains(.allReadable) { return .any }
        return Self.allCases.last(where: both.contains) ?? .any
    }
}
