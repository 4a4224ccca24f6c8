/// A program of this machine that manifests may name, because its settings allow it.
public struct AllowedProgram: Hashable, Sendable, Codable {
    /// The file at the program's path.
    public enum File: Hashable, Sendable, Codable {
        /// It can be executed. The digest is that of its bytes, in hexadecimal digits.
        case usable(sha256: String)
        /// It cannot be executed. The reason is the end of a sentence.
        case unusable(reason: String)
    }

    /// The name in manifests.
    public let name: String
    /// Absolute.
    public let path: String
    public let file: File

    public init(name: String, path: String, file: File) {
        self.name = name
        self.path = path
        self.file = file
    }
}

/// A program with its arguments, as a filter runs it.
public struct ProgramCommand: Hashable, Sendable, Codable {
    /// The name in the settings.
    public let program: String
    public let arguments: [String]
    /// The SHA-256 of the program's file, in hexadecimal digits. Workers run no other file.
    public let sha256: String

    public init(program: String, arguments: [String] = [], sha256: String) {
        self.program = program
        self.arguments = arguments
        self.sha256 = sha256
    }

    /// The most arguments of a command.
    public static let mostArguments = 256
    /// The most bytes of all words together.
    public static let mostBytes = 32_768
}

extension FilterDescriptor {
    /// The parameter that is a command. A manifest may write its value alone, in place of all parameters.
    public var command: ParameterDescriptor? {
        parameters.first { if case .command = $0.kind { true } else { false } }
    }

    /// The filter with these programs for its command.
    public func allowing(_ programs: [AllowedProgram]) -> FilterDescriptor {
        guard command != nil else { return self }
        return with(
            parameters: parameters.map { parameter in
                guard case .command = parameter.kind else { return parameter }
                return ParameterDescriptor(
                    parameter.name, .command(programs), fallback: parameter.fallback, unit: parameter.unit,
                    summary: parameter.summary, synonyms: parameter.synonyms, requiredLike: parameter.requiredLike,
                    isShared: parameter.isShared)
            })
    }
}

/// A program that the settings let manifests name.
public struct NamedProgram: Hashable, Sendable, Codable {
    public let name: String
    /// Absolute.
    public let path: String

    public init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}
